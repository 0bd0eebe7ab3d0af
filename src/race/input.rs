//! What the arms of a race replay: the caller's copy, and the copy that a block places anew.

use std::any::TypeId;
use std::sync::Arc;

use bytemuck::Pod;

use super::{PlacedSlice, Placement};
use crate::Result;

trait Bytes: Send + Sync {
    fn bytes(&self) -> &[u8];
}

impl<T: Pod + Send + Sync> Bytes for Vec<T> {
    fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(self)
    }
}

/// The input as the experiment made it: never timed, read by references and audits.
#[derive(Clone)]
pub struct Source {
    data: Arc<dyn Bytes>,
    operations: usize,
    item: TypeId,
}

impl Source {
    /// One operation an item.
    pub fn from_items<T: Pod + Send + Sync>(items: Vec<T>) -> Self {
        let operations = items.len();
        Source { data: Arc::new(items), operations, item: TypeId::of::<T>() }
    }

    /// Items that operations visit in an order of their own, `operations` of them in a pass.
    pub fn from_items_with<T: Pod + Send + Sync>(items: Vec<T>, operations: usize) -> Self {
        Source { data: Arc::new(items), operations, item: TypeId::of::<T>() }
    }

    /// No stored input: `operations` is how far window indices reach.
    pub fn without_items(operations: usize) -> Self {
        Source { data: Arc::new(Vec::<u8>::new()), operations, item: TypeId::of::<u8>() }
    }

    /// How many operations one pass holds.
    pub fn operations(&self) -> usize {
        self.operations
    }

    /// Whether the items were given as this type.
    pub fn holds<T: 'static>(&self) -> bool {
        self.item == TypeId::of::<T>()
    }

    /// The items; panics if `T` isn't what [`Source::from_items`] was given (size or alignment differ).
    pub fn items<T: Pod>(&self) -> &[T] {
        bytemuck::cast_slice(self.data.bytes())
    }

    /// Bytes of the items.
    pub fn bytes(&self) -> &[u8] {
        self.data.bytes()
    }

    /// Copies the items to a fresh place, aligned to a cache line.
    pub fn place(&self, placement: &mut Placement) -> Result<Input> {
        let pool = placement.place_slice(self.data.bytes(), 64)?;
        Ok(Input { pool: Arc::new(pool), operations: self.operations })
    }
}

/// The input as one block's arms see it: read-only, shared, freshly placed.
#[derive(Clone)]
pub struct Input {
    pool: Arc<PlacedSlice<u8>>,
    operations: usize,
}

impl Input {
    /// How many operations one pass holds.
    pub fn operations(&self) -> usize {
        self.operations
    }

    /// The items, cast; panics if `T` isn't what the source was made of.
    #[inline(always)]
    pub fn items<T: Pod>(&self) -> &[T] {
        bytemuck::cast_slice(&self.pool)
    }
}
