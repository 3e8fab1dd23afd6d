//! From an input to a preview: chooses the workload, checks that the input is complete, and decides.

use crate::answer::{PodAnswer, Preview};
use crate::decide::{
    apply_to_sets, check_readable, choose_workload, context, notes, present, preview_deployment,
    preview_direct, preview_set, settled, window,
};
use crate::question::Options;
use crate::snapshot::{Sets, Snapshot, Workload};
use crate::text::Error;

/// Decides which pods of a workload go, and notes what else the reader should know.
///
/// # Errors
/// If the options do not name one workload of the input, if a set or pod that matters is unsound, or if the input is
/// incomplete, unless [`Options::partial`] accepts that.
pub fn preview_workload<'a>(input: &'a Snapshot, options: &Options) -> Result<Preview<'a>, Error> {
    let sets = Sets::of(input);
    let choice = choose_workload(&sets, options)?;
    preview_choice(&sets, choice, options)
}

/// The same for a workload that is chosen already.
pub(crate) fn preview_choice<'a>(
    sets: &Sets<'a>,
    choice: Workload<'a>,
    options: &Options,
) -> Result<Preview<'a>, Error> {
    check_readable(sets, choice)?;
    let mut preview = window::decide(options, |options| preview_at(sets, choice, options))?;
    preview.present = present(sets, choice).ok();
    context::add(&mut preview, sets.input, options);
    let counted = preview.pods().map(PodAnswer::uid);
    preview.notes.extend(notes::not_counted(&choice, sets.pods_of(choice).into_iter(), counted));
    Ok(preview)
}

/// Decides without looking at where the time of the decision comes from.
fn preview_at<'a>(sets: &Sets<'a>, choice: Workload<'a>, options: &Options) -> Result<Preview<'a>, Error> {
    let is_job = matches!(choice, Workload::Job(_));
    if !is_job && (options.parallelism.is_some() || options.completions.is_some() || options.suspend) {
        return Err(Error::new(format!("{choice} is not a Job"))
            .because("Only a Job has a parallelism, has completions or can be suspended."));
    }
    let mut preview = match choice {
        Workload::Deployment(entry) => preview_deployment(sets, entry, options)?,
        Workload::ReplicaSet(_) | Workload::Unlisted(_) => preview_set(sets, choice.id(), options)?,
        _ => preview_direct(sets.input, choice, options)?,
    };
    match settled(sets, choice) {
        Some(settled) => settled.apply(&mut preview),
        None => apply_to_sets(sets, &mut preview),
    }
    Ok(preview)
}
