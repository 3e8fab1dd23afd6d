//! What the API server says about the user's rights: one question for each request, by its name.

use super::cluster::Cluster;
use serde_json::{Value, json};
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

/// What the API server says about rights.
pub(super) struct Answers(Vec<Value>);

impl Answers {
    pub(super) fn ask<'r>(cluster: &Cluster<'_>, rights: impl Iterator<Item = &'r Right>) -> Self {
        let review = |right: &Right| {
            json!({
                "apiVersion": "authorization.k8s.io/v1",
                "kind": "SelfSubjectAccessReview",
                "spec": { "resourceAttributes": {
                    "namespace": cluster.namespace(),
                    "verb": right.verb,
                    "group": right.group,
                    "resource": right.resource,
                    "subresource": right.subresource,
                    "name": right.name,
                } },
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
                let is = |field: &str, text: &str| about[field].as_str().unwrap_or_default() == text;
                let is_about = is("verb", right.verb)
                    && is("group", right.group)
                    && is("resource", right.resource)
                    && is("subresource", right.subresource)
                    && is("name", &right.name);
                is_about && answer["status"]["allowed"] == true
            })
        };
        rights.iter().find(|right| !is_there(right)).map(ToString::to_string)
    }
}
