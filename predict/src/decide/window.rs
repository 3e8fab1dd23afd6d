//! At which times the controller may decide, and what depends on that. Reads no clock.
//!
//! Ages decide, so a dump that is judged later than it was taken can show other verdicts.

use crate::answer::{Cases, Note, NoteCode, PodAnswer, Preview, Verdict};
use crate::decide::agree;
use crate::question::{Options, TimeSource, Window};
use crate::reason::Chance;
use crate::text::Error;
use jiff::{SignedDuration, Timestamp};
use podrank::Time;
use std::collections::{BTreeSet, HashMap};

/// Decides at the time of the options, and at all times at which the controller may decide instead. `at` decides at one time.
pub(crate) fn decide<'a>(
    options: &Options,
    at: impl Fn(&Options) -> Result<Preview<'a>, Error>,
) -> Result<Preview<'a>, Error> {
    let mut preview = at(options)?;
    let times = |pod: &PodAnswer<'_>| [pod.pod.record.creation_time, pod.pod.record.ready_time];
    let times = decision_times(preview.pods().flat_map(times), options);
    if times.len() > 1 && !preview.workload.kind.is_direct() {
        let case = |now: &Timestamp| at(&Options { now: *now, ..options.clone() });
        let cases = times.iter().map(case).collect::<Result<Vec<_>, _>>()?;
        over_time(&mut preview, cases, &shares(&times, options), span(options));
    }
    preview.notes.splice(..0, time_of_dump(options));
    Ok(preview)
}

/// From when to when the controller may decide.
fn span(options: &Options) -> (Timestamp, Timestamp) {
    let Window { before, after } = options.within;
    let from = options.now.checked_sub(before).unwrap_or(Timestamp::MIN);
    (from, options.now.checked_add(after).unwrap_or(Timestamp::MAX))
}

/// The start, and the times until the end at which an age that counts from one of these times reaches a power of two: between two of
/// them, nothing changes.
pub(crate) fn decision_times(times: impl Iterator<Item = Time>, options: &Options) -> Vec<Timestamp> {
    let (from, to) = span(options);
    let times = times.filter_map(|time| Timestamp::from_nanosecond(time.unix_nanos()?.into()).ok());
    let mut edges = BTreeSet::from([from]);
    for time in times.collect::<BTreeSet<_>>() {
        for exponent in 0..i64::BITS - 1 {
            let edge = time.checked_add(SignedDuration::from_nanos(1 << exponent));
            edges.extend(edge.ok().filter(|edge| (from..=to).contains(edge)));
        }
    }
    // Of very young pods, ages reach a power of two all the time.
    let every = edges.len().div_ceil(MOST_TIMES);
    edges.into_iter().step_by(every).collect()
}

/// How long each of these times lasts, until the next one or until the controller has decided.
pub(crate) fn shares(times: &[Timestamp], options: &Options) -> Vec<f64> {
    let (_, to) = span(options);
    let ends = times.iter().skip(1).chain([&to]);
    times.iter().zip(ends).map(|(from, to)| to.duration_since(*from).as_secs_f64()).collect()
}

/// The most times at which a preview is decided again.
const MOST_TIMES: usize = 48;

/// Makes a pod certain only if it is in all cases.
fn over_time<'a>(
    preview: &mut Preview<'a>,
    cases: Vec<Preview<'a>>,
    shares: &[f64],
    (from, to): (Timestamp, Timestamp),
) {
    let at_now: HashMap<_, _> = preview.pods().map(|pod| (pod.uid(), pod.clone())).collect();
    let mut lists = vec![Vec::new(); preview.groups.len()];
    for case in cases {
        if let (Some(rest), Some(theirs)) = (&mut preview.rest, &case.rest) {
            rest.widen(theirs);
        }
        for (list, group) in lists.iter_mut().zip(case.groups) {
            list.push(group.pods);
        }
    }
    for (group, cases) in preview.groups.iter_mut().zip(lists) {
        group.pods = agree(cases, Cases::Shares(shares), Chance::Ages(from, to));
        for pod in &mut group.pods {
            let now = &at_now[&pod.uid()];
            pod.now = now.now;
            if pod.verdict == now.verdict && pod.verdict != Verdict::Possible {
                pod.reason = now.reason.clone();
            }
        }
    }
}

/// Says that the time of the decision is that of a file.
fn time_of_dump(options: &Options) -> Option<Note> {
    let text = format!(
        "the time of this decision is {:.0}, when the file was last changed: if it is a copy, set the time of the dump (--now)",
        options.now
    );
    (options.time_source == TimeSource::FileTime).then(|| Note::new(NoteCode::Time, text))
}
