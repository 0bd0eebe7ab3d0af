//! The process on the other side: forked, in a loop, ended with the last arm that needs it.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use bytemuck::Zeroable;
use libc::{c_int, c_void, pid_t};

use super::message::{Answer, HEAD_BYTES, Message, bytes_of};
use crate::plugin::abi::PluginResult;
use crate::plugin::crossing::batch::MOST_BATCH;

/// A process that reads batches, works on them, and writes results until its pipe is closed.
///
/// Forked from a process that may have many threads, so the child does nothing but what a signal handler may: it reads,
/// computes in memory that was there before, writes, and ends without unwinding. It runs on the CPU that its parent was
/// pinned to, as inherited: each of the two waits while the other works.
#[derive(Debug)]
pub(super) struct Process {
    id: pid_t,
    to: OwnedFd,
    from: OwnedFd,
}

impl Process {
    /// Starts one; `first` is the first handler's key.
    ///
    /// # Errors
    /// The system's, where it has no pipe or no process left.
    pub fn start(first: u16) -> io::Result<Self> {
        let (child_from, to) = pipe()?;
        let (from, child_to) = pipe()?;
        // Made before the fork, since the child may not allocate.
        let mut message = Message::empty();
        let mut answers = Box::new([Answer::zeroed(); MOST_BATCH]);
        let blocked = Signals::block();
        // SAFETY: the child calls nothing that isn't safe in a signal handler, and never returns from `serve`.
        let id = unsafe { libc::fork() };
        if id == 0 {
            let (from, to) = (child_from.as_raw_fd(), child_to.as_raw_fd());
            close_all_but(from, to);
            serve(first, from, to, &mut message, &mut answers);
        }
        let failed = (id < 0).then(io::Error::last_os_error);
        drop(blocked);
        failed.map_or(Ok(Process { id, to, from }), Err)
    }

    /// Its id.
    #[cfg(test)]
    pub fn id(&self) -> pid_t {
        self.id
    }

    /// Sends a batch and waits for its results. `false` if the process is gone.
    pub fn exchange(&self, message: &Message, results: &mut [PluginResult]) -> bool {
        let bytes = bytemuck::bytes_of(message);
        write_all(self.to.as_raw_fd(), bytes.get(..message.bytes()).unwrap_or(bytes))
            && read_all(self.from.as_raw_fd(), bytes_of(results))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // SAFETY: our own child, which nobody else waits for; once it was waited for, its id isn't used again.
        unsafe {
            libc::kill(self.id, libc::SIGKILL);
            while libc::waitpid(self.id, std::ptr::null_mut(), 0) < 0
                && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
            {}
        }
    }
}

/// The child, until the pipe is closed: nothing here allocates, locks or panics.
fn serve(first: u16, from: RawFd, to: RawFd, message: &mut Message, answers: &mut [Answer; MOST_BATCH]) -> ! {
    loop {
        if !receive(from, message) {
            break;
        }
        message.serve(first, answers);
        let bytes: &[u8] = bytemuck::cast_slice(answers.as_slice());
        if !write_all(to, bytes.get(..message.count() * size_of::<Answer>()).unwrap_or(bytes)) {
            break;
        }
    }
    // SAFETY: ends the process at once, without anything that the parent registered to be run at its end.
    unsafe { libc::_exit(0) }
}

/// Reads one message: usually at once, or until as much is there as its head says.
fn receive(from: RawFd, message: &mut Message) -> bool {
    let mut there = 0;
    loop {
        let whole = if there < HEAD_BYTES { usize::MAX } else { message.bytes() };
        if there >= whole {
            return true;
        }
        let Some(room) = bytemuck::bytes_of_mut(message).get_mut(there..) else { return false };
        match read_some(from, room) {
            0 => return false,
            more => there += more,
        }
    }
}

/// Bytes that were read; 0 at the end, and where reading fails.
fn read_some(from: RawFd, room: &mut [u8]) -> usize {
    loop {
        // SAFETY: `room` can be written.
        let read = unsafe { libc::read(from, room.as_mut_ptr().cast::<c_void>(), room.len()) };
        if read >= 0 || interrupted().is_none() {
            return usize::try_from(read).unwrap_or(0);
        }
    }
}

fn read_all(from: RawFd, mut room: &mut [u8]) -> bool {
    while !room.is_empty() {
        let read = read_some(from, room);
        if read == 0 {
            return false;
        }
        room = room.get_mut(read..).unwrap_or_default();
    }
    true
}

fn write_all(to: RawFd, mut bytes: &[u8]) -> bool {
    while !bytes.is_empty() {
        // SAFETY: `bytes` can be read.
        let written = unsafe { libc::write(to, bytes.as_ptr().cast::<c_void>(), bytes.len()) };
        match usize::try_from(written) {
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(_) if interrupted().is_some() => {}
            Err(_) => return false,
        }
    }
    true
}

/// Whether the last call was interrupted by a signal.
fn interrupted() -> Option<()> {
    (io::Error::last_os_error().raw_os_error() == Some(libc::EINTR)).then_some(())
}

fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends: [c_int; 2] = [-1; 2];
    // SAFETY: there is room for two.
    if unsafe { libc::pipe(ends.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    for end in ends {
        // SAFETY: just opened; a program that somebody starts meanwhile shouldn't get it.
        unsafe { libc::fcntl(end, libc::F_SETFD, libc::FD_CLOEXEC) };
    }
    // SAFETY: just opened, and nobody else's.
    Ok(ends.map(|end| unsafe { OwnedFd::from_raw_fd(end) }).into())
}

/// In the child: whatever the parent has open stays the parent's alone. Its ends of the pipes above all, or neither process
/// would ever see the other's end.
fn close_all_but(one: RawFd, other: RawFd) {
    let (low, high) = (one.min(other), one.max(other));
    close(0, low - 1);
    close(low + 1, high - 1);
    close(high + 1, RawFd::MAX);
}

fn close(first: RawFd, last: RawFd) {
    if first > last {
        return;
    }
    #[cfg(target_os = "linux")]
    // SAFETY: the child's own table of files, of which nothing in that range is used any more.
    if unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) } == 0 {
        return;
    }
    for end in first..=last.min(first.saturating_add(FILES_ONE_BY_ONE)) {
        // SAFETY: as above.
        unsafe { libc::close(end) };
    }
}

/// Files that are closed one by one where the kernel can't close a range (before Linux 5.9).
const FILES_ONE_BY_ONE: RawFd = 1024;

/// Signals, held back until dropped: the child is to be born with all of them blocked, so that Ctrl-C, which reaches every
/// process of a terminal, is its parent's to handle.
struct Signals(libc::sigset_t);

impl Signals {
    fn block() -> Self {
        // SAFETY: plain bytes, filled by the calls.
        let (mut all, mut before) = unsafe { (std::mem::zeroed(), std::mem::zeroed()) };
        // SAFETY: both sets are there.
        unsafe {
            libc::sigfillset(&mut all);
            libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
        }
        Signals(before)
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        // SAFETY: the set that was in force before.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &self.0, std::ptr::null_mut()) };
    }
}
