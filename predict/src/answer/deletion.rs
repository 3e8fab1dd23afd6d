//! Who took a pod that is going or gone, and why that one: as data, and as two sentences.

use crate::text::{self, TextReason};
use jiff::Timestamp;
use serde::Serialize;
use std::fmt;

/// The explanation of a deletion: of a pod that is being deleted, or that no longer exists.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PodDeletion {
    /// The version of the JSON.
    pub api_version: &'static str,
    /// The kind of the JSON.
    pub kind: &'static str,
    /// The namespace of the pod.
    pub namespace: String,
    /// Its name.
    pub pod: String,
    /// Whether it is still there, being deleted.
    #[serde(rename = "terminating")]
    pub is_terminating: bool,
    /// When its deletion was asked for, to the second. `None` if it is gone, or if that may have been asked for twice.
    pub requested_at: Option<Timestamp>,
    /// Who took it. `None` if that is not known.
    pub cause: Option<DeletionCause>,
    /// Whether that is only probable, because nothing names the pod.
    #[serde(rename = "probable")]
    pub is_probable: bool,
    /// What happened, as the end of a sentence that begins with "because".
    #[serde(rename = "text")]
    pub event: Option<String>,
    /// The rule by which Kubernetes took this pod and not one that stayed, and the values that it compares. If podrank-webhook only observed
    /// it, what it reported. `None` if that is not known.
    pub reason: Option<TextReason>,
    /// Why that is not known. `None` if it is, or if nobody knows who took the pod.
    pub reason_unknown: Option<&'static str>,
    /// The rule by which podrank-webhook chose it, if it did.
    pub selected_by: Option<String>,
}

/// Who takes pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeletionCause {
    /// A count fell.
    ScaleDown,
    /// The rollout of its Deployment.
    Rollout,
    /// The controller of its workload, for whatever reason.
    Controller,
    /// The scheduler, for a pod of higher priority.
    Preemption,
    /// A taint of its node.
    Taint,
    /// A user or a program that evicted it through the API.
    Eviction,
    /// kubelet, or the garbage collector of pods.
    Node,
}

impl fmt::Display for PodDeletion {
    /// `pod/web-a is going, because rs/web was scaled from 10 to 6 by kubectl`, and in the next line why that one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is = if self.is_terminating { "is being deleted" } else { "was deleted" };
        write!(f, "pod/{} {is}", text::name(&self.pod))?;
        let Some(because) = &self.event else {
            let what = "a scale-down, a rollout, an eviction, a taint or a preemption that deleted it";
            return write!(f, ", and no event reports {what}");
        };
        let probably = if self.is_probable { "probably " } else { "" };
        write!(f, ", {probably}because {because}.")?;
        let why = self.reason.as_ref().map(|reason| reason.text.clone());
        let chosen = |rule: &String| format!("podrank-webhook selected it ({})", text::word(rule));
        let known: Vec<_> = why.into_iter().chain(self.selected_by.as_ref().map(chosen)).collect();
        match self.reason_unknown {
            _ if !known.is_empty() => write!(f, "\nWhy this pod: {}.", known.join(", and ")),
            Some(unknown) => write!(f, "\nWhy this pod: {unknown}."),
            None => Ok(()),
        }
    }
}
