//! Why the rules leave open what becomes of a pod.

use crate::text::{count, goes};
use jiff::Timestamp;

/// Why the rules leave it open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chance {
    /// Some pods of a group are deleted.
    Group {
        /// How many are deleted.
        deleted: usize,
        /// How many there are.
        of: usize,
        /// What chooses them.
        cause: Cause,
    },
    /// Ages decide, and reach a power of two between these times.
    Ages(Timestamp, Timestamp),
    /// The least and the most pods of the set that are deleted, by what the controllers see first.
    Timing(u32, u32),
    /// The pods of the set are deleted in one sync or in two, between which ranks change.
    Turns,
}

/// What chooses pods of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The order of the controller's list: no rule separates the pods, or the rules contradict each other about three of them.
    List,
    /// The list, and ranks that are counted again in each sync.
    Syncs,
    /// Ranks, which change as pods of other sets come and go.
    Ranks,
    /// Nothing that can be known.
    Random,
}

impl Chance {
    pub(super) fn short(self) -> &'static str {
        match self {
            Self::Group { cause: Cause::List, .. } => BY_LIST,
            Self::Group { cause: Cause::Syncs | Cause::Ranks, .. } => "pods per node may change",
            Self::Group { cause: Cause::Random, .. } => AT_RANDOM,
            Self::Ages(..) => "ages decide, at an edge",
            Self::Timing(..) | Self::Turns => "timing decides",
        }
    }

    pub(super) fn sentence(self) -> String {
        match self {
            Self::Group { deleted, of, cause } => {
                let how = match cause {
                    Cause::List => ", by list order",
                    Cause::Syncs => ", by list order and ranks counted anew",
                    Cause::Ranks => ": ranks change as other ReplicaSets get or lose pods",
                    Cause::Random => ", at random",
                };
                format!("one of {} of which {deleted} {}{how}", count(of as u64, "pod"), goes(deleted as u64))
            }
            Self::Ages(from, to) => {
                format!("ages decide, and reach a power of two between {from:.0} and {to:.0}")
            }
            Self::Timing(least, most) => {
                format!("{least} to {most} pods of this ReplicaSet go, by what the controllers see first")
            }
            Self::Turns => {
                "its pods go at once or in turn, by what the controllers see first, and ranks change between"
                    .to_owned()
            }
        }
    }
}

/// That the order of a list decides.
pub(crate) const BY_LIST: &str = "by list order";

pub(super) const AT_RANDOM: &str = "at random";
