//! Where a block's data lie, and the padding that moves copies of a loop.
//!
//! An interval within one layout isn't an interval over layouts (Mytkowicz et al., ASPLOS 2009; Curtsinger and
//! Berger, ASPLOS 2013), so every block of a race builds its arms through a new `Placement`.

use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::Arc;

use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};

use super::crew::Crew;
use crate::machine::memory;
use crate::{Error, Result};

/// How many copies of each built-in loop exist, behind different padding.
pub const CODE_COPIES: usize = 8;

/// Puts `COPY`-dependent padding in front of what follows, so that copies of a loop lie differently and are never
/// merged. Call it first in a `#[inline(never)]` loop; it costs one jump a window.
#[inline(always)]
pub fn code_padding<const COPY: usize>() {
    // 16-byte steps: LLVM aligns loops to 16 bytes on x86-64 (its default preferred alignment), so smaller ones would be
    // swallowed. Against 64-byte fetch lines that makes four places; copies that share one still differ in address, and
    // so in what they collide with in the branch predictors.
    #[cfg(target_arch = "x86_64")]
    // SAFETY: jumps over bytes that are never executed; touches no register, flag or memory.
    unsafe {
        std::arch::asm!("jmp 2f", ".skip {pad}, 0xcc", "2:", pad = const COPY * 16 + 1,
            options(nomem, nostack, preserves_flags));
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: as above.
    unsafe {
        std::arch::asm!("b 2f", ".skip {pad}", "2:", pad = const COPY * 16 + 4,
            options(nomem, nostack, preserves_flags));
    }
}

/// Every copy of a loop, `CODE_COPIES` of them: `code_copies!(run)`, or `code_copies!(run, A, B)` where `COPY` comes after
/// the types `A` and `B` among its parameters. Instances with different `COPY` are different code.
macro_rules! code_copies {
    ($run:ident $(, $generic:tt)*) => {{
        let copies: [_; $crate::race::CODE_COPIES] = [
            $run::<$($generic,)* 0>,
            $run::<$($generic,)* 1>,
            $run::<$($generic,)* 2>,
            $run::<$($generic,)* 3>,
            $run::<$($generic,)* 4>,
            $run::<$($generic,)* 5>,
            $run::<$($generic,)* 6>,
            $run::<$($generic,)* 7>,
        ];
        copies
    }};
}
pub(crate) use code_copies;

/// One mapping, released when the last thing placed in it is gone.
struct Region {
    base: NonNull<u8>,
    bytes: usize,
}

// SAFETY: a region is plain memory; who may write where is settled by `Placed` and `PlacedSlice`.
unsafe impl Send for Region {}
// SAFETY: as above.
unsafe impl Sync for Region {}

impl Region {
    fn new(bytes: usize) -> Result<Arc<Self>> {
        let bytes = bytes.next_multiple_of(rustix::param::page_size());
        use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};
        // SAFETY: an anonymous private mapping at an address of the kernel's choice aliases nothing.
        let base = unsafe {
            mmap_anonymous(std::ptr::null_mut(), bytes, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE)
        }
        .map_err(|source| match source {
            rustix::io::Errno::NOMEM => memory::refusal("placing what a race replays or searches", bytes),
            source => Error::Os { what: format!("mapping {bytes} bytes"), source: source.into() },
        })?;
        let base = NonNull::new(base.cast()).expect("the kernel doesn't map page zero");
        Ok(Arc::new(Region { base, bytes }))
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and nothing placed in it is alive: each holds an `Arc` of this region.
        let _ = unsafe { rustix::mm::munmap(self.base.as_ptr().cast(), self.bytes) };
    }
}

/// A value at a fresh address. Not dropped: only plain values go there.
pub struct Placed<T> {
    pointer: NonNull<T>,
    region: Arc<Region>,
}

// SAFETY: `Placed` owns its `T` as a box does.
unsafe impl<T: Send> Send for Placed<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Placed<T> {}

impl<T> Placed<T> {
    /// The address; valid as long as this value or its [`Keep`] lives.
    pub fn as_non_null(&self) -> NonNull<T> {
        self.pointer
    }

    /// Gives up ownership of the value but keeps its memory alive.
    pub fn into_parts(self) -> (NonNull<T>, Keep) {
        (self.pointer, Keep { _region: self.region })
    }
}

impl<T> Deref for Placed<T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: initialised in `Placement::place`, alive with the region.
        unsafe { self.pointer.as_ref() }
    }
}

impl<T> DerefMut for Placed<T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above, and `&mut self` is unique.
        unsafe { self.pointer.as_mut() }
    }
}

/// Keeps the memory behind a pointer from [`Placed::into_parts`] alive.
#[derive(Clone)]
pub struct Keep {
    _region: Arc<Region>,
}

/// A slice at a fresh address.
pub struct PlacedSlice<T> {
    pointer: NonNull<T>,
    length: usize,
    _region: Arc<Region>,
}

// SAFETY: owns its elements as a boxed slice does.
unsafe impl<T: Send> Send for PlacedSlice<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for PlacedSlice<T> {}

impl<T> PlacedSlice<T> {
    /// The first element's address, for memory that several threads use through atomics: unlike the pointer of a
    /// borrowed slice it may be written through.
    pub fn as_non_null(&self) -> NonNull<T> {
        self.pointer
    }
}

impl<T> Deref for PlacedSlice<T> {
    type Target = [T];
    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: initialised in `Placement::place_slice`, alive with the region.
        unsafe { std::slice::from_raw_parts(self.pointer.as_ptr(), self.length) }
    }
}

impl<T> DerefMut for PlacedSlice<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and `&mut self` is unique.
        unsafe { std::slice::from_raw_parts_mut(self.pointer.as_ptr(), self.length) }
    }
}

/// Small values share regions of this size, as they would share a heap's pages.
const SHARED_REGION_BYTES: usize = 256 * 1024;

/// One block's source of addresses. Seeded: the same seed draws the same offsets.
pub struct Placement {
    random: Xoshiro256PlusPlus,
    shared: Option<(Arc<Region>, usize)>,
    crew: Option<Arc<Crew>>,
}

impl Placement {
    /// A placement whose offsets follow from `seed`.
    pub fn new(seed: u64) -> Self {
        Placement { random: Xoshiro256PlusPlus::seed_from_u64(seed), shared: None, crew: None }
    }

    /// The same with helper threads for arms that want several.
    pub fn with_crew(mut self, crew: Option<Arc<Crew>>) -> Self {
        self.crew = crew;
        self
    }

    /// The helper threads of this race, if its plan asked for any.
    pub fn crew(&self) -> Option<Arc<Crew>> {
        self.crew.clone()
    }

    /// This block's random numbers, for whatever else an arm wants drawn anew.
    pub fn random(&mut self) -> &mut Xoshiro256PlusPlus {
        &mut self.random
    }

    /// Moves a value to a fresh address, as an allocator would: 16-byte aligned (or more, if `T` wants it), with a
    /// random gap of up to 64 bytes before it.
    pub fn place<T: Copy>(&mut self, value: T) -> Result<Placed<T>> {
        let gap = 16 * self.random.random_range(0..=4usize);
        let (pointer, region) = self.reserve(size_of::<T>(), align_of::<T>().max(16), gap)?;
        let pointer = pointer.cast::<T>();
        // SAFETY: reserved for `T`, aligned, and nobody else's.
        unsafe { pointer.write(value) };
        Ok(Placed { pointer, region })
    }

    /// Copies a slice to a fresh address: `align`ed, starting at a random cache line of its first page.
    pub fn place_slice<T: Copy>(&mut self, items: &[T], align: usize) -> Result<PlacedSlice<T>> {
        let lines_in_page = rustix::param::page_size() / 64;
        let gap = 64 * self.random.random_range(0..lines_in_page);
        let (pointer, region) = self.reserve(size_of_val(items), align.max(align_of::<T>()), gap)?;
        let pointer = pointer.cast::<T>();
        // SAFETY: reserved for that many items, aligned, and disjoint from `items`.
        unsafe { std::ptr::copy_nonoverlapping(items.as_ptr(), pointer.as_ptr(), items.len()) };
        Ok(PlacedSlice { pointer, length: items.len(), _region: region })
    }

    fn reserve(&mut self, bytes: usize, align: usize, gap: usize) -> Result<(NonNull<u8>, Arc<Region>)> {
        assert!(align.is_power_of_two() && align <= rustix::param::page_size(), "align {align}");
        if bytes + gap + align > SHARED_REGION_BYTES / 2 {
            let region = Region::new(bytes + gap + align)?;
            let offset = gap.next_multiple_of(align);
            // SAFETY: `offset + bytes` lies inside: offset < gap + align.
            return Ok((unsafe { region.base.add(offset) }, region));
        }
        let fits = |(region, used): &(Arc<Region>, usize)| {
            (used + gap).next_multiple_of(align) + bytes <= region.bytes
        };
        if !self.shared.as_ref().is_some_and(fits) {
            self.shared = Some((Region::new(SHARED_REGION_BYTES)?, 0));
        }
        let (region, used) = self.shared.as_mut().expect("just made");
        let offset = (*used + gap).next_multiple_of(align);
        *used = offset + bytes;
        // SAFETY: `fits` checked it, or the region is new and `bytes + gap + align` is at most half of it.
        Ok((unsafe { region.base.add(offset) }, Arc::clone(region)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_can_be_mapped_is_refused_as_too_much_memory() {
        // Beyond what a 48-bit (or 57-bit) address space holds, however freely the system grants memory.
        let Err(refused) = Region::new(1 << 60) else { panic!("nothing maps an exbibyte") };
        assert!(
            matches!(refused, Error::OutOfMemory { needed_bytes, .. } if needed_bytes == 1 << 60),
            "{refused}"
        );
    }

    fn which<T: Copy, const COPY: usize>(_: T) -> usize {
        COPY
    }

    #[test]
    fn each_code_copy_is_listed_once() {
        assert_eq!(code_copies!(which, u8).map(|copy| copy(0)), std::array::from_fn(|at| at));
    }
}
