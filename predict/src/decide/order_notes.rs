//! What a reader should know about an order besides the counts: that a scale-down waits, who else sets the count, and whose the deletion
//! costs are.

use crate::answer::note::{Note, NoteCode};
use crate::answer::order::ScaleDownOrder;
use crate::answer::preview::{Preview, Verdict};
use crate::answer::rollout::WaitsFor;
use crate::decide::context;
use crate::decide::order::at;
use crate::decide::ranking::MOST_IN_ONE_SYNC;
use crate::decide::workload::preview_workload;
use crate::question::options::Options;
use crate::snapshot::read::Input;
use crate::text;
use crate::text::error::Error;

/// Adds it to an order of this input.
///
/// # Errors
/// As [`preview_workload`].
pub fn add_order_notes(
    order: &mut ScaleDownOrder<'_>,
    input: &Input,
    options: &Options,
) -> Result<(), Error> {
    let waits = waits(order, input, options)?;
    order.notes.extend(waits);
    context::add_to_order(order, input, options);
    Ok(())
}

/// The pod that keeps the first pod from going, and down to which count. What waits already is in the rest.
fn waits(order: &mut ScaleDownOrder<'_>, input: &Input, options: &Options) -> Result<Option<Note>, Error> {
    let is_said = order.rest.as_ref().is_some_and(|rest| rest.waits_for == Some(WaitsFor::Pods));
    let pods = u32::try_from(order.active).unwrap_or(u32::MAX);
    let fewer = order.asked.replicas.and_then(|count| count.min(pods).checked_sub(1));
    let (kind, name) = (order.workload.kind, order.workload.name);
    let Some(fewer) = fewer.filter(|_| kind.is_direct() && !is_said) else { return Ok(None) };
    let preview = |count| preview_workload(input, &Options { odds: false, ..at(options, kind, count) });
    let one = preview(fewer)?;
    let is_blocked = |preview: &Preview<'_>| preview.delete == 0 && preview.count(Verdict::Blocked) > 0;
    let first = one.pods().find_map(|pod| Some((pod.waits_for()?, &pod.reason)));
    let Some((by, reason)) = first.filter(|_| is_blocked(&one)) else { return Ok(None) };
    // At a count at which the pod that is waited for is deleted itself, nothing waits.
    let least = fewer.saturating_sub(u32::try_from(MOST_IN_ONE_SYNC).unwrap_or(u32::MAX));
    let mut down_to = fewer;
    for count in (least..fewer).rev() {
        if !is_blocked(&preview(count)?) {
            break;
        }
        down_to = count;
    }
    order.waits_down_to = Some(down_to);
    let to = if down_to == 0 { String::new() } else { format!(" to {down_to} or more") };
    let [name, by] = [name, &*by].map(text::name);
    let text = format!("a scale-down of {}/{name}{to} waits for {by}: {}", kind.short(), reason.sentence());
    Ok(Some(Note::new(NoteCode::ScaleDownWaits, text)))
}
