
#[test]
fn show() {
    println!("{}", serde_json::to_string_pretty(&super::Card::read()).unwrap());
    for s in crate::machine::counters::available() { println!("{s:?}"); }
    let c = crate::machine::Clock::monotonic();
    println!("{} {} {:?}", c.measure_tick(), c.read_cost_ns(), crate::machine::frequency_ghz(c, 30000));
    println!("{}", crate::machine::Priority::raise().describe());
    let t = std::time::Instant::now();
    super::Card::read();
    println!("{:?}", t.elapsed());
    println!("{:?}", crate::machine::warm_up(c, std::time::Duration::from_millis(100), std::time::Duration::from_secs(2), &|| false));
}
