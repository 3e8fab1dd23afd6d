//! Why the rules leave open what becomes of a pod.

use crate::text::is;
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
    /// The word in JSON.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Group { cause: Cause::List, .. } => "order",
            Self::Group { cause: Cause::Syncs | Cause::Ranks, .. } => "ranks",
            Self::Group { cause: Cause::Random, .. } => "random",
            Self::Ages(..) => "age-boundary",
            Self::Timing(..) | Self::Turns => "timing",
        }
    }

    pub(super) fn short(self) -> &'static str {
        match self {
            Self::Group { cause: Cause::List | Cause::Random, .. } => BY_CHANCE,
            Self::Group { cause: Cause::Syncs | Cause::Ranks, .. } => "pods per node may change",
            Self::Ages(..) => "its age bucket changes now",
            Self::Timing(..) | Self::Turns => "timing decides",
        }
    }

    pub(super) fn sentence(self) -> String {
        match self {
            Self::Group { deleted, of, cause } => {
                let how = match cause {
                    Cause::List | Cause::Random => "",
                    Cause::Syncs => ", and each sync counts the pods per node again",
                    Cause::Ranks => ", because pods of other ReplicaSets come and end on their nodes",
                };
                let are = is(deleted);
                format!("by chance, {deleted} of {of} such pods {are} deleted{how}")
            }
            Self::Ages(from, to) => {
                format!("ages decide, and change their buckets between {from:.0} and {to:.0}")
            }
            Self::Timing(least, most) => {
                format!("{least} to {most} pods of this ReplicaSet are deleted: what its controller sees first decides")
            }
            Self::Turns => {
                "what its controller sees first decides whether one sync or two delete its pods, and in between, \
                 the number of pods per node changes"
                    .to_owned()
            }
        }
    }
}

/// That nothing which can be known decides, such as the order of the controller's list.
pub(crate) const BY_CHANCE: &str = "by chance";
