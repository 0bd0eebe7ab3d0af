//! Memory that a plugin is lent, with nothing behind it, and that can be taken back.

use std::ptr::NonNull;

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};

/// Room for values up against a page that nobody may touch.
#[derive(Debug)]
pub struct Guarded {
    base: NonNull<u8>,
    usable: usize,
    page: usize,
}

impl Guarded {
    /// Room for `bytes`.
    ///
    /// # Errors
    /// The system's own words where it has none.
    pub fn with_room(bytes: usize) -> Result<Guarded, String> {
        let page = rustix::param::page_size();
        let usable = bytes.max(1).next_multiple_of(page);
        let said = |error: rustix::io::Errno| format!("no memory to lend: {error}");
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: an anonymous mapping at an address of the kernel's choice aliases nothing.
        let mapped =
            unsafe { mmap_anonymous(std::ptr::null_mut(), usable + page, access, MapFlags::PRIVATE) }
                .map_err(said)?;
        let base = NonNull::new(mapped.cast::<u8>()).ok_or("no memory to lend")?;
        let guarded = Guarded { base, usable, page };
        // SAFETY: the last page of the mapping above.
        unsafe { mprotect(base.as_ptr().add(usable).cast(), page, MprotectFlags::empty()) }.map_err(said)?;
        Ok(guarded)
    }

    /// Where `count` values end with the room's last byte. They are zero until written.
    ///
    /// # Panics
    /// If there is no room for them, or they would be misaligned.
    pub fn last<T>(&self, count: usize) -> *mut T {
        let bytes = count * size_of::<T>();
        assert!(bytes <= self.usable && (self.usable - bytes).is_multiple_of(align_of::<T>()));
        // SAFETY: within the mapping.
        unsafe { self.base.as_ptr().add(self.usable - bytes).cast() }
    }

    /// From now on whoever touches it is ended by the system.
    ///
    /// # Errors
    /// The system's own words.
    pub fn take_back(&self) -> Result<(), String> {
        // SAFETY: this mapping, to which nobody of this side holds a reference.
        unsafe { mprotect(self.base.as_ptr().cast(), self.usable, MprotectFlags::empty()) }
            .map_err(|error| format!("a packet couldn't be taken back: {error}"))
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: mapped by `with_room`; pointers into it are used no more.
        // A failure leaves it mapped, which harms nobody.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), self.usable + self.page) };
    }
}
