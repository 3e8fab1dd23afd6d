//! Why a function on lists of pods fails.

use core::fmt;

/// Why a function on a list of pods fails. Its documentation says which of these it returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// There are more than `u32::MAX` pods: 32-bit indices cannot name them all.
    TooManyPods,
    /// A buffer has too few elements.
    ShortBuffer {
        /// How many elements the buffer has.
        len: usize,
        /// How many it needs.
        needed: usize,
    },
    /// An assigned pod's node number is not below the number of counts or weights.
    UnknownNode {
        /// The node number.
        node: u32,
        /// The number of counts or weights.
        nodes: usize,
    },
    /// A node has no domain at one of the levels, or its number is not below the number of domains that have a count.
    UnknownDomain {
        /// The node number.
        node: u32,
    },
    /// The pods would need more than 65,536 tiers.
    TooManyTiers,
    /// The feature gate `PodDeletionCost` is off, so deletion costs have no effect.
    GateOff,
    /// The fixed deletion costs leave no room for the tiers: `lower` has to cost less than `higher`, with room between the
    /// two for a cost of each tier in between. Either both pods have fixed costs and these are too close together,
    /// or only one has, and it is too close to a limit of `i32`.
    NoRoom {
        /// The index of the pod of the lower tier.
        lower: u32,
        /// The index of the pod of the higher tier.
        higher: u32,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooManyPods => write!(f, "there are more than {} pods: pass fewer", u32::MAX),
            Self::ShortBuffer { len, needed } => write!(f, "a buffer has {len} elements, but needs {needed}"),
            Self::UnknownNode { node, nodes } => {
                write!(f, "node number {node} is not below the number of counts, {nodes}")
            }
            Self::UnknownDomain { node } => write!(f, "node {node} has no domain that has a count"),
            Self::TooManyTiers => f.write_str("the pods would need more than 65536 tiers"),
            Self::GateOff => {
                f.write_str("the feature gate PodDeletionCost is off, so deletion costs have no effect")
            }
            Self::NoRoom { lower, higher } => write!(
                f,
                "the fixed deletion costs leave no room for a lower cost of pod {lower} than of pod {higher}, with one for \
                 each tier between"
            ),
        }
    }
}

impl core::error::Error for Error {}
