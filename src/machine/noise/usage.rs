//! Context switches and page faults of the calling thread.

use serde::Serialize;

use crate::machine::Unavailable;

/// What the calling thread has suffered so far: `getrusage(RUSAGE_THREAD)`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct ThreadUsage {
    /// Context switches forced on it: something else was run instead.
    pub involuntary_switches: u64,
    /// Context switches that it asked for by waiting.
    pub voluntary_switches: u64,
    /// Page faults served without reading a disk.
    pub minor_faults: u64,
    /// Page faults that read a disk.
    pub major_faults: u64,
}

impl ThreadUsage {
    /// The counts of the calling thread as of now. `Unavailable` where the system doesn't count by thread.
    #[inline]
    pub fn now() -> Result<ThreadUsage, Unavailable> {
        read()
    }

    /// What was added since an earlier reading of the same thread.
    pub fn since(&self, earlier: &ThreadUsage) -> ThreadUsage {
        ThreadUsage {
            involuntary_switches: self.involuntary_switches.saturating_sub(earlier.involuntary_switches),
            voluntary_switches: self.voluntary_switches.saturating_sub(earlier.voluntary_switches),
            minor_faults: self.minor_faults.saturating_sub(earlier.minor_faults),
            major_faults: self.major_faults.saturating_sub(earlier.major_faults),
        }
    }
}

#[cfg(target_os = "linux")]
#[inline]
fn read() -> Result<ThreadUsage, Unavailable> {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: the pointer is to a live `rusage`, which the call fills when it returns 0.
    if unsafe { libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) } != 0 {
        return Err(Unavailable::new("thread usage", std::io::Error::last_os_error().to_string()));
    }
    // SAFETY: filled, as it returned 0.
    let usage = unsafe { usage.assume_init() };
    // The kernel's counts are non-negative.
    Ok(ThreadUsage {
        involuntary_switches: usage.ru_nivcsw as u64,
        voluntary_switches: usage.ru_nvcsw as u64,
        minor_faults: usage.ru_minflt as u64,
        major_faults: usage.ru_majflt as u64,
    })
}

#[cfg(not(target_os = "linux"))]
#[inline]
fn read() -> Result<ThreadUsage, Unavailable> {
    Err(Unavailable::new(
        "thread usage",
        format!("{} doesn't count switches and faults by thread", std::env::consts::OS),
    ))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn waiting_and_first_touches_are_counted() {
        let before = ThreadUsage::now().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(1));
        let slept = ThreadUsage::now().unwrap().since(&before);
        assert!(slept.voluntary_switches >= 1, "{slept:?}");

        let pages = 64;
        let page = rustix::param::page_size();
        let before = ThreadUsage::now().unwrap();
        // SAFETY: a fresh anonymous mapping aliases nothing.
        let memory = unsafe {
            rustix::mm::mmap_anonymous(
                std::ptr::null_mut(),
                pages * page,
                rustix::mm::ProtFlags::READ | rustix::mm::ProtFlags::WRITE,
                rustix::mm::MapFlags::PRIVATE,
            )
        }
        .unwrap();
        // SAFETY: the mapping is ours; without huge pages each is one page. May fail on kernels without them: no matter.
        let _ = unsafe { rustix::mm::madvise(memory, pages * page, rustix::mm::Advice::LinuxNoHugepage) };
        for i in 0..pages {
            // SAFETY: inside the mapping.
            unsafe { memory.cast::<u8>().add(i * page).write_volatile(1) };
        }
        let touched = ThreadUsage::now().unwrap().since(&before);
        // SAFETY: ours, and not used again.
        unsafe { rustix::mm::munmap(memory, pages * page) }.unwrap();
        assert!(
            touched.minor_faults >= pages as u64 / 16,
            "64 KiB folios at most on a first touch: {touched:?}"
        );
    }

    #[test]
    fn other_threads_do_not_count() {
        let before = ThreadUsage::now().unwrap();
        let sleeper = std::thread::spawn(|| {
            for _ in 0..50 {
                std::thread::sleep(std::time::Duration::from_micros(100));
            }
            ThreadUsage::now().unwrap()
        });
        while !sleeper.is_finished() {
            std::hint::spin_loop();
        }
        let mine = ThreadUsage::now().unwrap().since(&before);
        let theirs = sleeper.join().unwrap();
        assert!(theirs.voluntary_switches >= 50 && mine.voluntary_switches < 50, "{theirs:?} {mine:?}");
    }
}
