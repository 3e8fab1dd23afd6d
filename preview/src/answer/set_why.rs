//! Why a Deployment's sync gives a set its size, as a sentence.

use crate::words::text::{count, goes};
use podrank::controller::deployment::{Change, Deployment, Reason, Step};

/// A short sentence with the numbers that decide. `from` is the size that the set has.
pub(crate) fn set_why(deployment: &Deployment, step: &Step, from: i32, change: &Change) -> String {
    let wanted = deployment.replicas;
    let pods = |number: i32| count(number.unsigned_abs(), "pod");
    let surge = step.budgets.surge;
    let allowed = match pods(wanted.wrapping_add(surge)) {
        all if surge == 0 => all,
        all => format!("{all} ({} and a surge of {surge})", count(wanted.unsigned_abs(), "replica")),
    };
    let least = wanted.wrapping_sub(step.budgets.unavailable);
    match change.reason {
        Reason::Untouched => "this sync leaves it alone".to_owned(),
        Reason::OnlyActive => format!("the only set in use has the whole count of {wanted}"),
        Reason::Saturated if from == change.replicas => {
            format!("all {} of the new set are available", pods(wanted))
        }
        Reason::Saturated => format!("the new set has all {} available, so old sets go", pods(wanted)),
        Reason::Share => format!("gets its share: {} of {allowed}", change.replicas),
        Reason::CutShare => format!("what is left of its share of {allowed}"),
        Reason::ShareAndLeftover => {
            let rest = change.replicas.wrapping_sub(from).wrapping_sub(change.part);
            format!(
                "{:+} as its share of {allowed}, and {rest:+} left over by all shares, because it is the largest set",
                change.part
            )
        }
        Reason::UsedUp => "the other sets' shares leave nothing to change".to_owned(),
        Reason::NoShare => {
            "it has no share, because neither its annotation max-replicas nor the Deployment's status has a number"
                .to_owned()
        }
        Reason::NotRolling => {
            "with the strategy Recreate, several sets in use are not scaled in proportion".to_owned()
        }
        Reason::AtCount => format!("the new set already has the count of {wanted}"),
        Reason::ToCount => format!("the new set gets the count of {wanted}"),
        Reason::Grows if change.replicas == wanted => format!("the new set gets the count of {wanted}"),
        Reason::Grows => format!("the new set grows until there are {allowed}"),
        Reason::NoSurge => format!("the new set cannot grow, because at most {allowed} may exist"),
        Reason::AfterNewSet => "this sync only changes the new set; the next one can change old sets".to_owned(),
        Reason::Unhealthy => format!("{} first", unavailable_go(change.part)),
        Reason::Available => format!(
            "{} can go, because {} must stay available",
            pods(change.part),
            least.max(0)
        ),
        Reason::UnhealthyAndAvailable => {
            let more = change.replicas.wrapping_sub(from).wrapping_sub(change.part);
            format!(
                "{} first, and {} more can go, because {} must stay available",
                unavailable_go(change.part),
                more.unsigned_abs(),
                least.max(0)
            )
        }
        Reason::HeldBack => format!("held back, because {} must be available", pods(least.max(0))),
        Reason::Recreated => "with the strategy Recreate, all old pods go first".to_owned(),
        Reason::Waits => "with the strategy Recreate, the new set waits until no old pod is left".to_owned(),
        Reason::Rejected => {
            "its new size would be below 0, which the API server rejects, so the sync ends".to_owned()
        }
        Reason::Lags => {
            "its status lags behind, with more pods available than wanted, so the sync ends".to_owned()
        }
        Reason::NotReached => "the sync ends before it reaches this set".to_owned(),
        // A reason of a later core: its name still says it.
        reason => reason.to_string(),
    }
}

fn unavailable_go(number: i32) -> String {
    let number = number.unsigned_abs();
    format!("{} {}", count(number, "unavailable pod"), goes(number))
}
