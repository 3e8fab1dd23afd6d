//! When a dump was taken, as far as it tells, and what depends on that. Reads one object's JSON, or a whole input; reads no clock.
//!
//! Ages decide, so a dump that is judged later than it was taken can show other verdicts. A file tells when it was written,
//! which cannot be before the newest time in the dump. If its workloads were at rest, it may be long after that time.

use crate::answer::note::{Note, NoteCode};
use crate::answer::preview::{Contest, PodPreview, Pods, Preview, Verdict};
use crate::answer::probability::Cases;
use crate::decide::agree::agree;
use crate::question::options::{NowSource, Options, Within};
use crate::snapshot::read::Input;
use crate::text::error::Error;
use jiff::{SignedDuration, Timestamp};
use podrank::Time;
use std::collections::{BTreeMap, BTreeSet};

/// By how much the clocks of a cluster may be ahead.
const MINUTE: SignedDuration = SignedDuration::from_mins(1);

impl Input {
    /// Returns the time for a decision about this input if the user gives none, and where that time comes from.
    /// `modified` is the modification time of the file that was read, if it was one.
    ///
    /// For a file, it is `modified`, unless that is before the newest time in the input: then it is that newest time, because
    /// nothing can be seen before it happened. Times more than a minute after `clock` do not count: no dump is from the
    /// future.
    pub fn moment(&self, modified: Option<Timestamp>, clock: Timestamp) -> (Timestamp, NowSource) {
        let newest = self.moments.iter().filter_map(|nanos| Timestamp::from_nanosecond((*nanos).into()).ok());
        let is_past = |moment: &Timestamp| moment.duration_since(clock) <= MINUTE;
        match (newest.filter(is_past).max(), modified) {
            (Some(newest), Some(modified)) => match Some(modified).filter(is_past) {
                Some(modified) if modified >= newest => (modified, NowSource::FileTime),
                _ => (newest, NowSource::NewestTime),
            },
            // Without a time in the input, there is no age that could change.
            _ => (clock, NowSource::Clock),
        }
    }
}

/// Decides at the time of the options, and at all times at which the controller may decide instead. `at` decides at one time.
pub(crate) fn decide<'a>(
    options: &Options,
    at: impl Fn(&Options) -> Result<Preview<'a>, Error>,
) -> Result<Preview<'a>, Error> {
    let mut preview = at(options)?;
    let (from, to) = span(options);
    let times = preview.pods().flat_map(|pod| [pod.details.creation_time, pod.details.ready_time]);
    let moments = moments(times.flatten(), from, to);
    if moments.len() > 1 && !preview.workload.kind.is_direct() {
        let cases: Vec<_> = moments
            .iter()
            .map(|now| at(&Options { now: *now, ..options.clone() }))
            .collect::<Result<_, _>>()?;
        over_time(&mut preview, cases, &shares(&moments, options), from, to);
    }
    preview.notes.splice(..0, time_of_dump(options));
    preview.replay = preview.words();
    Ok(preview)
}

/// From when to when the controller may decide.
fn span(options: &Options) -> (Timestamp, Timestamp) {
    let Within { before, after } = options.within;
    let from = options.now.checked_sub(before).unwrap_or(Timestamp::MIN);
    (from, options.now.checked_add(after).unwrap_or(Timestamp::MAX))
}

/// The times at which ages that count from these times may decide otherwise than before.
pub(crate) fn moments_of(times: impl Iterator<Item = Time>, options: &Options) -> Vec<Timestamp> {
    let (from, to) = span(options);
    let times = times.filter_map(|time| Timestamp::from_nanosecond(time.unix_nanos()?.into()).ok());
    moments(times, from, to)
}

/// How long each of these moments lasts, until the next one or until the controller has decided.
pub(crate) fn shares(moments: &[Timestamp], options: &Options) -> Vec<f64> {
    let (_, to) = span(options);
    let ends = moments.iter().skip(1).chain([&to]);
    moments.iter().zip(ends).map(|(from, to)| to.duration_since(*from).as_secs_f64()).collect()
}

/// The most moments at which a preview is decided again.
const MOST_MOMENTS: usize = 48;

/// The start, and the times until the end at which the age of a pod reaches a power of two: between two of them, nothing changes.
fn moments(times: impl Iterator<Item = Timestamp>, from: Timestamp, to: Timestamp) -> Vec<Timestamp> {
    let mut moments = BTreeSet::from([from]);
    for time in times.collect::<BTreeSet<_>>() {
        for exponent in 0..i64::BITS - 1 {
            let edge = time.checked_add(SignedDuration::from_nanos(1 << exponent));
            moments.extend(edge.ok().filter(|edge| (from..=to).contains(edge)));
        }
    }
    // Of very young pods, ages reach a power of two all the time.
    let every = moments.len().div_ceil(MOST_MOMENTS);
    moments.into_iter().step_by(every).collect()
}

/// Makes a pod certain only if it is in all cases.
fn over_time<'a>(
    preview: &mut Preview<'a>,
    cases: Vec<Preview<'a>>,
    shares: &[f64],
    from: Timestamp,
    to: Timestamp,
) {
    let why = format!("ages decide, and reach a power of two between {from:.0} and {to:.0}");
    let at_now: BTreeMap<_, _> = preview.pods().map(|pod| (pod.uid.clone(), pod.clone())).collect();
    let mut of_sets: Vec<Vec<Vec<PodPreview<'a>>>> = Vec::new();
    for case in cases {
        if let (Some(rest), Some(theirs)) = (&mut preview.rest, &case.rest) {
            rest.widen(theirs);
        }
        let lists = match case.of {
            Pods::Pods(pods) => vec![pods],
            Pods::Sets(sets) => sets.into_iter().map(|set| set.pods).collect(),
        };
        of_sets.resize_with(of_sets.len().max(lists.len()), Vec::new);
        for (set, pods) in of_sets.iter_mut().zip(lists) {
            set.push(pods);
        }
    }
    let agreed = of_sets
        .into_iter()
        .map(|cases| agree(cases, Cases::Shares(shares), Contest::Ages, &why))
        .map(|mut pods| {
            for pod in &mut pods {
                if let Some(now) = at_now.get(&pod.uid) {
                    pod.details = now.details.clone();
                    if pod.verdict == now.verdict && pod.verdict != Verdict::Contested {
                        (pod.rule, pod.why) = (now.rule, now.why.clone());
                    }
                }
            }
            pods
        });
    match &mut preview.of {
        Pods::Pods(pods) => *pods = agreed.into_iter().next().unwrap_or_default(),
        Pods::Sets(sets) => {
            for (set, pods) in sets.iter_mut().zip(agreed) {
                set.pods = pods;
            }
        }
    }
    preview.count_quotas();
}

/// Says where the time of the decision comes from.
fn time_of_dump(options: &Options) -> Option<Note> {
    let now = options.now;
    let source = match options.now_source {
        NowSource::Given | NowSource::Clock => None,
        NowSource::FileTime => Some(format!(
            "ages count to {now:.0}, when the file was last changed; if it is a copy, give the time of its dump with --now"
        )),
        NowSource::NewestTime => Some(format!(
            "ages count to {now:.0}, the newest time in the file, because the file's own time is not plausible; --now sets another time"
        )),
    };
    source.map(|text| Note::new(NoteCode::TimeOfDump, text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::time::deletion;
    use podrank_laws::objects;
    use serde_json::{Value, json};

    const CLOCK: &str = "2026-03-11T12:00:00Z";

    fn at(text: &str) -> Timestamp {
        text.parse().expect("a time")
    }

    fn input(items: &[Value]) -> Input {
        Input::read(objects::dump(items).as_bytes()).expect("a dump")
    }

    /// A pod that was created at noon, with this at its place.
    fn pod(place: &str, value: Value) -> Value {
        let pod = objects::with(objects::pod(1), "metadata creationTimestamp", json!("2026-03-10T12:00:00Z"));
        objects::with(pod, place, value)
    }

    /// The newest time in an input of these objects, as a file that is older than all of them shows it.
    fn newest(items: &[Value]) -> String {
        let (now, source) = input(items).moment(Some(at("1980-01-01T00:00:00Z")), at(CLOCK));
        assert_eq!(source, NowSource::NewestTime);
        now.to_string()
    }

    #[test]
    fn what_has_happened_counts_and_what_is_to_come_does_not() {
        let later = "2026-03-10T13:00:00Z";
        let state = |times: Value| json!([{ "name": "main", "restartCount": 1, "state": times }]);
        for (place, value) in [
            ("metadata creationTimestamp", json!(later)),
            ("metadata managedFields", json!([{ "time": later }, {}])),
            ("status startTime", json!(later)),
            ("status conditions", json!([{ "type": "Ready", "lastTransitionTime": later }])),
            ("status containerStatuses", state(json!({ "running": { "startedAt": later } }))),
            ("status initContainerStatuses", state(json!({ "terminated": { "finishedAt": later } }))),
        ] {
            let mut pod = pod(place, value);
            assert_eq!(newest(&[pod.clone()]), later, "{place}");
            // What is unsound is read in another way.
            pod["spec"]["nodeName"] = json!(7);
            assert_eq!(newest(&[pod]), later, "{place} of an unsound pod");
        }
        let noon = "2026-03-10T12:00:00Z";
        for (place, value) in [
            ("metadata annotations", json!({ "restartedAt": later })),
            ("spec notBefore", json!(later)),
            ("status notAfter", json!(later)),
            ("status startTime", json!("soon")),
            ("status containerStatuses", state(json!({ "running": { "startedAt": [later] } }))),
            // It is when the pod will be gone, and nothing says since when it goes.
            ("metadata deletionTimestamp", json!(later)),
            // No dump is from the future.
            ("status startTime", json!("9999-12-31T23:59:59Z")),
        ] {
            let noon_pod = pod("metadata name", json!("web-2"));
            assert_eq!(newest(&[noon_pod, pod(place, value)]), noon, "{place}");
        }
    }

    #[test]
    fn a_deletion_is_asked_for_a_grace_period_before_its_timestamp() {
        let mut deleted = pod("metadata deletionTimestamp", json!("2026-03-10T13:00:30Z"));
        deleted["metadata"]["deletionGracePeriodSeconds"] = json!(1830);
        assert_eq!(newest(&[deleted.clone()]), "2026-03-10T12:30:00Z");
        deleted["spec"]["nodeName"] = json!(7);
        assert_eq!(newest(&[deleted]), "2026-03-10T12:30:00Z");
        assert_eq!(deletion(Some(i64::MIN), Some(1)), None);
        assert_eq!(deletion(Some(0), Some(i64::MAX)), None);
    }

    #[test]
    fn every_kind_has_its_times() {
        let later = "2026-03-10T13:00:00Z";
        for (api_version, kind, condition) in [
            ("apps/v1", "ReplicaSet", "lastTransitionTime"),
            ("apps/v1", "Deployment", "lastUpdateTime"),
            ("v1", "Node", "lastHeartbeatTime"),
            ("batch/v1", "Job", "lastTransitionTime"),
        ] {
            let object = json!({
                "apiVersion": api_version,
                "kind": kind,
                "metadata": { "name": "a", "uid": "a" },
                "spec": { "selector": {}, "template": {} },
                "status": { "conditions": [null, { condition: later }] },
            });
            assert_eq!(newest(&[pod("metadata name", json!("web-2")), object]), later, "{kind}");
        }
    }

    #[test]
    fn the_time_is_that_of_the_file_if_it_is_plausible() {
        let input = input(&[pod("metadata name", json!("web-1"))]);
        let noon = "2026-03-10T12:00:00Z";
        for (modified, now, source) in [
            (Some(noon), noon, NowSource::FileTime),
            // A workload at rest.
            (Some("2026-03-11T11:00:00Z"), "2026-03-11T11:00:00Z", NowSource::FileTime),
            (Some("2026-03-11T12:01:00Z"), "2026-03-11T12:01:00Z", NowSource::FileTime),
            (Some("2026-03-11T12:01:00.000000001Z"), noon, NowSource::NewestTime),
            (Some("2026-03-10T11:59:59.999999999Z"), noon, NowSource::NewestTime),
            (Some("1980-01-01T00:00:00Z"), noon, NowSource::NewestTime),
            (None, CLOCK, NowSource::Clock),
        ] {
            assert_eq!(input.moment(modified.map(at), at(CLOCK)), (at(now), source), "{modified:?}");
        }
        // A clock that is far behind is right all the same, as it is for a cluster.
        let early = at("2026-03-10T11:58:59Z");
        assert_eq!(input.moment(Some(at(noon)), early), (early, NowSource::Clock));
        let near = at("2026-03-10T11:59:00Z");
        assert_eq!(input.moment(Some(near), near), (at(noon), NowSource::NewestTime));
    }
}
