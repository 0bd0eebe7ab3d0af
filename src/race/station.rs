//! Where a race is measured: the pinned thread, its helpers, its side channels.

use std::cell::RefCell;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::crew::Crew;
use super::options::Options;
use super::report::Check;
use super::watch::Watch;
use crate::machine::{
    Card, Clock, Pin, Pinning, Priority, RunDelay, StealClock, ThreadUsage, WarmUp, affinity, canary,
    default_cpu, format_cpu_list,
};
use crate::{Error, Result};

/// The first warm-up of a process: clock frequency and code pages.
const FIRST_WARM_UP: Duration = Duration::from_millis(500);
/// Later ones.
const WARM_UP: Duration = Duration::from_millis(20);
/// No steady canary within this: measure all the same, and let the intervals tell.
const LONGEST_WARM_UP: Duration = Duration::from_secs(2);

/// The calling thread, pinned and warmed up for as long as this lives.
pub struct Station {
    crew: Option<Arc<Crew>>,
    run_delay: Option<RunDelay>,
    steal: Option<RefCell<StealClock>>,
    /// What the host may do behind the pin's back, where something is known.
    caveat: Option<String>,
    /// Side channels that this system doesn't have, with the reason.
    blind: Vec<String>,
    // Fields are dropped in this order: the priority goes back before the affinity.
    priority: Priority,
    pin: Option<Pin>,
}

impl Station {
    /// Pins the calling thread to the CPU that the options name (or the default one), starts `helpers` threads on
    /// other CPUs, raises the priority where allowed, and warms up until the canary is steady.
    ///
    /// # Errors
    /// A CPU that can't be had, fewer CPUs than needed, an interrupt.
    pub fn take(options: &Options, helpers: usize, card: &Card, watch: &Watch) -> Result<Self> {
        let wanted = match options.cpu {
            Some(cpu) => Some(cpu),
            None => default_cpu(card),
        };
        // Started before pinning: a thread inherits the mask of the one that starts it.
        let crew = start_helpers(helpers, wanted, card)?;
        let pin = wanted.map(Pin::to).transpose()?;
        let cpu = pin.as_ref().and_then(Pin::cpu);
        let priority = Priority::raise();
        warm_up(watch)?;
        let mut blind = Vec::new();
        let mut seen = |missing: String| blind.push(missing);
        ThreadUsage::now().map_err(|missing| seen(missing.to_string())).ok();
        let run_delay = RunDelay::open().map_err(|missing| seen(missing.to_string())).ok();
        let steal =
            cpu.and_then(|cpu| StealClock::open(cpu).map_err(|missing| seen(missing.to_string())).ok());
        let caveat = card.pinning_caveat();
        Ok(Station { crew, run_delay, steal: steal.map(RefCell::new), caveat, blind, priority, pin })
    }

    /// The CPU, where threads can be pinned.
    pub fn cpu(&self) -> Option<usize> {
        self.pin.as_ref().and_then(Pin::cpu)
    }

    /// The helper threads.
    pub fn crew(&self) -> Option<Arc<Crew>> {
        self.crew.clone()
    }

    /// The CPUs of the helper threads.
    pub fn helper_cpus(&self) -> Vec<usize> {
        self.crew.as_ref().map(|crew| crew.cpus()).unwrap_or_default()
    }

    /// Nanoseconds for which this thread has waited to run so far; `None` where the system doesn't tell.
    pub fn waited_ns(&self) -> Option<u64> {
        self.run_delay.as_ref().and_then(RunDelay::read_ns)
    }

    /// Nanoseconds that the hypervisor has taken from the CPU so far; `None` where the system doesn't tell.
    pub fn stolen_ns(&self) -> Option<u64> {
        self.steal.as_ref().and_then(|steal| steal.borrow_mut().read_ns())
    }

    /// What became of raising the thread's priority.
    pub fn priority(&self) -> String {
        self.priority.describe()
    }

    /// Side channels that this system doesn't have, with the reason.
    pub fn blind(&self) -> &[String] {
        &self.blind
    }

    /// Tasks of helpers that were disturbed so far.
    pub fn helpers_disturbed(&self) -> usize {
        self.crew.as_ref().map_or(0, |crew| crew.disturbed())
    }

    /// Runs `job` with the calling thread free to go where it was allowed to before it was pinned, and pins it again.
    ///
    /// # Errors
    /// What `job` says; a pin that can't be had again.
    pub fn unpinned<T>(&self, job: impl FnOnce() -> Result<T>) -> Result<T> {
        match &self.pin {
            Some(pin) => Ok(pin.loosened(job)??),
            None => job(),
        }
    }

    /// What stands in for [`Station::placement_check`] where the thread was left free.
    pub fn unpinned_check(&self, migrations: u64) -> Check {
        let name = "placement";
        match self.cpu() {
            None => Check::not_applicable(name, "this system has no CPU to choose"),
            Some(cpu) => Check::new(
                name,
                false,
                format!(
                    "the thread isn't pinned: it may leave CPU {cpu} at any time, and did so in {migrations} reps"
                ),
            ),
        }
    }

    /// Whether every rep stayed where it was put. `migrations` counts reps that didn't, `dropped` the rounds that
    /// stayed spoilt.
    pub fn placement_check(&self, migrations: u64, dropped: usize) -> Check {
        let name = "placement";
        let cpu = match self.pin.as_ref().map(Pin::placement) {
            Some(Pinning::Honoured { cpu }) => *cpu,
            Some(Pinning::NotApplicable { reason }) => return Check::not_applicable(name, reason.clone()),
            None => return Check::not_applicable(name, "this system has no CPU to choose"),
        };
        let strays = self.crew.as_ref().map_or(0, |crew| crew.strays());
        let helpers = match &self.helper_cpus()[..] {
            [] => String::new(),
            cpus => format!(", helpers on {cpus:?}"),
        };
        let detail = match (migrations, strays) {
            (0, 0) => format!("every rep began and ended on CPU {cpu}{helpers}"),
            (moved, 0) => format!("{moved} reps left CPU {cpu}; their rounds were redone or left out"),
            (_, strays) => format!("helper threads left their CPUs {strays} times"),
        };
        let detail = match &self.caveat {
            Some(caveat) => format!("{detail}; {caveat}"),
            None => detail,
        };
        // Moves that were redone are dealt with; if rounds had to be dropped, or a helper strayed, they aren't.
        Check::new(name, strays == 0 && (migrations == 0 || dropped == 0), detail)
    }
}

/// Helper threads on allowed CPUs of cores of their own: a hardware thread of the measuring core shares its caches.
fn start_helpers(count: usize, cpu: Option<usize>, card: &Card) -> Result<Option<Arc<Crew>>> {
    if count == 0 {
        return Ok(None);
    }
    let what = "an experiment over several CPUs";
    let Some(cpu) = cpu else {
        let reason = "its threads can't be pinned on this system".into();
        return Err(Error::NotMeasurable { what: what.into(), reason });
    };
    let allowed = affinity::allowed_cpus()?;
    let elsewhere = |other: &usize| *other != cpu && !card.topology.shares_core(*other, cpu);
    let others: Vec<usize> = allowed.iter().copied().filter(elsewhere).collect();
    match card.topology.distinct_cores(&others, count) {
        Some(cpus) => Ok(Some(Arc::new(Crew::new(&cpus)?))),
        None => {
            let allowed = format_cpu_list(&allowed);
            let reason =
                format!("it needs {} CPUs on cores of their own; allowed here: {allowed}", count + 1);
            Err(Error::NotMeasurable { what: what.into(), reason })
        }
    }
}

/// How this process first warmed up; later races only touch up.
static FIRST: Mutex<Option<WarmUp>> = Mutex::new(None);

/// The first warm-up of this process, once there was one.
pub fn first_warm_up() -> Option<WarmUp> {
    FIRST.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clone()
}

fn warm_up(watch: &Watch) -> Result<()> {
    let least = if first_warm_up().is_some() { WARM_UP } else { FIRST_WARM_UP };
    let warm = canary::warm_up(Clock::monotonic(), least, LONGEST_WARM_UP, &|| watch.check().is_err());
    watch.check()?;
    FIRST.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).get_or_insert(warm);
    Ok(())
}
