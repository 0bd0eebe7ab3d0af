//! Bumps its own static once and the plugin's three times, on one thread, and says what each side sees.

#[path = "../host.rs"]
mod host;
mod shared;

fn main() {
    let library = host::open(&std::env::args().nth(1).expect("the plugin"));
    let bump: extern "C" fn() = host::function(library, "bump");
    let seen: unsafe extern "C" fn(*mut u64) = host::function(library, "seen");
    shared::bump();
    (0..3).for_each(|_| bump());
    let mut of_plugin = [0_u64; 4];
    // SAFETY: room for four.
    unsafe { seen(of_plugin.as_mut_ptr()) };
    for (side, [count, of_thread, address, thread_address]) in
        [("host", shared::seen()), ("plugin", of_plugin)]
    {
        println!("{side}_static={count}\n{side}_thread_local={of_thread}");
        println!("{side}_static_at={address:#x}\n{side}_thread_local_at={thread_address:#x}");
    }
}
