//! The scheme of C's names, over the list of all that is declared, ffi/abi.txt; and what the headers say of every function.

use podrank::controller::{daemon_set, deployment, job, stateful_set};
use podrank_ffi::*;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CStr, c_char};

const ABI: &str = include_str!("../../abi.txt");

/// What no struct or function is named after: statuses, no index, the verdicts of several kinds of workload.
const OTHERS: [&str; 4] = ["OK", "ERR", "NONE", "VERDICT"];

/// The names of this sort, and what the list says of them.
fn all(sort: &str) -> BTreeMap<&str, &str> {
    let lines = ABI.lines().filter_map(|line| line.strip_prefix(sort)?.strip_prefix(' ')?.split_once(": "));
    lines.collect()
}

#[test]
fn every_constant_starts_with_its_object() {
    let items = all("size").into_keys().chain(all("function").into_keys());
    let mut objects: BTreeSet<_> = items.map(|name| name.replace("podrank_", "").to_uppercase()).collect();
    // `uid_parse` is about the object `uid`.
    for name in objects.clone() {
        let parts: Vec<_> = name.split('_').collect();
        objects.extend((1..parts.len()).map(|count| parts[..count].join("_")));
    }
    let objects: BTreeSet<_> = objects.iter().map(String::as_str).chain(OTHERS).collect();
    let constants = all("constant");
    assert!(constants.len() > 150, "{}", constants.len());
    for name in constants.keys() {
        let name = name.strip_prefix("PODRANK_").expect("the library's prefix");
        let is_its = |object: &&str| {
            name.strip_prefix(object).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
        };
        assert!(objects.iter().any(is_its), "PODRANK_{name} starts with no object");
    }
}

/// The constants of a kind's reasons have the names and numbers of the core's reasons, and C gives them these names.
#[test]
fn reasons_are_the_cores() {
    macro_rules! kind {
        ($kind:ident, $source:literal, $in_c:ident) => {{
            let reasons = $kind::Reason::ALL.iter().map(|reason| (reason.number(), reason.name()));
            (stringify!($kind), include_str!($source), reasons.collect(), $in_c)
        }};
    }
    type Kind = (&'static str, &'static str, BTreeMap<u8, &'static str>, extern "C" fn(u8) -> *const c_char);
    let kinds: [Kind; 4] = [
        kind!(daemon_set, "../../src/daemon_set.rs", podrank_daemon_set_reason_str),
        kind!(deployment, "../../src/deployment.rs", podrank_deployment_reason_str),
        kind!(job, "../../src/job.rs", podrank_job_reason_str),
        kind!(stateful_set, "../../src/stateful_set.rs", podrank_stateful_set_reason_str),
    ];
    for (kind, source, reasons, in_c) in kinds {
        let start = format!("pub const PODRANK_{}_REASON_", kind.to_uppercase());
        let constants = source.lines().filter_map(|line| {
            let (name, number) = line.strip_prefix(&start)?.strip_suffix(';')?.split_once(": u8 = ")?;
            Some((number.parse().expect("a byte"), name.to_lowercase().replace('_', "-")))
        });
        let constants: BTreeMap<u8, String> = constants.collect();
        assert!(constants.iter().map(|(number, name)| (*number, &**name)).eq(reasons.clone()), "{kind}");
        for number in 0..=u8::MAX {
            let text = in_c(number);
            // SAFETY: NULL or a static text.
            let name = (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_str().unwrap());
            assert_eq!(name, reasons.get(&number).copied());
        }
    }
}

/// So the name of a reason cannot be that of another kind's, even if the wrong function is asked.
#[test]
fn reasons_of_different_kinds_share_no_number() {
    let constants = all("constant");
    let mut kinds = BTreeMap::<_, BTreeSet<u8>>::new();
    for (name, number) in &constants {
        if let Some((kind, _)) = name.split_once("_REASON_") {
            kinds.entry(kind).or_default().insert(number.parse().expect("a byte"));
        }
    }
    let names: Vec<_> = kinds.keys().copied().collect();
    let expected = ["PODRANK_DAEMON_SET", "PODRANK_DEPLOYMENT", "PODRANK_JOB", "PODRANK_STATEFUL_SET"];
    assert_eq!(names, expected, "a reason names its kind of workload");
    let reasons = constants.keys().filter(|name| name.contains("REASON")).count();
    let numbers: BTreeSet<_> = kinds.values().flatten().collect();
    assert_eq!(numbers.len(), reasons);
    assert!(!numbers.contains(&0), "a record of zeros has no reason");
}

/// Parameters with the length of a list, which can be long.
const LISTS: [&str; 5] = ["pods_len", "sets_len", "members_len", "table_len", "room_len"];

#[test]
fn functions_that_take_a_list_say_how_their_time_grows() {
    let headers = concat!(
        include_str!("../../../include/podrank.h"),
        include_str!("../../../include/podrank/controller.h"),
        include_str!("../../../include/podrank/predict.h"),
        include_str!("../../../include/podrank/steer.h"),
    );
    let declarations = headers.split("\n\n").filter(|part| part.ends_with(");"));
    let lists = declarations.filter(|part| LISTS.iter().any(|list| part.contains(&format!("size_t {list}"))));
    let mut count = 0;
    for part in lists {
        let words = part.replace("\n//", "");
        assert!(
            ["he time grows with", "the time does not grow"].iter().any(|it| words.contains(it)),
            "{part}"
        );
        count += 1;
    }
    assert!(count >= 14, "{count}");
}
