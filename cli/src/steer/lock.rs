//! The Lease that keeps runs of podrank on one workload apart. It is named by the UID of the object that is scaled, belongs to that
//! object, and its holder is a random id. A run renews it in the background. Nobody compares clocks: whoever finds it held watches
//! whether its holder renews it, and takes it over only if it has seen no renewal for as long as the Lease lasts.

use super::cluster::Cluster;
use super::interrupt::Interrupt;
use crate::kubectl::{Kubectl, Reason, Refusal};
use crate::progress::Waiting;
use jiff::{Timestamp, Unit};
use podrank_predict::plan::Target;
use serde_json::{Value, json};
use std::fmt;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How long the Lease lasts without a renewal.
const DURATION: Duration = Duration::from_secs(30);
/// The time between two renewals.
const RENEWAL: Duration = Duration::from_secs(10);
/// How long a renewal in the background may take, and one before something is written.
const RENEWAL_LIMIT: Duration = Duration::from_secs(10);
const CHECK_LIMIT: Duration = Duration::from_secs(5);
/// The time between two looks at a Lease of another run.
const PAUSE: Duration = Duration::from_secs(1);
/// What tells this run from others: a random id.
static RUN: OnceLock<String> = OnceLock::new();
/// The verbs that a run needs.
pub(super) const VERBS: [&str; 4] = ["create", "get", "update", "delete"];

/// Why a run does not hold the Lease.
pub(super) enum Refused {
    /// Another run holds it: who, and since when.
    Held(String),
    /// The user may not use Leases.
    Forbidden(String),
    /// Anything else.
    Failed(String),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Held(who) => write!(f, "{who}, and only one run at a time may: wait until it has ended"),
            Self::Forbidden(why) | Self::Failed(why) => f.write_str(why),
        }
    }
}

/// A Lease that this run holds. It gives the Lease back when it is dropped.
pub(super) struct Lock {
    lease: Lease,
    held: Arc<Mutex<Held>>,
    /// The renewals, which end when the sender goes.
    renewals: Option<(Sender<()>, JoinHandle<()>)>,
}

/// A Lease at one moment. The UID keeps a renewal from creating it anew once it was deleted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Stamp {
    uid: String,
    version: String,
}

impl Stamp {
    fn of(lease: &Value) -> Self {
        let text = |field: &str| lease["metadata"][field].as_str().unwrap_or_default().to_owned();
        Self { uid: text("uid"), version: text("resourceVersion") }
    }
}

/// What the last request said of the Lease.
struct Held {
    stamp: Stamp,
    /// Who has it now. `None` as long as it is this run.
    lost: Option<String>,
}

/// Where the Lease is, and how to reach it.
#[derive(Clone)]
struct Lease {
    kubectl: Kubectl,
    collection: String,
    name: String,
    holder: String,
    owner: Value,
    acquired: String,
}

/// The name of the Lease of an object.
pub(super) fn name(target: &Target) -> String {
    format!("podrank-{}", target.uid)
}

/// Says that a run goes without the Lease.
pub(super) fn not_locked(why: &str) -> String {
    format!("not locked, so other runs of podrank may interfere: {why}")
}

impl Lock {
    /// Takes the Lease. If another run holds it, waits until it has seen a renewal, and refuses. With `force`, takes it from a run that is
    /// alive.
    pub(super) fn take(
        cluster: &Cluster<'_>,
        target: &Target,
        interrupt: &Interrupt,
        force: bool,
    ) -> Result<Self, Refused> {
        let lease = Lease::of(cluster, target);
        match lease.create() {
            Ok(stamp) => Ok(Self::hold(lease, stamp)),
            Err(error) if error.reason == Reason::Forbidden => Err(Refused::Forbidden(error.to_string())),
            // It is there, or the answer was lost.
            Err(_) => lease.take_over(interrupt, force),
        }
    }

    fn hold(lease: Lease, stamp: Stamp) -> Self {
        let held = Arc::new(Mutex::new(Held { stamp, lost: None }));
        let (stop, stopped) = mpsc::channel();
        let (its, of) = (lease.clone(), Arc::clone(&held));
        let renewals = thread::spawn(move || {
            while stopped.recv_timeout(RENEWAL) == Err(RecvTimeoutError::Timeout) {
                // What could not be renewed shows when something is to be written.
                let _ = its.renew(&of, RENEWAL_LIMIT);
            }
        });
        Self { lease, held, renewals: Some((stop, renewals)) }
    }

    /// Renews the Lease now. An error says who has taken it, or why that is not known: then another run may be at work.
    pub(super) fn check(&self) -> Result<(), String> {
        self.lease.renew(&self.held, CHECK_LIMIT)
    }

    /// Gives the Lease back. An error says that it is left.
    pub(super) fn release(mut self) -> Result<(), String> {
        self.end()
    }

    fn end(&mut self) -> Result<(), String> {
        let Some((stop, renewals)) = self.renewals.take() else { return Ok(()) };
        drop(stop);
        let _ = renewals.join();
        let held = lock(&self.held);
        if held.lost.is_some() {
            return Ok(());
        }
        let deleted =
            self.lease.delete(&held.stamp).or_else(|error| match (error.reason, self.lease.read()) {
                // The answer to the last renewal was lost.
                (Reason::Conflict, Ok(Some(lease))) if self.lease.is_holder(&lease) => {
                    self.lease.delete(&Stamp::of(&lease))
                }
                // Somebody else has it, or has deleted it.
                (Reason::Conflict | Reason::NotFound, _) => Ok(()),
                _ => Err(error),
            });
        deleted.map_err(|error| format!("the Lease {} is left: {error}", self.lease.name))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

fn lock(held: &Mutex<Held>) -> MutexGuard<'_, Held> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Lease {
    fn of(cluster: &Cluster<'_>, target: &Target) -> Self {
        Self {
            kubectl: cluster.kubectl.clone(),
            collection: format!("/apis/coordination.k8s.io/v1/namespaces/{}/leases", cluster.namespace()),
            name: name(target),
            holder: RUN.get_or_init(|| format!("podrank-run-{:08x}", fastrand::u32(..))).clone(),
            owner: json!({
                "apiVersion": target.api_version,
                "kind": target.kind,
                "name": target.name,
                "uid": target.uid,
            }),
            acquired: now(),
        }
    }

    fn path(&self) -> String {
        format!("{}/{}", self.collection, self.name)
    }

    /// The object, to write over what there was, or to create.
    fn object(&self, stamp: Option<&Stamp>) -> String {
        let [uid, version] = [stamp.map(|stamp| &stamp.uid), stamp.map(|stamp| &stamp.version)];
        json!({
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {
                "name": self.name,
                "uid": uid,
                "resourceVersion": version,
                "ownerReferences": [self.owner],
            },
            "spec": {
                "holderIdentity": self.holder,
                "leaseDurationSeconds": DURATION.as_secs(),
                "acquireTime": self.acquired,
                "renewTime": now(),
            },
        })
        .to_string()
    }

    fn create(&self) -> Result<Stamp, Refusal> {
        self.call(&["create", "--raw", &self.collection, "--filename", "-"], &self.object(None))
    }

    fn replace(&self, stamp: &Stamp, limit: Duration) -> Result<Stamp, Refusal> {
        let limit = format!("--request-timeout={}s", limit.as_secs());
        let words = ["replace", "--raw", &self.path(), "--filename", "-", &limit];
        self.call(&words, &self.object(Some(stamp)))
    }

    fn call(&self, words: &[&str], object: &str) -> Result<Stamp, Refusal> {
        let text = self.kubectl.call(words, object)?.result()?;
        Ok(Stamp::of(&serde_json::from_str(&text).unwrap_or_default()))
    }

    fn is_holder(&self, lease: &Value) -> bool {
        holder(lease) == self.holder
    }

    /// `None` if there is none.
    fn read(&self) -> Result<Option<Value>, Refusal> {
        match self.kubectl.call(&["get", "--raw", &self.path()], "")?.result() {
            Ok(text) => Ok(Some(serde_json::from_str(&text).unwrap_or_default())),
            Err(error) if error.reason == Reason::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn delete(&self, stamp: &Stamp) -> Result<(), Refusal> {
        let options = json!({
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "preconditions": { "uid": stamp.uid, "resourceVersion": stamp.version },
        });
        let words = ["delete", "--raw", &self.path(), "--filename", "-"];
        self.kubectl.call(&words, &options.to_string())?.result().map(drop)
    }

    /// Renews the Lease, by the version that this run knows: so it fails if another run has taken it since.
    fn renew(&self, held: &Mutex<Held>, limit: Duration) -> Result<(), String> {
        let mut held = lock(held);
        if let Some(why) = &held.lost {
            return Err(why.clone());
        }
        let renewed = self.replace(&held.stamp, limit).or_else(|error| match (error.reason, self.read()) {
            // The answer to an earlier renewal was lost.
            (Reason::Conflict, Ok(Some(lease))) if self.is_holder(&lease) => {
                self.replace(&Stamp::of(&lease), limit)
            }
            (Reason::Conflict, Ok(Some(lease))) => {
                held.lost = Some(format!("run {} has taken the Lease over", short(holder(&lease))));
                Err(error)
            }
            (Reason::NotFound, _) | (Reason::Conflict, Ok(None)) => {
                held.lost = Some("somebody has deleted the Lease".to_owned());
                Err(error)
            }
            // The API server may answer again in time.
            _ => Err(error),
        });
        match (renewed, &held.lost) {
            (Ok(stamp), _) => {
                held.stamp = stamp;
                Ok(())
            }
            (Err(_), Some(why)) => Err(why.clone()),
            (Err(error), None) => Err(format!("the Lease cannot be renewed: {error}")),
        }
    }

    /// Watches the Lease of another run, until it is renewed, is given back, or has not been renewed for as long as it lasts.
    fn take_over(mut self, interrupt: &Interrupt, force: bool) -> Result<Lock, Refused> {
        let failed =
            |error: Refusal| Refused::Failed(format!("the Lease {} cannot be taken: {error}", self.name));
        let mut seen: Option<(Stamp, Instant)> = None;
        let waiting = Waiting::new();
        loop {
            let sent = Instant::now();
            let taken = match self.read().map_err(failed)? {
                None => {
                    self.acquired = now();
                    self.create()
                }
                Some(lease) => {
                    let stamp = Stamp::of(&lease);
                    if self.is_holder(&lease) {
                        return Ok(Lock::hold(self, stamp));
                    }
                    let is_first = seen.is_none();
                    let (first, since) = seen.get_or_insert_with(|| (stamp.clone(), sent));
                    let is_renewed = !is_first && *first != stamp;
                    if is_renewed && !force {
                        return Err(Refused::Held(held_by(&lease)));
                    }
                    if !force && since.elapsed() < DURATION {
                        if interrupt.is_set() {
                            return Err(Refused::Failed("interrupted".to_owned()));
                        }
                        waiting.tell("another run has the Lease: waiting until it renews it or has been silent for 30 s");
                        interrupt.sleep(PAUSE);
                        continue;
                    }
                    self.acquired = now();
                    self.replace(&stamp, CHECK_LIMIT)
                }
            };
            match taken {
                Ok(stamp) => return Ok(Lock::hold(self, stamp)),
                // Somebody was faster.
                Err(error)
                    if matches!(
                        error.reason,
                        Reason::AlreadyExists | Reason::Conflict | Reason::NotFound
                    ) => {}
                Err(error) => return Err(failed(error)),
            }
        }
    }
}

/// Who holds a Lease, and since when by the holder's own clock.
fn held_by(lease: &Value) -> String {
    let spec = &lease["spec"];
    let since = spec["acquireTime"].as_str().and_then(|time| time.parse::<Timestamp>().ok());
    let since = since.and_then(|since| since.round(Unit::Second).ok());
    let since = since.map_or_else(String::new, |since| format!(" since {since}"));
    format!("run {} works on it{since}", short(holder(lease)))
}

fn holder(lease: &Value) -> &str {
    lease["spec"]["holderIdentity"].as_str().unwrap_or_default()
}

/// The part of a holder's identity that tells runs apart, as far as it is one of podrank's.
fn short(holder: &str) -> String {
    holder
        .chars()
        .filter(|char| char.is_ascii_alphanumeric() || *char == '-')
        .take(60)
        .collect::<String>()
        .replacen("podrank-run-", "", 1)
}

/// The time as Leases have it.
fn now() -> String {
    format!("{:.6}", Timestamp::now())
}
