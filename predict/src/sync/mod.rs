//! What the controllers of Deployments, `StatefulSets`, `DaemonSets` and Jobs do in their next sync. Pure functions of plain records,
//! as in Kubernetes 1.37: no JSON, no clock, and nothing that reads or writes.

pub mod daemon_set;
pub mod deployment;
mod int_or_percent;
pub mod job;
mod outcome;
pub mod stateful_set;

pub use int_or_percent::{IntOrPercent, MAX_PERCENT};
pub use outcome::{PodOutcome, Verdict};

/// Declares an enum, such as why a controller does something, with a name for each variant in lower case with hyphens.
macro_rules! named {
    ($(#[$about:meta])* $enum:ident { $($(#[$what:meta])* $variant:ident = $name:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $enum {
            $($(#[$what])* $variant,)+
        }

        impl $enum {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// Returns the name in lower case, with hyphens.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }
    };
}
use named;
