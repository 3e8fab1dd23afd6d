//! The names and stable numbers of the rules.

use core::ffi::CStr;
use core::fmt;

/// A rule of the order. The variants stand in the order in which the rules are asked.
///
/// A rule keeps its number for ever; the gaps are for rules to come (KEP-5982 proposes one between
/// [`DeletionCost`](Rule::DeletionCost) and [`Rank`](Rule::Rank)).
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
    /// Lower tier before higher: what the caller wants. All tiers are 0 unless it says otherwise.
    Tier = 35,
    /// Lower deletion cost before higher, behind the gate `PodDeletionCost`.
    DeletionCost = 40,
    /// Higher rank before lower.
    Rank = 50,
    /// Preferred before not preferred, behind the gate `PreferForScaleDown`.
    Preferred = 60,
    /// Among ready pods: no ready time before any, then ready for a shorter time before longer.
    ReadyTime = 70,
    /// More restarts before fewer.
    Restarts = 80,
    /// More sidecar restarts before fewer.
    SidecarRestarts = 85,
    /// No creation time before any, then younger before older.
    CreationTime = 90,
    /// Smaller UID before larger.
    Uid = 100,
}

impl Rule {
    /// Every rule, in the order in which they are asked.
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

    /// The stable number.
    #[must_use]
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// The rule with this [number](Rule::number).
    #[must_use]
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.iter().copied().find(|rule| rule.number() == number)
    }

    /// The name, such as `deletion-cost`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self.c_name().to_str() {
            Ok(name) => name,
            Err(_) => "", // never: they are ASCII
        }
    }

    /// The [name](Rule::name) as C text.
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
    /// The [name](Rule::name).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
