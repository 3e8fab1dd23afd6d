//! What a reader should know about an order besides the counts: that a scale-down waits, who else sets the count, and which deletion
//! costs are podrank's own.

use crate::answer::note::{Note, NoteCode};
use crate::answer::rest::WaitsFor;
use crate::answer::standing::ScaleDownOrder;
use crate::ask::options::Options;
use crate::decide::standing::at;
use crate::decide::workload::preview_workload;
use crate::decide::{interference, leftovers};
use crate::dump::input::Input;
use crate::words::error::Error;
use crate::words::text;

/// Adds it to an order of this input.
///
/// # Errors
/// As [`preview_workload`].
pub fn add_order_notes(
    order: &mut ScaleDownOrder<'_>,
    input: &Input,
    options: &Options,
) -> Result<(), Error> {
    leftovers::mark(order, input);
    let waits = waits(order, input, options)?;
    order.notes.extend(waits);
    interference::add_to_order(order, input);
    Ok(())
}

/// The pod that keeps the first pod from going, whatever the count. What waits already is in the rest.
fn waits(order: &ScaleDownOrder<'_>, input: &Input, options: &Options) -> Result<Option<Note>, Error> {
    let is_said = order.rest.as_ref().is_some_and(|rest| rest.waits_for == Some(WaitsFor::Pods));
    let pods = u32::try_from(order.active).unwrap_or(u32::MAX);
    let fewer = order.asked.replicas.and_then(|count| count.min(pods).checked_sub(1));
    let (kind, name) = (order.workload.kind, order.workload.name);
    let Some(fewer) = fewer.filter(|_| kind.is_direct() && !is_said) else { return Ok(None) };
    let one = preview_workload(input, &Options { odds: false, ..at(options, kind, fewer) })?;
    Ok(one.blocked.first().map(|first| {
        let text = format!(
            "a scale-down of {}/{} waits for {}, and until then none of its pods goes at any count: {}",
            kind.short(),
            text::name(name),
            text::name(&first.by),
            first.why
        );
        Note::new(NoteCode::ScaleDownWaits, text)
    }))
}
