//! Code that was compiled for certain numbers of handlers.

/// Hands the number of handlers to `$then` as a constant; sets of other sizes were refused.
macro_rules! with_size {
    ($set:expr, [$($size:literal),*], |$name:ident| $then:expr) => {
        match $set.len() {
            $($size => {
                const $name: usize = $size;
                $then
            })*
            other => unreachable!("a set of {other} handlers was to be refused"),
        }
    };
}
pub(in crate::dispatch) use with_size;
