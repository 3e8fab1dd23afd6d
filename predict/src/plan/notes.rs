//! The notes of a plan.

use crate::answer::{Note, NoteCode};
use crate::text::count;
use std::fmt;

/// A workload that has its number of replicas already, but another number of pods.
pub(crate) fn still_working(what: &impl fmt::Display, pods: usize) -> Note {
    let pods = count(pods as u64, "active pod");
    Note::warning(
        NoteCode::ControllerBusy,
        format!("{what} has {pods}, so its controllers are still working"),
    )
}

pub(crate) fn idle_wish(preference: &str, target: &impl fmt::Display) -> Note {
    let text = format!("all active pods of {target} match {preference}, so it makes no difference");
    Note::new(NoteCode::Preference, text)
}

pub(crate) fn unmet_wish(unmet: &impl fmt::Display) -> Note {
    Note::warning(NoteCode::Preference, unmet.to_string())
}
