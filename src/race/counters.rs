//! Counters around one pass of each arm, apart from anything timed.

use super::block::Bench;
use super::report::CounterResult;
use super::sizing::Sizing;
use crate::Result;
use crate::machine::Counters;

/// Windows that are counted at the most: counters need no repeats, and a pass of a slow arm is long.
const MOST_WINDOWS: usize = 16;

/// Reads every counter that this machine has around up to [`MOST_WINDOWS`] windows of each arm, built anew. One list an arm;
/// empty lists where nothing can be counted.
pub(super) fn around_passes(bench: &Bench, sizing: &Sizing) -> Result<Vec<Vec<CounterResult>>> {
    let (mut arms, _placement) = bench.build(u64::MAX)?;
    let windows = sizing.windows.min(MOST_WINDOWS);
    let mut counters = Counters::open();
    let mut results = Vec::with_capacity(arms.len());
    for arm in &mut arms {
        bench.watch.check()?;
        // Settled first: what is counted is the arm at work, not its first page faults.
        std::hint::black_box(arm.run(sizing.at(0)));
        counters.start();
        for index in 0..windows {
            std::hint::black_box(arm.run(sizing.at(index)));
        }
        let readings = counters.stop();
        let operations = (windows * sizing.window) as f64;
        results.push(
            readings
                .into_iter()
                .map(|reading| CounterResult {
                    name: reading.name.to_string(),
                    per_operation: reading.value.map(|value| value as f64 / operations),
                    note: match reading.value {
                        None => Some("never ran: more counters than the hardware has".into()),
                        Some(_) if reading.running_share < 1.0 => {
                            Some(format!("estimated from {:.0} % of the time", 100.0 * reading.running_share))
                        }
                        Some(_) => None,
                    },
                })
                .collect(),
        );
    }
    Ok(results)
}
