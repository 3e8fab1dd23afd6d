//! The names and stable numbers of the rules.

use core::ffi::CStr;
use core::fmt;

/// A rule of the order. The variants are in the order in which the rules apply.
///
/// The number of a rule never changes. The gaps are reserved for rules that later releases add: KEP-5982 proposes one
/// between [`DeletionCost`](Rule::DeletionCost) and [`Rank`](Rule::Rank).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum Rule {
    /// Unassigned before assigned.
    Unassigned = 10,
    /// Pending before unknown before running.
    Phase = 20,
    /// Not ready before ready.
    NotReady = 30,
    /// Lower tier before higher. The caller chooses the tiers, and Kubernetes does not know them.
    Tier = 35,
    /// Lower deletion cost before higher, behind the gate `PodDeletionCost`.
    DeletionCost = 40,
    /// Higher rank before lower.
    Rank = 50,
    /// Preferred before not preferred, behind the gate `PreferForScaleDown`.
    Preferred = 60,
    /// Among ready pods: an unset ready time before any other, then ready for a shorter time before longer.
    ReadyTime = 70,
    /// More restarts before fewer.
    Restarts = 80,
    /// More sidecar restarts before fewer.
    SidecarRestarts = 85,
    /// An unset creation time before any other, then younger before older.
    CreationTime = 90,
    /// Smaller UID before larger.
    Uid = 100,
}

impl Rule {
    /// Every rule, in the order in which they apply.
    pub const ALL: &'static [Self] = &Self::RULES;

    pub(crate) const RULES: [Self; 12] = [
        Self::Unassigned,
        Self::Phase,
        Self::NotReady,
        Self::Tier,
        Self::DeletionCost,
        Self::Rank,
        Self::Preferred,
        Self::ReadyTime,
        Self::Restarts,
        Self::SidecarRestarts,
        Self::CreationTime,
        Self::Uid,
    ];

    /// Returns the rule's number, which never changes.
    #[must_use]
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// Returns the rule with this [number](Rule::number), if there is one.
    #[must_use]
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.iter().copied().find(|rule| rule.number() == number)
    }

    /// Returns the name, such as `deletion-cost`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self.c_name().to_str() {
            Ok(name) => name,
            Err(_) => "", // never: they are ASCII
        }
    }

    /// Returns the [name](Rule::name) as C text.
    pub(crate) const fn c_name(self) -> &'static CStr {
        match self {
            Self::Unassigned => c"unassigned",
            Self::Phase => c"phase",
            Self::NotReady => c"not-ready",
            Self::Tier => c"tier",
            Self::DeletionCost => c"deletion-cost",
            Self::Rank => c"rank",
            Self::Preferred => c"preferred",
            Self::ReadyTime => c"ready-time",
            Self::Restarts => c"restarts",
            Self::SidecarRestarts => c"sidecar-restarts",
            Self::CreationTime => c"creation-time",
            Self::Uid => c"uid",
        }
    }
}

impl fmt::Display for Rule {
    /// Writes the [name](Rule::name).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
