//! Built before: reads the plugin's structs by the offsets that it was built with.

#[path = "../host.rs"]
mod host;
mod shared;

fn main() {
    let library = host::open(&std::env::args().nth(1).expect("the plugin"));
    let say: extern "C" fn() = host::function(library, "say");
    say();
    let of = |name, offsets: Vec<(&str, usize)>| {
        let object: extern "C" fn() -> *const u8 = host::function(library, name);
        println!("host_{name}={}", shared::said(&offsets));
        // SAFETY: both offsets lie within the plugin's struct, which is the larger one.
        let byte = |at: usize| unsafe { object().add(at).read() };
        println!("{name}_small={}\n{name}_big={}", byte(offsets[0].1), byte(offsets[1].1));
    };
    of("by_rust", shared::ByRust::offsets());
    of("by_c", shared::ByC::offsets());
}
