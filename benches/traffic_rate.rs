//! How fast packets are generated: packets a second for each law, page faults of the fresh array included.
//!
//! `cargo bench --bench traffic_rate`. Best and median of several runs; each run allocates its array anew.

use std::hint::black_box;
use std::time::Instant;

use nanokata::race::Watch;
use nanokata::traffic::{Law, Traffic};

const PACKETS: usize = 1 << 22;
const RUNS: usize = 9;

fn main() {
    let keys: Vec<u16> = (0..100).collect();
    let laws = [
        Law::Uniform,
        Law::Zipf { exponent: 1.1 },
        Law::Skewed { share: 0.95, top: 2 },
        Law::Hot { handler: 3 },
        Law::Worst,
        Law::Periodic { period: 100 },
        Law::Weights((1..=100).map(f64::from).collect()),
    ];
    println!("{PACKETS} packets of 32 bytes, 100 handlers, {RUNS} runs");
    println!("{:<10}{:>16}{:>16}{:>14}", "law", "median M/s", "best M/s", "ns/packet");
    for law in laws {
        let name = law.name();
        let traffic = Traffic::new(law).seed(7);
        let mut seconds: Vec<f64> = (0..RUNS)
            .map(|_| {
                let start = Instant::now();
                let packets = traffic.generate(PACKETS, &keys, &Watch::new()).expect("the pool fits");
                let elapsed = start.elapsed().as_secs_f64();
                black_box(packets);
                elapsed
            })
            .collect();
        seconds.sort_by(f64::total_cmp);
        let (median, best) = (seconds[RUNS / 2], seconds[0]);
        let rate = |seconds: f64| PACKETS as f64 / seconds / 1e6;
        println!(
            "{name:<10}{:>16.1}{:>16.1}{:>14.2}",
            rate(median),
            rate(best),
            median * 1e9 / PACKETS as f64
        );
    }
}
