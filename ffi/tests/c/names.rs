//! The scheme of C's names, over the list of all that is declared, ffi/abi.txt; and what the headers say of every function.

use podrank::Rule;
use podrank_ffi::podrank_rule_str;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CStr;

const ABI: &str = include_str!("../../abi.txt");

/// What no struct or function is named after: statuses.
const OTHERS: [&str; 2] = ["OK", "ERR"];

/// The names of this sort, and what the list says of them.
pub(crate) fn all(sort: &str) -> BTreeMap<&str, &str> {
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
    assert!(constants.len() > 60, "{}", constants.len());
    for name in constants.keys() {
        let name = name.strip_prefix("PODRANK_").expect("the library's prefix");
        let is_its = |object: &&str| {
            name.strip_prefix(object).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
        };
        assert!(objects.iter().any(is_its), "PODRANK_{name} starts with no object");
    }
}

/// The constants of the rules have the numbers and names of the core's rules, and C gives them these names. Go's names are made of the
/// constants.
#[test]
fn rules_are_the_cores() {
    let rules: BTreeMap<_, _> =
        Rule::ALL.iter().map(|rule| (rule.number(), rule.name().to_owned())).collect();
    let constants = all("constant").into_iter().filter_map(|(name, number)| {
        let name = name.strip_prefix("PODRANK_RULE_").filter(|name| *name != "NONE")?;
        Some((number.parse().expect("a byte"), name.to_lowercase().replace('_', "-")))
    });
    assert_eq!(constants.collect::<BTreeMap<u8, _>>(), rules);
    for number in 0..=u8::MAX {
        let text = podrank_rule_str(number);
        // SAFETY: NULL or a static text.
        let name = (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_str().unwrap());
        assert_eq!(name, rules.get(&number).map(String::as_str));
    }
}

/// Parameters with the length of a list, which can be long.
const LISTS: [&str; 3] = ["pods_len", "table_len", "key_storage_len"];

#[test]
fn functions_that_take_a_list_say_how_their_time_grows() {
    let headers = concat!(
        include_str!("../../../include/podrank.h"),
        include_str!("../../../include/podrank/controller.h"),
        include_str!("../../../include/podrank/probabilities.h"),
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
