//! The Lease that keeps runs of podrank on one workload apart. It is named by the UID of the object that is scaled, belongs to that
//! object, and its holder is a random id. A run renews it in the background. Nobody compares clocks: whoever finds it held watches
//! whether its holder renews it, and takes it over only if it has seen no renewal for as long as the Lease lasts.

use super::cluster::Cluster;
use super::interrupt::Interrupt;
use crate::kubectl::{Kubectl, Reason, Refusal};
use crate::progress::Waiting;
use jiff::{Timestamp, Unit};
use podrank_preview::steer::Target;
use serde_json::{Value, json};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How long the Lease lasts without a renewal.
const DURATION: Duration = Duration::from_secs(30);
/// The time between two renewals.
const RENEWAL: Duration = Duration::from_secs(10);
/// How long before its end a Lease no longer counts as held: the next request has to arrive until then.
const MARGIN: Duration = Duration::from_secs(10);
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
    /// Anything else.
    Failed(String),
}

/// A Lease that this run holds. It gives the Lease back when it is dropped.
pub(super) struct Lock {
    lease: Lease,
    held: Arc<Mutex<Held>>,
    /// Ends the renewals when it goes.
    stop: Option<Sender<()>>,
    renewals: Option<JoinHandle<()>>,
}

/// What the last request said of the Lease.
struct Held {
    version: String,
    /// When that request was sent.
    sent: Instant,
    is_lost: bool,
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
        let failed =
            |error: Refusal| Refused::Failed(format!("the Lease {} cannot be taken: {error}", lease.name));
        let sent = Instant::now();
        match lease.create() {
            Ok(version) => Ok(Self::hold(lease, version, sent)),
            Err(error) if error.reason == Reason::Forbidden => Err(failed(error)),
            // It is there, or the answer was lost.
            Err(_) => lease.take_over(interrupt, force),
        }
    }

    fn hold(lease: Lease, version: String, sent: Instant) -> Self {
        let held = Arc::new(Mutex::new(Held { version, sent, is_lost: false }));
        let (stop, stopped) = mpsc::channel();
        let (its, of) = (lease.clone(), Arc::clone(&held));
        let renewals = thread::spawn(move || {
            while stopped.recv_timeout(RENEWAL) == Err(RecvTimeoutError::Timeout) && its.renew(&of) {}
        });
        Self { lease, held, stop: Some(stop), renewals: Some(renewals) }
    }

    /// Returns an error unless the API server says that this run still holds the Lease, and will for a while.
    pub(super) fn check(&self) -> Result<(), String> {
        let lease = self.lease.read().map_err(|error| format!("the Lease cannot be read: {error}"))?;
        match lease {
            Some(lease) if self.lease.is_holder(&lease) => {}
            Some(lease) => return Err(format!("run {} has taken the Lease over", short(holder(&lease)))),
            None => return Err("somebody has deleted the Lease".to_owned()),
        }
        if lock(&self.held).sent.elapsed() + MARGIN > DURATION {
            return Err("the Lease could not be renewed".to_owned());
        }
        Ok(())
    }

    /// Whether another run may have written since, as far as is known.
    pub(super) fn is_lost(&self) -> bool {
        lock(&self.held).is_lost
    }

    /// Gives the Lease back. An error names the command that removes it.
    pub(super) fn release(mut self) -> Result<(), String> {
        self.end()
    }

    fn end(&mut self) -> Result<(), String> {
        self.stop.take();
        let Some(renewals) = self.renewals.take() else { return Ok(()) };
        let _ = renewals.join();
        let held = lock(&self.held);
        if held.is_lost {
            return Ok(());
        }
        match self.lease.delete(&held.version) {
            Ok(()) => Ok(()),
            // Somebody else has it, or has deleted it.
            Err(error) if matches!(error.reason, Reason::NotFound | Reason::Conflict) => Ok(()),
            Err(error) => Err(format!("the Lease {} is left: {error}", self.lease.name)),
        }
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

    /// The object, to write over this version, or to create.
    fn object(&self, version: Option<&str>) -> String {
        json!({
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": { "name": self.name, "ownerReferences": [self.owner], "resourceVersion": version },
            "spec": {
                "holderIdentity": self.holder,
                "leaseDurationSeconds": DURATION.as_secs(),
                "acquireTime": self.acquired,
                "renewTime": now(),
            },
        })
        .to_string()
    }

    /// The functions below return the version of the Lease.
    fn create(&self) -> Result<String, Refusal> {
        self.call(&["create", "--raw", &self.collection, "--filename", "-"], &self.object(None))
    }

    fn replace(&self, version: &str) -> Result<String, Refusal> {
        self.call(&["replace", "--raw", &self.path(), "--filename", "-"], &self.object(Some(version)))
    }

    fn call(&self, words: &[&str], object: &str) -> Result<String, Refusal> {
        let text = self.kubectl.call(words, object)?.result()?;
        Ok(version(&serde_json::from_str(&text).unwrap_or_default()).to_owned())
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

    fn delete(&self, version: &str) -> Result<(), Refusal> {
        let options = json!({
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "preconditions": { "resourceVersion": version },
        });
        let words = ["delete", "--raw", &self.path(), "--filename", "-"];
        self.kubectl.call(&words, &options.to_string())?.result().map(drop)
    }

    /// Renews the Lease once. False if it is lost.
    fn renew(&self, held: &Mutex<Held>) -> bool {
        let (version, sent) = (lock(held).version.clone(), Instant::now());
        let renewed = self.replace(&version).or_else(|error| match self.read() {
            // The answer to an earlier renewal was lost.
            Ok(Some(lease)) if error.reason == Reason::Conflict && self.is_holder(&lease) => {
                Ok(self::version(&lease).to_owned())
            }
            _ => Err(error),
        });
        let mut held = lock(held);
        match renewed {
            Ok(version) => (held.version, held.sent) = (version, sent),
            Err(error) if matches!(error.reason, Reason::NotFound | Reason::Conflict) => held.is_lost = true,
            // The API server may answer again in time.
            Err(_) => {}
        }
        !held.is_lost
    }

    /// Watches the Lease of another run, until it is renewed, is given back, or has not been renewed for as long as it lasts.
    fn take_over(self, interrupt: &Interrupt, force: bool) -> Result<Lock, Refused> {
        let failed =
            |error: Refusal| Refused::Failed(format!("the Lease {} cannot be taken: {error}", self.name));
        let mut seen: Option<(String, Instant)> = None;
        let waiting = Waiting::new();
        loop {
            let sent = Instant::now();
            let taken = match self.read().map_err(failed)? {
                None => self.create(),
                Some(lease) => {
                    let version = version(&lease);
                    if self.is_holder(&lease) {
                        return Ok(Lock::hold(self, version.to_owned(), sent));
                    }
                    let is_first = seen.is_none();
                    let (first, since) = seen.get_or_insert_with(|| (version.to_owned(), sent));
                    let is_renewed = !is_first && first != version;
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
                    self.replace(version)
                }
            };
            match taken {
                Ok(version) => return Ok(Lock::hold(self, version, sent)),
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

fn version(lease: &Value) -> &str {
    lease["metadata"]["resourceVersion"].as_str().unwrap_or_default()
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
