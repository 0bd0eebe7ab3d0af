//! Recipes: the same work, reached in one way or another.

use std::fmt;
use std::sync::Arc;

use super::across::{Foreign, Internal, SystemCall};
use super::batch::{self, MOST_BATCH, RESULT_BYTES, VIEW_BYTES};
use super::carrier::{Carried, Offer};
use super::each;
use super::pipe::{Pipe, Shared};
use crate::binary::{BinaryError, Image};
use crate::dispatch::indirect_calls;
use crate::plugin::{Instance, Plugin};
use crate::race::{Arm, Input, Placement, Recipe};
use crate::{Error, Result};

/// What lies between the loop and a batch's work.
#[derive(Debug, Clone)]
pub enum Across {
    /// A direct call of the host's own.
    Internal,
    /// A plugin's `process_batch`.
    Plugin(Arc<Plugin>),
    /// A system call, then a call of the host's own.
    SystemCall,
    /// Two pipes to another process.
    Pipe(Shared),
    /// What somebody offered.
    Offered(&'static Offer),
}

impl Across {
    /// Two pipes to a process that arms with clones of this share.
    pub fn pipe() -> Self {
        Across::Pipe(Shared::default())
    }
}

/// How a packet gets to the work.
#[derive(Debug, Clone)]
pub enum Way {
    /// Not at all: the work is inlined in the loop.
    Inlined,
    /// Through a trait object, by a packet.
    BehindDyn,
    /// Through a plugin's `process`, by a packet.
    Plugin(Arc<Plugin>),
    /// Across a boundary, so many packets at once.
    Batched(Across, usize),
}

/// How to build an arm that reaches the work in some way. All compute what
/// [`ScanReference`](crate::dispatch::ScanReference) says of [`handler_set`](super::handler_set).
#[derive(Clone)]
pub struct CrossingRecipe {
    way: Way,
    first: u16,
}

impl fmt::Debug for CrossingRecipe {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?} from key {}", self.way, self.first)
    }
}

impl CrossingRecipe {
    /// For packets whose keys begin at `first`.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a batch of none, or of more than [`MOST_BATCH`], or across a plugin that has no way to
    /// take one; [`Error::Plugin`] for a plugin that claims other keys than the example plugins do.
    pub fn new(way: Way, first: u16) -> Result<Self> {
        if let Way::Batched(_, batch) = way
            && !(1..=MOST_BATCH).contains(&batch)
        {
            return Err(Error::invalid("batch", batch, format!("from 1 to {MOST_BATCH} packets")));
        }
        match &way {
            Way::Plugin(plugin) => _ = super::same_work(plugin)?,
            Way::Batched(Across::Plugin(plugin), _) => {
                let plugins = super::same_work(plugin)?;
                if plugin.functions().process_batch.is_none() {
                    let wanted = "a plugin with process_batch; build it against the present header";
                    return Err(Error::invalid("plugin", plugin.path().display(), wanted));
                }
                if plugins != first {
                    let wanted = format!("packets for its own keys, from {plugins} on");
                    return Err(Error::invalid("first", first, wanted));
                }
            }
            _ => {}
        }
        Ok(CrossingRecipe { way, first })
    }

    /// Indirect calls in the loop, by disassembly of `image`, which must be [`Image::of_this_code`]: none where the work is
    /// inlined, one or more where it is behind a pointer.
    ///
    /// # Errors
    /// Where the loop's code can't be found or decoded.
    pub fn indirect_calls(&self, image: &Image) -> Result<usize, BinaryError> {
        let [inlined, behind, foreign] = each::places();
        let place = match &self.way {
            Way::Inlined => inlined,
            Way::BehindDyn => behind,
            Way::Plugin(_) => foreign,
            Way::Batched(Across::Internal, _) => batch::place::<Internal>(),
            Way::Batched(Across::Plugin(_), _) => batch::place::<Foreign>(),
            Way::Batched(Across::SystemCall, _) => batch::place::<SystemCall>(),
            Way::Batched(Across::Pipe(_), _) => batch::place::<Pipe>(),
            Way::Batched(Across::Offered(_), _) => batch::place::<Carried>(),
        };
        indirect_calls(image, place)
    }
}

impl Recipe for CrossingRecipe {
    fn build(&self, input: &Input, placement: &mut Placement) -> Result<Arm> {
        let first = self.first;
        match &self.way {
            Way::Inlined => Ok(each::inlined(first, input)),
            Way::BehindDyn => each::behind_dyn(first, input, placement),
            Way::Plugin(plugin) => {
                let moved = super::same_work(plugin)?.wrapping_sub(first);
                Ok(each::foreign(Instance::create(plugin)?, moved, input))
            }
            Way::Batched(across, packets) => {
                macro_rules! batched {
                    ($boundary:expr) => {
                        batch::batched($boundary, *packets, input, placement)
                    };
                }
                match across {
                    Across::Internal => batched!(Internal { first }),
                    Across::Plugin(plugin) => batched!(Foreign { instance: Instance::create(plugin)? }),
                    Across::SystemCall => batched!(SystemCall { first }),
                    Across::Pipe(shared) => batched!(Pipe::open(first, shared)?),
                    Across::Offered(offer) => batched!(Carried((offer.make)(first)?)),
                }
            }
        }
    }

    fn footprint_bytes(&self) -> Option<usize> {
        match &self.way {
            Way::Batched(_, batch) => Some(batch * (VIEW_BYTES + RESULT_BYTES)),
            _ => None,
        }
    }

    fn calls_one_layout(&self) -> bool {
        match &self.way {
            Way::Plugin(_) => true,
            Way::Batched(across, _) => !matches!(across, Across::Internal | Across::SystemCall),
            Way::Inlined | Way::BehindDyn => false,
        }
    }

    fn varies(&self) -> Option<&'static str> {
        match &self.way {
            Way::Batched(Across::Pipe(_), _) => Some("another process does the work"),
            Way::Batched(Across::Offered(_), _) => Some("another runtime takes part"),
            _ => None,
        }
    }
}
