//! A struct as the host was built with it, and as the plugin was later: one field more, appended.

macro_rules! record {
    ($(#[$repr:meta])? $name:ident { $($field:ident: $kind:ty),* }) => {
        $(#[$repr])?
        pub struct $name { $(pub $field: $kind),* }
        impl $name {
            pub fn offsets() -> Vec<(&'static str, usize)> {
                vec![$((stringify!($field), std::mem::offset_of!($name, $field))),*]
            }
        }
    };
}

#[cfg(not(later))]
record!(ByRust { small: u8, big: u64 });
#[cfg(later)]
record!(ByRust { small: u8, big: u64, appended: u64 });
#[cfg(not(later))]
record!(#[repr(C)] ByC { small: u8, big: u64 });
#[cfg(later)]
record!(#[repr(C)] ByC { small: u8, big: u64, appended: u64 });

/// `name offset, …`
pub fn said(offsets: &[(&str, usize)]) -> String {
    offsets.iter().map(|(name, offset)| format!("{name} {offset}")).collect::<Vec<_>>().join(", ")
}
