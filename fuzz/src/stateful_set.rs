//! `stateful_set`: a `StatefulSet`'s next sync against a naive implementation, in Rust and through C, and the
//! ordinals in names against their grammar.

use crate::case::extended;
use arbitrary::{Result, Unstructured};
use podrank::controller::IntOrPercent;
use podrank::controller::stateful_set::{Member, MemberFlags, PodManagement, StatefulSet, Update};
use podrank_laws::Core;
use podrank_laws::stateful_set::{StatefulSets, sync_is_upstreams};
use podrank_through_c::implementation::C;

/// The target.
pub fn run(data: &[u8]) {
    let bytes = extended(data, 256);
    run_with(&mut Unstructured::new(&bytes)).expect("zeros where bytes end");
}

fn run_with(u: &mut Unstructured<'_>) -> Result<()> {
    if u.ratio(1, 8)? {
        let (set, pod) = (name(u)?, name(u)?);
        for pod in [format!("{set}-{pod}"), pod] {
            let expected = ordinal(set.as_bytes(), pod.as_bytes());
            assert_eq!(Core.ordinal(&set, &pod), expected, "{pod} of {set}");
            assert_eq!(C.ordinal(&set, &pod), expected, "{pod} of {set}");
        }
        return Ok(());
    }
    let (set, members) = case(u)?;
    sync_is_upstreams(&Core, &set, &members);
    sync_is_upstreams(&C, &set, &members);
    Ok(())
}

/// The ordinal in a pod's name, by the grammar of such names.
pub(crate) fn ordinal(set: &[u8], pod: &[u8]) -> Option<i32> {
    let digits = pod.strip_prefix(set)?.strip_prefix(b"-")?;
    let digits = std::str::from_utf8(digits).ok()?;
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
}

/// A `StatefulSet` and its pods.
pub(crate) fn case(u: &mut Unstructured<'_>) -> Result<(StatefulSet, Vec<Member>)> {
    let set = set(u)?;
    let mut members = Vec::new();
    let mut ordinal = set.start.saturating_sub(u.int_in_range(0..=3)?).max(0);
    for _ in 0..u.int_in_range(0..=12)? {
        // Gaps and twins are rare.
        ordinal += i32::from(!u.ratio(1, 16)?) + i32::from(u.ratio(1, 12)?);
        members.push(Member::new(ordinal, flags(u)?));
    }
    let count = members.len().max(1);
    members.rotate_left(u.choose_index(count)?);
    Ok((set, members))
}

fn set(u: &mut Unstructured<'_>) -> Result<StatefulSet> {
    let max_unavailable = if u.arbitrary()? {
        IntOrPercent::Int(u.int_in_range(0..=5)?)
    } else {
        IntOrPercent::Percent(u.int_in_range(0..=120)?)
    };
    Ok(StatefulSet {
        replicas: u.int_in_range(0..=10)?,
        start: if u.arbitrary()? { u.int_in_range(0..=9)? } else { 0 },
        management: if u.arbitrary()? { PodManagement::Parallel } else { PodManagement::OrderedReady },
        update: match u.int_in_range(0..=7_u8)? {
            0 => Update::OnDelete,
            1 => Update::Recreate,
            _ => Update::RollingUpdate { partition: u.int_in_range(0..=5)?, max_unavailable },
        },
        is_being_deleted: u.ratio(1, 32)?,
        max_unavailable_gate: !u.ratio(1, 4)?,
        recreate_gate: u.arbitrary()?,
    })
}

/// Most pods are healthy.
fn flags(u: &mut Unstructured<'_>) -> Result<MemberFlags> {
    let healthy = MemberFlags::RUNNING | MemberFlags::READY | MemberFlags::AVAILABLE;
    Ok(match u.int_in_range(0..=7_u8)? {
        0..=2 => healthy | MemberFlags::UPDATED,
        3..=5 => healthy,
        _ => MemberFlags::from_bits(u.int_in_range(0..=63)?),
    })
}

pub(crate) fn name(u: &mut Unstructured<'_>) -> Result<String> {
    let mut name = String::new();
    for _ in 0..u.int_in_range(0..=12)? {
        name.push(*u.choose(&['-', 'w', '0', '1', '2', '9', '7', '4', '+', ' '])?);
    }
    Ok(name)
}
