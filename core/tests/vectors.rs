//! The shared vectors, through the core.

use podrank::controller::is_active;
use podrank::{DeletionCostError, Phase, Uid, UidError, deletion_cost};
use podrank_laws::{Core, laws, relation, vectors};
use serde::Deserialize;

#[test]
fn pairs() {
    let groups = vectors::groups();
    let cases: Vec<_> = groups.iter().flat_map(vectors::Group::pair_cases).collect();
    for case in &cases {
        let (ordering, rule) = case.policy.decide(&case.first, &case.second);
        assert_eq!(rule, case.rule, "{}", case.name);
        assert_eq!(ordering.is_lt(), case.rule.is_some(), "{}", case.name);
        laws::one_answer(&Core, &case.policy, &case.first, &case.second);
    }
    assert!(cases.len() > 80, "{} pairs", cases.len());
}

#[test]
fn selections() {
    let groups = vectors::groups();
    let cases: Vec<_> = groups.iter().flat_map(vectors::Group::selection_cases).collect();
    for case in &cases {
        case.check(case.policy.select(&case.pods, &mut vec![0; case.delete]).unwrap());
    }
    assert!(cases.len() > 25, "{} selections", cases.len());
}

#[test]
fn relations() {
    let cases = vectors::upstream();
    for case in &cases {
        laws::relation_is_upstreams(&Core, &case.policy, &case.first, &case.second);
        // The naive relation, too, is checked against Kubernetes' own.
        let (relation, _) = relation::relation(&case.policy, &case.first, &case.second);
        assert_eq!(relation, case.relation, "{}", case.name);
    }
    assert!(cases.len() > 600, "{} pairs", cases.len());
}

#[test]
fn steering() {
    let cases = vectors::steering::file().check(&Core);
    assert!(cases >= 19, "{cases} cases");
}

#[test]
fn controller() {
    let file = vectors::controller::file();
    let cases = file.check(&Core);
    assert!(cases > 75, "{cases} cases");
    for pod in &file.active {
        assert_eq!(is_active(Phase::parse(&pod.phase), pod.being_deleted), pod.active, "{pod:?}");
    }
    assert!(file.active.len() >= 10);
}

#[derive(Deserialize)]
struct Case {
    text: String,
    cost: Option<i32>,
    hex: Option<String>,
    error: Option<String>,
}

fn texts(file: &str) -> Vec<Case> {
    serde_json::from_str(&vectors::read(file)).expect(file)
}

#[test]
fn deletion_costs() {
    for case in texts("deletion-cost.json") {
        let error = deletion_cost(&case.text).err().map(|error| match error {
            DeletionCostError::Empty => "empty",
            DeletionCostError::LeadingPlus => "leading plus",
            DeletionCostError::LeadingZero => "leading zero",
            DeletionCostError::NoDigits => "no digits",
            DeletionCostError::NotDigit(_) => "not a digit",
            DeletionCostError::OutOfRange => "out of range",
            _ => "unknown",
        });
        assert_eq!(error, case.error.as_deref(), "{:?}", case.text);
        assert_eq!(deletion_cost(&case.text).ok(), case.cost, "{:?}", case.text);
    }
}

#[test]
fn uids() {
    for case in texts("uid.json") {
        let uid = Uid::parse(&case.text);
        let error = uid.err().map(|error| match error {
            UidError::Length(_) => "length",
            UidError::NotHyphen(_) => "not a hyphen",
            UidError::NotHexDigit(_) => "not a hex digit",
            _ => "unknown",
        });
        assert_eq!(error, case.error.as_deref(), "{:?}", case.text);
        let hex = uid.ok().map(|uid| format!("{:032x}", u128::from_be_bytes(uid.to_bytes())));
        assert_eq!(hex, case.hex, "{:?}", case.text);
        if let Ok(uid) = uid {
            assert_eq!(uid.to_string(), case.text);
        }
    }
}
