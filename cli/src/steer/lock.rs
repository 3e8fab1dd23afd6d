//! The state `lock`: the Lease that keeps runs of podrank on one workload apart. It is named by the UID of the object that is scaled,
//! belongs to that object, and its holder is a random ID. It is created or the run refuses: nobody renews it or takes it over. It
//! outlasts the longest run, and a run that takes longer than its Lease lasts writes nothing more.

use super::cluster::{Cluster, Right};
use super::outcome::Step;
use super::request::ScaleRequest;
use crate::kubectl::{Kubectl, Reason, Refusal};
use jiff::Timestamp;
use podrank_predict::plan::{Plan, Target};
use podrank_predict::{Error, MOST_IN_ONE_SYNC};
use serde_json::{Value, json};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// How long a run may take in addition to its waits, and how long `undo` may take.
pub(super) const RESERVE: Duration = Duration::from_secs(60);

/// Why a run does not hold the Lease.
pub(super) enum LockError<'k> {
    /// Another run holds it.
    Held(Lease<'k>),
    /// The user may not use Leases.
    Forbidden(String),
    /// It was not created.
    Failed(String),
    /// It may have been created.
    Unknown(String),
}

impl LockError<'_> {
    /// The error for a reader.
    pub(super) fn explained(&self, cluster: &Cluster<'_>, target: &Target) -> Error {
        match self {
            Self::Held(Lease { object, .. }) => Error::new(format!(
                "{target} is locked by another podrank run ({}, since {})",
                short(holder(object)),
                object["metadata"]["creationTimestamp"].as_str().unwrap_or_default(),
            ))
            .advise(format!("Wait for it, or stop it with: {} --force", cluster.undo())),
            Self::Unknown(why) => Error::new(why).because("It may be there. Nothing else was changed."),
            Self::Forbidden(why) | Self::Failed(why) => Error::new(why).because("Nothing was changed."),
        }
    }
}

/// A Lease that this run holds.
pub(super) struct Lock<'k> {
    lease: Lease<'k>,
    /// When it expires, by the clock of this process.
    end: Instant,
}

/// A Lease, and how to reach it.
pub(super) struct Lease<'k> {
    kubectl: &'k Kubectl,
    collection: String,
    name: String,
    object: Value,
}

/// The number of syncs in which the controller deletes the pods. Each may take as long as `--timeout` says.
pub(super) fn syncs(plan: &Plan) -> u32 {
    u32::try_from(plan.delete.div_ceil(MOST_IN_ONE_SYNC).max(1)).unwrap_or(u32::MAX)
}

/// Locks the workload for a run, if the user may. The Lease lasts longer than the longest run.
pub(super) fn lock<'k>(
    request: &ScaleRequest<'k>,
    plan: &Plan,
    may_lock: bool,
    steps: &mut Vec<Step>,
) -> Result<Option<Lock<'k>>, LockError<'k>> {
    steps.push(Step::Lock);
    let most = Duration::from_secs(i32::MAX.unsigned_abs().into());
    let waits = request.how.timeout.saturating_mul(syncs(plan)).saturating_mul(2);
    let duration = waits.saturating_add(RESERVE).min(most);
    may_lock.then(|| Lock::create(&request.cluster, &plan.target, duration)).transpose()
}

/// What creating, checking and deleting the Lease needs.
pub(super) fn rights(target: &Target) -> Vec<Right> {
    let (group, resource) = ("coordination.k8s.io", "leases");
    ["create", "get", "delete"].map(|verb| Right { verb, group, resource, name: name(target) }).into()
}

fn name(target: &Target) -> String {
    format!("podrank-{}", target.uid)
}

/// A random ID, which tells this process from other runs.
fn this_run() -> &'static str {
    static ID: OnceLock<String> = OnceLock::new();
    ID.get_or_init(|| format!("podrank-run-{:08x}", fastrand::u32(..)))
}

/// Says that a run works without the Lease.
pub(super) fn not_locked(why: &str) -> String {
    format!("not locked, so other runs of podrank may interfere: {why}")
}

impl<'k> Lock<'k> {
    pub(super) fn create(
        cluster: &Cluster<'k>,
        target: &Target,
        duration: Duration,
    ) -> Result<Self, LockError<'k>> {
        let lease = Lease {
            kubectl: cluster.kubectl,
            collection: format!("/apis/coordination.k8s.io/v1/namespaces/{}/leases", cluster.namespace()),
            name: name(target),
            object: json!({
                "apiVersion": "coordination.k8s.io/v1",
                "kind": "Lease",
                "metadata": {
                    "name": name(target),
                    "ownerReferences": [{
                        "apiVersion": target.api_version,
                        "kind": target.kind,
                        "name": target.name,
                        "uid": target.uid,
                    }],
                },
                "spec": { "holderIdentity": this_run(), "leaseDurationSeconds": duration.as_secs() },
            }),
        };
        let end = Instant::now() + duration;
        let error = match lease.call("create", "", &lease.object.to_string()) {
            Ok(object) => return Ok(Self { lease: Lease { object, ..lease }, end }),
            Err(error) => error,
        };
        let is_forbidden = error.reason == Reason::Forbidden;
        let error = if is_forbidden {
            error.to_string()
        } else {
            format!("the Lease {} cannot be created: {error}", lease.name)
        };
        match lease.read() {
            // The answer was lost.
            Ok(Some(object)) if holder(&object) == this_run() => {
                Ok(Self { lease: Lease { object, ..lease }, end })
            }
            Ok(Some(object)) => Err(LockError::Held(Lease { object, ..lease })),
            _ if is_forbidden => Err(LockError::Forbidden(error)),
            Ok(None) => Err(LockError::Failed(error)),
            Err(_) => Err(LockError::Unknown(error)),
        }
    }

    /// Checks that this run holds the Lease. An error says who has it now, or why that is not known: then another run may be at work.
    pub(super) fn check(&self) -> Result<(), String> {
        let now = self.lease.read().map_err(|error| format!("the Lease cannot be read: {error}"))?;
        match now.map(|object| holder(&object).to_owned()) {
            None => Err("somebody has deleted the Lease".to_owned()),
            Some(other) if other != this_run() => Err(format!("run {} has the Lease now", short(&other))),
            Some(_) if Instant::now() >= self.end => {
                Err("the run has taken longer than its Lease lasts".to_owned())
            }
            Some(_) => Ok(()),
        }
    }

    /// Deletes the Lease. An error says that it is left.
    pub(super) fn release(self) -> Result<(), String> {
        // The answer to the first request may have been lost.
        let deleted = self.lease.delete().or_else(|_| self.lease.delete());
        deleted.map_err(|error| format!("the Lease {} is still there: {error}", self.lease.name))
    }
}

impl Lease<'_> {
    /// Whether it has expired, by the clock of the API server, which also says when it was created.
    pub(super) fn is_expired(&self) -> bool {
        let probe = json!({
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": { "generateName": "podrank-" },
        });
        let now =
            self.call("create", "?dryRun=All", &probe.to_string()).ok().and_then(|lease| created(&lease));
        let lasts = self.object["spec"]["leaseDurationSeconds"].as_i64();
        let end = created(&self.object).zip(lasts).map(|(created, lasts)| created + lasts);
        now.zip(end).is_some_and(|(now, end)| now > end)
    }

    /// Deletes it, unless another one has replaced it, or it no longer exists.
    pub(super) fn delete(&self) -> Result<(), Refusal> {
        let options = json!({
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "preconditions": { "uid": self.object["metadata"]["uid"] },
        });
        match self.call("delete", &format!("/{}", self.name), &options.to_string()) {
            Err(error) if !matches!(error.reason, Reason::Conflict | Reason::NotFound) => Err(error),
            _ => Ok(()),
        }
    }

    /// `None` if there is none.
    fn read(&self) -> Result<Option<Value>, Refusal> {
        let path = format!("{}/{}", self.collection, self.name);
        match self.kubectl.call(&["get", "--raw", &path, "--request-timeout=5s"], "")?.result() {
            Ok(text) => Ok(Some(serde_json::from_str(&text).unwrap_or_default())),
            Err(error) if error.reason == Reason::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn call(&self, verb: &str, path: &str, object: &str) -> Result<Value, Refusal> {
        let path = format!("{}{path}", self.collection);
        let text = self.kubectl.call(&[verb, "--raw", &path, "--filename", "-"], object)?.result()?;
        Ok(serde_json::from_str(&text).unwrap_or_default())
    }
}

/// When the API server created an object, in seconds.
fn created(object: &Value) -> Option<i64> {
    let time = object["metadata"]["creationTimestamp"].as_str()?.parse::<Timestamp>();
    time.ok().map(Timestamp::as_second)
}

fn holder(lease: &Value) -> &str {
    lease["spec"]["holderIdentity"].as_str().unwrap_or_default()
}

/// The part of a holder's identity that tells runs apart, as far as it is one of podrank's.
fn short(holder: &str) -> String {
    let is_plain = |char: &char| char.is_ascii_alphanumeric() || *char == '-';
    holder.chars().filter(is_plain).take(60).collect::<String>().replacen("podrank-run-", "", 1)
}
