//! What the API server says about the user's rights: one question for each request, by its name.

use super::cluster::Cluster;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt;

/// A request that a run may send, in the workload's namespace.
pub(super) struct Right {
    pub(super) verb: &'static str,
    pub(super) group: &'static str,
    pub(super) resource: &'static str,
    pub(super) subresource: &'static str,
    /// Empty for all objects of the type.
    pub(super) name: String,
}

impl fmt::Display for Right {
    /// `delete replicasets.apps`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { verb, group, resource, subresource, .. } = self;
        let dot = if group.is_empty() { "" } else { "." };
        let slash = if subresource.is_empty() { "" } else { "/" };
        write!(f, "{verb} {resource}{slash}{subresource}{dot}{group}")
    }
}

impl Right {
    /// As a review names it.
    fn attributes(&self) -> [(&'static str, &str); 5] {
        let Self { verb, group, resource, subresource, name } = self;
        [
            ("verb", verb),
            ("group", group),
            ("resource", resource),
            ("subresource", subresource),
            ("name", name),
        ]
    }
}

/// What the API server says about rights.
pub(super) struct Answers(Vec<Value>);

impl Answers {
    pub(super) fn ask<'r>(cluster: &Cluster<'_>, rights: impl Iterator<Item = &'r Right>) -> Self {
        let review = |right: &Right| {
            let attributes = right.attributes().into_iter().chain([("namespace", cluster.namespace())]);
            json!({
                "apiVersion": "authorization.k8s.io/v1",
                "kind": "SelfSubjectAccessReview",
                "spec": { "resourceAttributes": attributes.collect::<BTreeMap<_, _>>() },
            })
        };
        let items: Vec<_> = rights.map(review).collect();
        let list = json!({ "apiVersion": "v1", "kind": "List", "items": items }).to_string();
        let text = cluster
            .call(&["create", "--validate=false", "--filename", "-", "--output=json"], &list)
            .unwrap_or_default();
        // One document for each.
        let answers = serde_json::Deserializer::from_str(&text).into_iter().map_while(Result::ok);
        Self(answers.collect())
    }

    /// The first of these rights that is not there. What the API server does not answer clearly is not.
    pub(super) fn first_denied(&self, rights: &[Right]) -> Option<String> {
        let is_there = |right: &&Right| {
            self.0.iter().any(|answer| {
                let about = &answer["spec"]["resourceAttributes"];
                let is = |(field, text): (&str, &str)| about[field].as_str().unwrap_or_default() == text;
                let is_about = right.attributes().into_iter().all(is);
                is_about && answer["status"]["allowed"] == true
            })
        };
        rights.iter().find(|right| !is_there(right)).map(ToString::to_string)
    }
}
