//! Calls the plugin's function of that name, inside a `catch_unwind` of its own.

#[path = "../host.rs"]
mod host;

use std::panic::catch_unwind;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let library = host::open(&arguments.next().expect("the plugin"));
    let name = arguments.next().expect("a function");
    match name.as_str() {
        "plain" => {
            let call: extern "C" fn() = host::function(library, "plain");
            println!("host_caught={}", catch_unwind(|| call()).is_err());
        }
        "unwinding" => {
            let call: extern "C-unwind" fn() = host::function(library, "unwinding");
            println!("host_caught={}", catch_unwind(|| call()).is_err());
        }
        other => {
            let call: extern "C" fn() -> i32 = host::function(library, other);
            println!("status={}", call());
        }
    }
}
