//! What a user asks about, by the words that kubectl users type: `deploy/web`, `pod NAME`. Pure functions on text.

use crate::snapshot::{OwnerReference, WorkloadKind, WorkloadName, checked, owner};
use crate::text::{self, Error};
use std::fmt;

/// The subject of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A workload of a kind whose rules are known, or of any kind if only its name is given.
    Workload(WorkloadName),
    /// All workloads of a kind.
    All(WorkloadKind),
    /// A pod.
    Pod(String),
    /// An object of another type, which may own `ReplicaSet`s.
    Owner(OwnerName),
}

/// An object of a type that only the cluster knows.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OwnerName {
    /// Its type as the user wrote it, in lower case: `rollout`, `rollouts.argoproj.io`.
    pub resource: String,
    /// Its name.
    pub name: String,
}

impl Subject {
    /// What these words are about: `TYPE/NAME`, once or more often, `TYPE NAME...`, `TYPE` or `NAME`. Nothing for no words.
    ///
    /// # Errors
    /// Says which word is wrong, and what works instead.
    pub fn of_words(words: &[String]) -> Result<Vec<Self>, Error> {
        if let Some(count) = words.iter().skip(1).find(|word| is_count(word)) {
            let others: Vec<_> = words.iter().filter(|word| *word != count).map(String::as_str).collect();
            let command = format!("kubectl podrank {} --replicas {count}", others.join(" "));
            return Err(Error::new(format!("'{count}' is not a name"))
                .advise(format!("For a replica count, use: {command}")));
        }
        if let [verb, subject, ..] = words {
            if let "describe" | "explain" | "get" | "preview" | "show" | "why" = verb.as_str() {
                return Self::of_words(&words[1..]);
            }
            if let Some(error) = instead_of(verb, subject) {
                return Err(error);
            }
        }
        let with_slash = words.iter().filter(|word| word.contains('/')).count();
        match words {
            [] => Ok(Vec::new()),
            _ if with_slash == words.len() => {
                let words = words.iter().filter_map(|word| word.split_once('/'));
                words.map(|(resource, name)| Self::of(resource, name)).collect()
            }
            _ if with_slash > 0 => Err(Error::new("only some of the names have a type")
                .advise("Write TYPE/NAME each time, or TYPE once and then the names.")),
            [word] => Ok(vec![Self::of_one(word)?]),
            [resource, names @ ..] => names.iter().map(|name| Self::of(resource, name)).collect(),
        }
    }

    /// A word alone: a type, or a name of any type.
    fn of_one(word: &str) -> Result<Self, Error> {
        let name = || Ok(Self::Workload(WorkloadName { kind: None, name: checked(word)? }));
        Self::of_type(word, None).unwrap_or_else(name)
    }

    /// A type and a name.
    fn of(resource: &str, name: &str) -> Result<Self, Error> {
        if resource.is_empty() {
            return Err(Error::new(format!("'/{}' has no type", text::word(name))));
        }
        let name = checked(name)?;
        if let Some(known) = Self::of_type(resource, Some(&name)) {
            return known;
        }
        let resource = checked(&resource.to_ascii_lowercase())
            .map_err(|_| Error::new(format!("'{}' is not a type", text::word(resource))))?;
        Ok(Self::Owner(OwnerName { resource, name }))
    }

    /// What a type is about, with or without a name, or what works instead. `None` if only the cluster may know the type.
    fn of_type(word: &str, name: Option<&str>) -> Option<Result<Self, Error>> {
        Some(match word.to_ascii_lowercase().as_str() {
            "po" | "pod" | "pods" => name.map(|name| Self::Pod(name.to_owned())).ok_or_else(|| {
                Error::new(format!("'{word}' is a type")).advise(format!("Write {word}/NAME."))
            }),
            "no" | "node" | "nodes" => Err(not_a_workload(name.unwrap_or("NODE"))),
            "ns" | "namespace" | "namespaces" => Err(without_pods("a namespace").advise(format!(
                "To ask about its workloads, use: kubectl podrank -n {}",
                name.unwrap_or("NAMESPACE")
            ))),
            "pdb" | "poddisruptionbudget" | "poddisruptionbudgets" => {
                Err(without_pods("a disruption budget")
                    .because("Kubernetes ignores it when a workload scales down.")
                    .advise("Ask about a workload, such as deploy/NAME."))
            }
            "hpa"
            | "horizontalpodautoscaler"
            | "horizontalpodautoscalers"
            | "horizontalpodautoscalers.autoscaling"
            | "horizontalpodautoscaler.autoscaling" => {
                let name = name.unwrap_or("NAME");
                Err(without_pods("an autoscaler")
                    .advise(format!("Ask about the workload that hpa/{name} scales, such as deploy/NAME.")))
            }
            _ => WorkloadKind::known(word, &WorkloadKind::ALL)?.map(|kind| match name {
                Some(name) => Self::Workload(WorkloadName { kind: Some(kind), name: name.to_owned() }),
                None => Self::All(kind),
            }),
        })
    }
}

/// The error for an object of this type, which has no pods.
fn without_pods(what: &str) -> Error {
    Error::new(format!("{what} has no pods of its own"))
}

/// The error for a node.
fn not_a_workload(name: &str) -> Error {
    instead_of_node(Error::new("a node is not a workload"), name)
}

/// Adds to an error how to empty a node.
#[must_use]
pub fn instead_of_node(error: Error, name: &str) -> Error {
    let name = text::name(name);
    let scale = format!("kubectl podrank scale TYPE/NAME --replicas N --prefer-nodes {name}");
    error
        .advise(format!("To delete its pods first, use: {scale}"))
        .advise(format!("To evict all its pods, use: kubectl drain {name}"))
}

/// The error for an unknown command, which says what does what a user may mean by it.
fn instead_of(verb: &str, subject: &str) -> Option<Error> {
    let annotation = "controller.kubernetes.io/pod-deletion-cost=100";
    let (error, name) = (Error::new(format!("unknown command '{verb}'")), text::name(subject));
    Some(match verb {
        "drain" | "empty" => not_a_workload(subject.rsplit('/').next().unwrap_or_default()),
        "delete" | "evict" | "kill" | "remove" => error
            .advise(format!("To scale down by deleting exactly this pod, use: kubectl podrank drop {name}")),
        "choose" | "pick" => {
            error.advise(format!("To choose pods, use: kubectl podrank scale {name} --replicas N --pod NAME"))
        }
        "clean" | "cleanup" | "clear" | "reset" => {
            error.advise(format!("To remove what a run left behind, use: kubectl podrank undo {name}"))
        }
        "keep" | "protect" | "save" => error
            .advise(format!("To see when it is deleted, use: kubectl podrank {name}"))
            .advise(format!("To keep it, raise its deletion cost: kubectl annotate {name} {annotation}")),
        _ => return None,
    })
}

/// Whether a user would write it for a number of pods, and nobody calls a workload so.
fn is_count(word: &str) -> bool {
    let digits = word.trim_start_matches(['-', '+']).trim_end_matches('%');
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

impl OwnerName {
    /// The owner that a reference names. `None` if Kubernetes allows no such name or type.
    pub(crate) fn of_reference(owner: &OwnerReference) -> Option<Self> {
        let resource = owner::resource(&owner.api_version, &owner.kind)?;
        Some(Self { resource, name: checked(&owner.name).ok()? })
    }

    /// How the owner is named in the place of a workload. `None` if that is not possible.
    pub(crate) fn argument(owner: &OwnerReference) -> Option<String> {
        let deployment = || format!("deploy/{}", owner.name);
        let is_deployment = owner.workload_kind() == Some(WorkloadKind::Deployment);
        is_deployment.then(deployment).or_else(|| Some(Self::of_reference(owner)?.to_string()))
    }

    /// Whether this is the owner.
    pub(crate) fn is(&self, owner: &OwnerReference) -> bool {
        let (word, group) = self.resource.split_once('.').unwrap_or((&self.resource, ""));
        let kind = owner.kind.to_ascii_lowercase();
        let (their_group, _) = owner.api_version.split_once('/').unwrap_or_default();
        // As in `rollouts.v1alpha1.argoproj.io`.
        let in_group =
            group.is_empty() || group == their_group || group.ends_with(&format!(".{their_group}"));
        let is_plural = matches!(word.strip_prefix(&*kind), Some("s" | "es"))
            || word.strip_suffix("ies").is_some_and(|stem| kind.strip_suffix('y') == Some(stem));
        owner.name == self.name && in_group && (word == kind || is_plural || is_short_of(word, &owner.kind))
    }
}

/// Whether a kind may have this short name, which a file does not tell: `dc` for `DeploymentConfig`, `ro` for `Rollout`.
fn is_short_of(word: &str, kind: &str) -> bool {
    let capitals = kind.chars().filter(char::is_ascii_uppercase).collect::<String>();
    word.len() > 1 && (word == capitals.to_ascii_lowercase() || kind.to_ascii_lowercase().starts_with(word))
}

impl fmt::Display for Subject {
    /// As it can be typed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Workload(name) => name.fmt(f),
            Self::All(kind) => f.write_str(kind.short()),
            Self::Pod(name) => write!(f, "pod/{name}"),
            Self::Owner(owner) => owner.fmt(f),
        }
    }
}

impl fmt::Display for OwnerName {
    /// As it can be typed: `rollout/web`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.resource, self.name)
    }
}

/// What can be scaled so that chosen pods go.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scalable {
    /// A workload whose controller reads deletion costs, or whose kind is not known yet.
    Workload(WorkloadName),
    /// An object of a type that only the cluster knows, and that owns a `ReplicaSet`.
    Owner(OwnerName),
}

impl Scalable {
    /// What these words name: `TYPE/NAME`, `TYPE NAME` or `NAME`.
    ///
    /// # Errors
    /// Says which word is wrong.
    pub fn of_words(words: &[String]) -> Result<Self, Error> {
        match Subject::of_words(words).as_deref() {
            Ok([Subject::Owner(owner)]) => Ok(Self::Owner(owner.clone())),
            _ => WorkloadName::of_words(words, &WorkloadKind::WITH_COSTS).map(Self::Workload),
        }
    }
}

impl fmt::Display for Scalable {
    /// As it can be typed: `deploy/web`, `rollout.argoproj.io/web`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Workload(name) => name.fmt(f),
            Self::Owner(name) => name.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(words: &str) -> Result<Vec<Subject>, Error> {
        Subject::of_words(&words.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    fn workload(kind: Option<WorkloadKind>, name: &str) -> Subject {
        Subject::Workload(WorkloadName { kind, name: name.to_owned() })
    }

    #[test]
    fn words_are_read_as_kubectl_reads_them() {
        let deploy = Some(WorkloadKind::Deployment);
        let owner = |resource: &str| {
            Subject::Owner(OwnerName { resource: resource.to_owned(), name: "web".to_owned() })
        };
        for (words, subjects) in [
            ("", vec![]),
            ("web", vec![workload(None, "web")]),
            ("explain deploy/web", vec![workload(deploy, "web")]),
            ("why pod web-1", vec![Subject::Pod("web-1".to_owned())]),
            ("deploy/web", vec![workload(deploy, "web")]),
            ("deployments.apps web", vec![workload(deploy, "web")]),
            ("deploy web api", vec![workload(deploy, "web"), workload(deploy, "api")]),
            (
                "deploy/web sts/db",
                vec![workload(deploy, "web"), workload(Some(WorkloadKind::StatefulSet), "db")],
            ),
            ("deploy", vec![Subject::All(WorkloadKind::Deployment)]),
            ("statefulsets", vec![Subject::All(WorkloadKind::StatefulSet)]),
            ("po web-1", vec![Subject::Pod("web-1".to_owned())]),
            ("pod/web-1", vec![Subject::Pod("web-1".to_owned())]),
            ("Rollout/web", vec![owner("rollout")]),
            ("rollouts.argoproj.io web", vec![owner("rollouts.argoproj.io")]),
        ] {
            assert_eq!(of(words), Ok(subjects), "{words}");
        }
    }

    #[test]
    fn what_is_not_a_subject_gets_a_hint() {
        for (words, error) in [
            (
                "deploy/web 5",
                "'5' is not a name\n  For a replica count, use: kubectl podrank deploy/web --replicas 5",
            ),
            (
                "deploy web -30%",
                "'-30%' is not a name\n  For a replica count, use: kubectl podrank deploy web --replicas -30%",
            ),
            ("deploy/web api", "only some of the names have a type\n  Write TYPE/NAME each time, or "),
            ("deploy/Web", "'Web' is not a valid name\n  Kubernetes allows "),
            ("deploy/a/b", "'a/b' is not a valid name\n"),
            ("deploy/", "the name is empty"),
            ("/web", "'/web' has no type"),
            ("pods", "'pods' is a type\n  Write pods/NAME."),
            (
                "delete pod/web-1",
                "unknown command 'delete'\n  To scale down by deleting exactly this pod, use: kubectl podrank drop pod/web-1",
            ),
            (
                "protect pod/web-1",
                "unknown command 'protect'\n  To see when it is deleted, use: kubectl podrank pod/web-1\n  To keep it, ",
            ),
            (
                "drain node/worker-1",
                "a node is not a workload\n  To delete its pods first, use: kubectl podrank scale TYPE/NAME \
                 --replicas N --prefer-nodes worker-1\n  To evict all its pods, use: kubectl drain worker-1",
            ),
            // A command to copy has the whole name, which has 45 characters on AWS.
            (
                "drain ip-10-0-132-181.eu-central-1.compute.internal",
                "a node is not a workload\n  To delete its pods first, use: kubectl podrank scale TYPE/NAME \
                 --replicas N --prefer-nodes ip-10-0-132-181.eu-central-1.compute.internal\n  To evict all its pods, \
                 use: kubectl drain ip-10-0-132-181.eu-central-1.compute.internal",
            ),
            (
                "delete pod/checkout-service-production-canary-5d7f9c6b8-x2x4z",
                "unknown command 'delete'\n  To scale down by deleting exactly this pod, use: kubectl podrank drop \
                 pod/checkout-service-production-canary-5d7f9c6b8-x2x4z",
            ),
            (
                "hpa/web",
                "an autoscaler has no pods of its own\n  Ask about the workload that hpa/web scales, such as deploy/NAME.",
            ),
            ("node/worker-1", "a node is not a workload\n"),
            (
                "ns/shop",
                "a namespace has no pods of its own\n  To ask about its workloads, use: kubectl podrank -n shop",
            ),
            (
                "ns",
                "a namespace has no pods of its own\n  To ask about its workloads, use: kubectl podrank -n NAMESPACE",
            ),
            ("pdb/web", "a disruption budget has no pods of its own\n  Kubernetes ignores it "),
            ("cronjob/import", "podrank does not support CronJobs\n"),
        ] {
            let said = of(words).expect_err(words).to_string();
            assert!(said.starts_with(error), "{words}: {said}");
        }
    }

    #[test]
    fn an_owner_is_known_by_its_type() {
        let owner = |kind: &str, api_version: &str| -> OwnerReference {
            let written = json!({ "apiVersion": api_version, "kind": kind, "name": "web" });
            serde_json::from_value(written).expect("an owner reference")
        };
        let is = |resource: &str, kind: &str, api_version: &str| {
            OwnerName { resource: resource.to_owned(), name: "web".to_owned() }.is(&owner(kind, api_version))
        };
        for resource in ["rollout", "rollouts", "rollouts.argoproj.io", "rollout.v1alpha1.argoproj.io"] {
            assert!(is(resource, "Rollout", "argoproj.io/v1alpha1"), "{resource}");
        }
        assert!(is("policies", "Policy", "a/v1") && is("boxes", "Box", "a/v1"));
        assert!(is("dc", "DeploymentConfig", "apps.openshift.io/v1") && is("ro", "Rollout", "a/v1"));
        assert!(!is("d", "DeploymentConfig", "a/v1"));
        assert!(
            !is("rollouts.example.com", "Rollout", "argoproj.io/v1alpha1") && !is("rolls", "Rollout", "a/v1")
        );
        let other = OwnerName { resource: "rollout".to_owned(), name: "api".to_owned() };
        assert!(!other.is(&owner("Rollout", "argoproj.io/v1alpha1")));
    }

    #[test]
    fn a_type_that_is_not_known_is_that_of_an_owner() {
        let of = |words: &str| {
            let words: Vec<_> = words.split(' ').map(str::to_owned).collect();
            Scalable::of_words(&words).map(|it| (matches!(it, Scalable::Owner(_)), it.to_string()))
        };
        for (words, is_owner, text) in [
            ("deploy/web", false, "deploy/web"),
            ("replicasets web", false, "rs/web"),
            ("web", false, "web"),
            ("Rollout/web", true, "rollout/web"),
            ("rollouts.argoproj.io web", true, "rollouts.argoproj.io/web"),
        ] {
            assert_eq!(of(words), Ok((is_owner, text.to_owned())), "{words}");
        }
        for (words, error) in [
            ("sts/db", "StatefulSet controllers ignore deletion costs\n  Use deploy, rs or rc."),
            ("pod/web", "unknown type 'pod'\n  Supported types are deploy, rs and rc."),
            ("rollout/web rollout/api", "expected one workload\n  Write TYPE/NAME, TYPE NAME or NAME."),
            ("cj/import", "podrank does not support CronJobs\n  Supported types are deploy, rs and rc."),
        ] {
            assert_eq!(of(words).map_err(|error| error.to_string()), Err(error.to_owned()), "{words}");
        }
    }
}
