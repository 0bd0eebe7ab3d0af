use super::*;

#[test]
fn every_counter_is_there_or_says_why_not() {
    let statuses = available();
    let names: Vec<_> = statuses.iter().map(|status| status.name).collect();
    assert_eq!(
        names,
        [
            "cycles",
            "instructions",
            "l1i_misses",
            "branch_misses",
            "branches",
            "l1d_misses",
            "ll_misses",
            "context_switches",
            "page_faults",
            "cpu_migrations",
            "task_clock"
        ]
    );
    for status in statuses {
        assert_eq!(status.available, status.reason.is_none(), "{status:?}");
        assert!(status.reason.is_none_or(|reason| !reason.is_empty()));
    }
}

#[test]
fn what_is_available_is_what_opens() {
    let opened = Counters::open().names();
    for status in available() {
        // A PMU may be too small for all at once, but nothing opens that isn't available.
        assert!(status.available || !opened.contains(&status.name), "{status:?} {opened:?}");
        assert!(status.kind == CounterKind::Hardware || status.available == opened.contains(&status.name));
    }
}

#[test]
fn kinds_and_names_are_those_that_are_known() {
    let listed: Vec<_> = available().iter().map(|status| (status.name, status.kind)).collect();
    assert_eq!(listed, KNOWN);
}

#[test]
fn nothing_opens_that_is_not_wanted() {
    let opened = Counters::open_those(|name| name == "page_faults").names();
    assert!(opened.iter().all(|name| *name == "page_faults"), "{opened:?}");
    assert!(Counters::open_those(|_| false).names().is_empty());
}

#[test]
fn a_count_is_scaled_to_the_whole_region() {
    assert_eq!(scaled(100, 50, 50), (Some(100), 1.0));
    assert_eq!(scaled(100, 50, 25), (Some(200), 0.5));
    assert_eq!(scaled(100, 50, 0), (None, 0.0), "never counted isn't zero");
    assert_eq!(scaled(u64::MAX, 2, 1), (None, 0.5), "an estimate past 64 bits is none");
}

#[cfg(target_os = "linux")]
mod on_linux {
    use super::*;

    /// What `name` counted while `body` ran; `None` if it can't be had here.
    fn count(name: &str, body: impl FnOnce()) -> Option<u64> {
        let mut counters = Counters::open();
        counters.start();
        body();
        let reading = counters.stop().into_iter().find(|reading| reading.name == name)?;
        assert_eq!(reading.running_share, 1.0, "{reading:?}");
        reading.value
    }

    #[test]
    fn sleeping_is_a_context_switch() {
        let sleep = || std::thread::sleep(std::time::Duration::from_millis(1));
        let Some(switches) = count("context_switches", || (0..10).for_each(|_| sleep())) else { return };
        assert!(switches >= 10, "{switches}");
    }

    #[test]
    fn touching_fresh_memory_is_a_page_fault() {
        let touch = || {
            let mut memory = vec![0u8; 1 << 24];
            for at in (0..memory.len()).step_by(4096) {
                // SAFETY: inside the vector.
                unsafe { memory.as_mut_ptr().add(at).write_volatile(1) };
            }
        };
        let Some(faults) = count("page_faults", touch) else { return };
        // At most 2 MiB a fault (a huge page).
        assert!(faults >= 8, "{faults}");
    }

    #[test]
    fn being_moved_is_a_migration() {
        let allowed = crate::machine::allowed_cpus().unwrap();
        let [first, .., last] = allowed.as_slice() else { return };
        let (first, last) = (*first, *last);
        let there_and_back = move || {
            for cpu in [first, last, first, last] {
                drop(crate::machine::Pin::to(cpu).unwrap());
            }
        };
        let Some(moves) = std::thread::spawn(move || count("cpu_migrations", there_and_back)).join().unwrap()
        else {
            return;
        };
        assert!(moves >= 3, "{moves}");
    }

    /// What the calling thread has had of the CPU so far.
    fn on_cpu() -> std::time::Duration {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        std::time::Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    }

    #[test]
    fn regions_do_not_add_up() {
        let mut counters = Counters::open();
        for millis in [50, 5] {
            let wanted = std::time::Duration::from_millis(millis);
            let start = std::time::Instant::now();
            counters.start();
            // The thread's own time: on a busy machine another may run meanwhile.
            let begun = on_cpu();
            while on_cpu() - begun < wanted {
                std::hint::spin_loop();
            }
            let readings = counters.stop();
            let elapsed = start.elapsed().as_nanos() as u64;
            let Some(clock) = readings.into_iter().find(|reading| reading.name == "task_clock") else {
                return;
            };
            let counted = clock.value.expect("software events always run");
            // Half: the two clocks differ in what they make of interrupts and stolen time.
            assert!(2 * counted >= wanted.as_nanos() as u64, "{counted} ns for {wanted:?} on the CPU");
            assert!(counted <= elapsed, "{counted} ns on the CPU in {elapsed} ns");
        }
    }

    #[test]
    fn stopping_what_never_started_gives_no_values() {
        assert!(Counters::open().stop().iter().all(|reading| reading.value.is_none()));
    }
}
