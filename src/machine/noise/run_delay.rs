//! How long a thread was ready to run but waited for a CPU.

use std::fs::File;

use crate::machine::Unavailable;

const WHAT: &str = "run delay";

/// The run-queue delay of the thread that opened it: the second field of `/proc/thread-self/schedstat`
/// (Linux `Documentation/scheduler/sched-stats.rst`), through a descriptor that is kept open.
#[derive(Debug)]
pub struct RunDelay {
    file: File,
}

impl RunDelay {
    /// Opens the calling thread's file. `Unavailable` without `/proc`, or if the kernel keeps no scheduling statistics.
    pub fn open() -> Result<RunDelay, Unavailable> {
        const PATH: &str = "/proc/thread-self/schedstat";
        let file = File::open(PATH).map_err(|e| Unavailable::new(WHAT, format!("{PATH}: {e}")))?;
        let delay = RunDelay { file };
        match delay.fields() {
            // A running thread has been given the CPU at least once.
            Some([_, _, 0]) => Err(Unavailable::new(WHAT, "this kernel keeps no scheduling statistics")),
            Some(_) => Ok(delay),
            None => Err(Unavailable::new(WHAT, format!("{PATH} isn't three numbers"))),
        }
    }

    /// Nanoseconds waited since the thread began. `None` once the thread has ended.
    pub fn read_ns(&self) -> Option<u64> {
        self.fields().map(|[_, delay, _]| delay)
    }

    /// Time on the CPU, time waiting (both ns), and how often it was given the CPU.
    fn fields(&self) -> Option<[u64; 3]> {
        // Three 64-bit decimals.
        let mut buffer = [0u8; 64];
        let read = read_at_start(&self.file, &mut buffer)?;
        parse(std::str::from_utf8(&buffer[..read]).ok()?)
    }
}

fn parse(text: &str) -> Option<[u64; 3]> {
    let mut numbers = text.split_ascii_whitespace().map(|field| field.parse().ok());
    Some([numbers.next()??, numbers.next()??, numbers.next()??])
}

#[cfg(unix)]
fn read_at_start(file: &File, buffer: &mut [u8]) -> Option<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, 0).ok()
}

/// Nothing to read: opening fails first.
#[cfg(not(unix))]
fn read_at_start(_: &File, _: &mut [u8]) -> Option<usize> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_read_and_anything_else_refused() {
        assert_eq!(parse("12 79188 1\n"), Some([12, 79188, 1]));
        for bad in ["", "1 2", "1 x 3", "-1 2 3"] {
            assert_eq!(parse(bad), None, "{bad:?}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn waiting_for_a_cpu_is_seen() {
        use crate::machine::{Pin, allowed_cpus};
        use std::sync::atomic::{AtomicBool, Ordering};

        let Ok(probe) = RunDelay::open() else { return };
        assert!(probe.read_ns().unwrap() <= probe.read_ns().unwrap(), "it never falls");

        // Two threads that both want one CPU: the first must wait for the second at least once.
        let cpu = allowed_cpus().unwrap()[0];
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let _pin = Pin::to(cpu).unwrap();
                while !done.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
            let waiter = scope.spawn(|| {
                let _pin = Pin::to(cpu).unwrap();
                let delay = RunDelay::open().unwrap();
                let before = delay.read_ns().unwrap();
                let start = std::time::Instant::now();
                // Gives the CPU away until the other has had it; bounded for the sake of a broken probe.
                while delay.read_ns().unwrap() == before && start.elapsed().as_secs() < 20 {
                    std::thread::yield_now();
                }
                delay.read_ns().unwrap() - before
            });
            let waited = waiter.join();
            done.store(true, Ordering::Relaxed);
            assert!(waited.unwrap() > 0);
        });
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_thread_that_ended_reads_none() {
        let Ok(delay) = std::thread::spawn(RunDelay::open).join().unwrap() else { return };
        // The kernel may take a moment to let go of an ended thread.
        let start = std::time::Instant::now();
        while delay.read_ns().is_some() && start.elapsed().as_secs() < 20 {
            std::thread::yield_now();
        }
        assert_eq!(delay.read_ns(), None);
    }
}
