//! `deployment`: a Deployment's next sync against a naive implementation of Kubernetes' code, in Rust and through C, and the
//! texts that it depends on against their grammars.

use crate::case::extended;
use arbitrary::{Result, Unstructured};
use podrank::Time;
use podrank::controller::deployment::{Deployment, ReplicaSet, SetFlags, Strategy};
use podrank::controller::{IntOrPercent, IntOrPercentError, MAX_PERCENT};
use podrank_laws::Core;
use podrank_laws::deployment::{Deployments, later_syncs_follow, list_order_is_nothing, sync_is_upstreams};
use podrank_through_c::implementation::C;

/// The target.
pub fn run(data: &[u8]) {
    let bytes = extended(data, 1024);
    run_with(&mut Unstructured::new(&bytes)).expect("zeros where bytes end");
}

fn run_with(u: &mut Unstructured<'_>) -> Result<()> {
    if u.ratio(1, 8)? {
        let (desired, max, percent) = (text(u)?, text(u)?, text(u)?);
        texts_are_gos(&Core, &desired, &max, &percent);
        texts_are_gos(&C, &desired, &max, &percent);
        return Ok(());
    }
    let (deployment, sets) = case(u)?;
    sync_is_upstreams(&Core, &deployment, &sets);
    sync_is_upstreams(&C, &deployment, &sets);
    let mut order: Vec<usize> = (0..sets.len()).collect();
    order.rotate_left(u.choose_index(sets.len().max(1))?);
    if u.arbitrary()? {
        order.reverse();
    }
    list_order_is_nothing(&Core, &deployment, &sets, &order);
    let mut statuses = [[0; 2]; 16];
    for number in statuses.as_flattened_mut() {
        *number = u.int_in_range(0..=15)?;
    }
    later_syncs_follow(&Core, &deployment, &sets, &statuses);
    Ok(())
}

/// A Deployment and up to 20 sets that collide.
pub fn case(u: &mut Unstructured<'_>) -> Result<(Deployment, Vec<ReplicaSet>)> {
    // In one of four, sums do not fit 32 bits.
    let huge = u.ratio(1, 4)?;
    let replicas = number(u, huge)?;
    let deployment = Deployment {
        replicas,
        status_replicas: number(u, huge)?,
        strategy: if u.ratio(1, 5)? {
            Strategy::Recreate { old_pods_run: u.ratio(1, 4)? }
        } else {
            Strategy::RollingUpdate { max_surge: budget(u, huge)?, max_unavailable: budget(u, huge)? }
        },
        is_paused: u.ratio(1, 8)?,
        is_being_deleted: u.ratio(1, 32)?,
        is_rolling_back: u.ratio(1, 32)?,
    };
    let most = if u.ratio(1, 16)? { 20 } else { 6 };
    let len = u.int_in_range(0..=most)?;
    // An odd step makes each number below 64 once.
    let step = u.int_in_range(0..=31_u32)? * 2 + 1;
    let mut sets = Vec::new();
    for i in 0..len {
        let mut set = set(u, huge, replicas)?;
        set.name_order = (i * step) % 64;
        sets.push(set);
    }
    Ok((deployment, sets))
}

fn set(u: &mut Unstructured<'_>, huge: bool, count: i32) -> Result<ReplicaSet> {
    let size = if u.ratio(1, 4)? { count } else { number(u, huge)? };
    let available_replicas = match u.int_in_range(0..=7_u8)? {
        0..=3 => size,
        4 => size.saturating_sub(1).max(0),
        5 => size.saturating_add(1),
        6 => 0,
        _ => number(u, huge)?,
    };
    let desired_replicas = if u.ratio(3, 4)? { count } else { number(u, huge)? };
    let max_replicas = if u.ratio(1, 2)? {
        desired_replicas.saturating_add(u.int_in_range(0..=2)?)
    } else {
        number(u, huge)?
    };
    let times =
        [Time::UNSET, Time::MIN, Time::from_unix(1_700_000_000, 0), Time::from_unix(1_700_000_001, 0)];
    Ok(ReplicaSet {
        creation_time: *u.choose(&times)?,
        replicas: size,
        status_replicas: if u.arbitrary()? { 0 } else { number(u, huge)? },
        available_replicas,
        desired_replicas,
        max_replicas,
        flags: SetFlags::from_bits(*u.choose(&[0, 1, 2, 2, 3, 8, 10, 10, 10, 10, 11, 11, 11, 12, 13])?),
        ..ReplicaSet::new()
    })
}

fn budget(u: &mut Unstructured<'_>, huge: bool) -> Result<IntOrPercent> {
    let percents = [0, 1, 10, 25, 33, 50, 99, 100, 150, 400, MAX_PERCENT];
    Ok(match u.int_in_range(0..=3_u8)? {
        0 => IntOrPercent::Int(number(u, huge)?),
        1 => IntOrPercent::Int(u.int_in_range(0..=2)?),
        _ => IntOrPercent::Percent(*u.choose(&percents)?),
    })
}

fn number(u: &mut Unstructured<'_>, huge: bool) -> Result<i32> {
    if huge && u.arbitrary()? {
        let edges = [i32::MAX, i32::MAX - 1, 1 << 30, (1 << 30) - 1, 2_000_000_000, 715_827_883];
        return u.choose(&edges).copied();
    }
    Ok(*u.choose(&[0, 0, 1, 2, 3, 4, 5, 7, 8, 10, 11, 13, 30, 100])?)
}

/// Digits, with what else may stand around them.
pub fn text(u: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let numbers = [
        "",
        "0",
        "7",
        "25",
        "007",
        "2147483647",
        "2147483648",
        "4194304",
        "4194305",
        "4294967301",
        "9223372036854775807",
        "9223372036854775808",
        "9223372036854775809",
        "18446744073709551621",
        "1x",
        "1_0",
    ];
    let text = [
        *u.choose(&["", "", "", "-", "+", " ", "--"])?,
        *u.choose(&numbers)?,
        *u.choose(&["", "", "%", "%", "%%", " ", "\n"])?,
    ];
    Ok(text.concat().into_bytes())
}

/// What `strconv.Atoi` makes of a text, cut to 32 bits; and whether `ParseUint` and a look at its size accept it too.
pub fn annotation(text: &[u8]) -> Option<(i32, bool)> {
    // Rust's parsers take what Go's do.
    let number: i64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    let is_valid = text[0].is_ascii_digit() && i32::try_from(number).is_ok();
    #[allow(clippy::cast_possible_truncation)] // as Go's int32(int)
    Some((number as i32, is_valid))
}

/// A percentage of digits, up to the largest.
pub fn percent(text: &[u8]) -> Option<u32> {
    let digits = text.strip_suffix(b"%").filter(|digits| digits.iter().all(u8::is_ascii_digit))?;
    let number: u128 = std::str::from_utf8(digits).ok()?.parse().ok()?;
    u32::try_from(number).ok().filter(|number| *number <= MAX_PERCENT)
}

fn texts_are_gos(deployments: &impl Deployments, desired: &[u8], max: &[u8], percentage: &[u8]) {
    let mut set = ReplicaSet::new();
    deployments.set_annotations(&mut set, desired, max);
    let valid = |text| annotation(text).filter(|(_, is_valid)| *is_valid);
    let expected = ReplicaSet {
        desired_replicas: annotation(desired).map_or(0, |(number, _)| number),
        max_replicas: valid(max).map_or(0, |(number, _)| number),
        flags: SetFlags::NONE
            .with(SetFlags::DESIRED, valid(desired).is_some())
            .with(SetFlags::DESIRED_LENIENT, annotation(desired).is_some_and(|(_, is_valid)| !is_valid))
            .with(SetFlags::MAX, valid(max).is_some()),
        ..ReplicaSet::new()
    };
    assert_eq!(set, expected, "{desired:?} {max:?}");
    let found = deployments.percent(percentage);
    assert_eq!(found.ok(), percent(percentage), "{percentage:?}");
    if let Err(error) = found {
        let has_sign = percentage.ends_with(b"%");
        assert_eq!(error == IntOrPercentError::NoPercentSign, !has_sign, "{percentage:?}");
        assert_eq!(error == IntOrPercentError::NoDigits, percentage == b"%", "{percentage:?}");
    }
}
