//! Time that the host took from a virtual CPU.

use std::fs::File;

use crate::machine::Unavailable;

const WHAT: &str = "steal time";

/// The steal time of one CPU: the eighth number of its line in `/proc/stat` (`proc_stat(5)`), through a descriptor that
/// is kept open. Always 0 on bare metal, and on hosts that don't report it.
///
/// The kernel gives whole ticks (10 ms at the usual 100 a second), and a read costs some 8 µs: for blocks, not reps.
#[derive(Debug)]
pub struct StealClock {
    file: File,
    line: String,
    tick_ns: u64,
    buffer: Vec<u8>,
}

impl StealClock {
    /// Opens `/proc/stat` for `cpu`. `Unavailable` without it, or if it has no steal time for that CPU.
    pub fn open(cpu: usize) -> Result<StealClock, Unavailable> {
        const PATH: &str = "/proc/stat";
        let file = File::open(PATH).map_err(|e| Unavailable::new(WHAT, format!("{PATH}: {e}")))?;
        // 128 bytes hold a CPU's ten numbers; the CPUs stand first in the file, in order.
        let buffer = vec![0; 128 * (cpu.min(crate::machine::cpu_list::HIGHEST_CPU) + 2)];
        let mut clock = StealClock { file, line: format!("cpu{cpu}"), tick_ns: tick_ns(), buffer };
        match clock.read_ns() {
            Some(_) => Ok(clock),
            None => Err(Unavailable::new(WHAT, format!("{PATH} has no steal time for CPU {cpu}"))),
        }
    }

    /// Nanoseconds stolen since boot. `None` if the CPU has gone offline.
    pub fn read_ns(&mut self) -> Option<u64> {
        let read = fill(&self.file, &mut self.buffer)?;
        // The buffer may end inside a later line: only whole lines count.
        let text = std::str::from_utf8(&self.buffer[..read]).ok()?;
        let whole = &text[..=text.rfind('\n')?];
        Some(steal_ticks(whole, &self.line)? * self.tick_ns)
    }
}

/// The steal field of the line that starts with the word `cpu`.
fn steal_ticks(stat: &str, cpu: &str) -> Option<u64> {
    let numbers = stat.lines().find_map(|line| line.strip_prefix(cpu)?.strip_prefix(' '))?;
    // user, nice, system, idle, iowait, irq, softirq, steal.
    numbers.split_ascii_whitespace().nth(7)?.parse().ok()
}

#[cfg(unix)]
fn fill(file: &File, buffer: &mut [u8]) -> Option<usize> {
    use std::os::unix::fs::FileExt;
    let mut filled = 0;
    // A seq_file hands out at most a page or so a call.
    while filled < buffer.len() {
        match file.read_at(&mut buffer[filled..], filled as u64).ok()? {
            0 => break,
            read => filled += read,
        }
    }
    Some(filled)
}

/// Nothing to read: opening fails first.
#[cfg(not(unix))]
fn fill(_: &File, _: &mut [u8]) -> Option<usize> {
    None
}

#[cfg(unix)]
fn tick_ns() -> u64 {
    1_000_000_000 / rustix::param::clock_ticks_per_second().max(1)
}

#[cfg(not(unix))]
fn tick_ns() -> u64 {
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str =
        "cpu  30 0 0 0 0 0 0 99 0 0\ncpu1 10 1 2 3 4 5 6 7 0 0\ncpu10 20 1 2 3 4 5 6 8 0 0\nintr 5\n";

    #[test]
    fn the_right_line_and_field_are_read() {
        assert_eq!(steal_ticks(STAT, "cpu1"), Some(7));
        assert_eq!(steal_ticks(STAT, "cpu10"), Some(8));
        assert_eq!(steal_ticks(STAT, "cpu2"), None);
        assert_eq!(
            steal_ticks("cpu0 1 2 3 4 5 6 7\n", "cpu0"),
            None,
            "kernels before 2.6.11 have no steal field"
        );
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn each_cpu_has_one_and_an_absent_cpu_is_refused_by_number() {
        for cpu in crate::machine::allowed_cpus().unwrap() {
            let mut clock = StealClock::open(cpu).unwrap();
            let (first, second) = (clock.read_ns().unwrap(), clock.read_ns().unwrap());
            assert!(first <= second && first % clock.tick_ns == 0);
        }
        let error = StealClock::open(9999).expect_err("no such CPU");
        assert!(error.to_string().contains("9999"), "{error}");
    }
}
