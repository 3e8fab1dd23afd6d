//! Replays every seed and every past finding through the targets, with the stable compiler and without a fuzzer.

use podrank::Rule;
use podrank_fuzz::case::Case;
use podrank_fuzz::{TARGETS, ffi};
use podrank_laws::relation::{Verdict, verdicts};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Returns the files of a target in a directory under `fuzz/`.
fn files(directory: &str, target: &str) -> Vec<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(directory).join(target);
    let entries = fs::read_dir(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut files: Vec<_> = entries.map(|entry| entry.expect("a directory's entry").path()).collect();
    files.sort();
    files
}

#[test]
fn seeds() {
    for (target, run) in TARGETS {
        let seeds = files("seeds", target);
        assert!(!seeds.is_empty(), "{target} has no seeds");
        for seed in seeds {
            // Names the seed if the target panics.
            println!("{}", seed.display());
            run(&fs::read(seed).expect("a readable seed"));
        }
    }
}

/// The scripts and cargo know the targets that this library has, and no others.
#[test]
fn every_list_has_every_target() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |file: &str| fs::read_to_string(root.join(file)).expect(file);
    let targets: BTreeSet<String> = TARGETS.iter().map(|(target, _)| (*target).to_owned()).collect();
    let lib = read("lib.sh");
    let list = lib.lines().find_map(|line| line.strip_prefix("targets=(")?.strip_suffix(')'));
    let list = list.expect("the list").split(' ').map(str::to_owned).collect();
    let manifest = read("Cargo.toml");
    let programs = manifest.lines().filter_map(|line| line.strip_prefix("    { name = \"")?.split_once('"'));
    let programs = programs.map(|(name, _)| name.to_owned());
    let seeds =
        files("seeds", "").into_iter().map(|path| path.file_name().expect("a name").to_string_lossy().into());
    for (place, found) in
        [("lib.sh", list), ("Cargo.toml", programs.collect::<BTreeSet<_>>()), ("seeds/", seeds.collect())]
    {
        assert_eq!(found, targets, "fuzz/{place}, and fuzz/src/lib.rs");
    }
}

#[test]
fn past_findings() {
    for target in files("crashes", "").into_iter().filter(|path| path.is_dir()) {
        let name = target.file_name().expect("a target's name");
        let (target, run) = TARGETS.iter().find(|(target, _)| name == *target).expect("a target of today");
        let findings = files("crashes", target);
        assert!(!findings.is_empty(), "{target} has no findings");
        for finding in findings {
            println!("{}", finding.display());
            run(&fs::read(finding).expect("a readable finding"));
        }
    }
}

/// What a finding of `ffi` was about, it is about today.
#[test]
fn past_findings_call_their_functions() {
    type About = fn(&[usize], &[i64]) -> bool;
    let findings: [(&str, &str, About); 3] = [
        ("no-nodes", "podrank_node_weights", |lens, _| lens == [4, 0]),
        ("options-elsewhere", "podrank_key", |_, _| true),
        ("time-from-unix-nanoseconds", "podrank_time_from_unix", |_, numbers| {
            numbers[0] < -9_223_372_037 && numbers[1] >= 1_000_000_000
        }),
    ];
    let found = files("crashes", "ffi").into_iter().zip(findings).map(|(path, (name, function, about))| {
        assert!(path.ends_with(name), "{}, and not {name}", path.display());
        let (called, lens, numbers) = ffi::called(&fs::read(path).expect("a readable finding"));
        assert!(called == function && about(&lens, &numbers), "{name}: {called} {lens:?} {numbers:?}");
    });
    assert_eq!(found.count(), files("crashes", "ffi").len());
}

/// The seeds reach every rule of the order, every rule of Kubernetes' relation, and every verdict.
#[test]
fn seeds_reach_every_rule() {
    let cases = |target| {
        let most = if target == "order" { 1..=6 } else { 0..=24 };
        let seeds = files("seeds", target).into_iter();
        seeds.map(move |seed| Case::of(&fs::read(seed).expect("a readable seed"), most.clone()))
    };
    let pairs = |case: &Case| {
        let Case { policy, pods, .. } = case.clone();
        let pairs = pods.clone().into_iter().flat_map(move |a| pods.clone().into_iter().map(move |b| (a, b)));
        pairs.map(move |(a, b)| (policy, a, b)).collect::<Vec<_>>()
    };
    let decided: BTreeSet<Option<Rule>> =
        cases("order").flat_map(|case| pairs(&case)).map(|(policy, a, b)| policy.decide(&a, &b).1).collect();
    let all: BTreeSet<Option<Rule>> = Rule::ALL.iter().copied().map(Some).chain([None]).collect();
    assert_eq!(decided, all);

    let settled: BTreeSet<Option<Rule>> = cases("settle")
        .flat_map(|case| pairs(&case))
        .map(|(policy, a, b)| policy.upstream(&a, &b).1)
        .collect();
    assert_eq!(
        settled,
        all.into_iter().filter(|rule| ![Some(Rule::Preferred), Some(Rule::Tier)].contains(rule)).collect()
    );

    let verdicts = cases("settle").flat_map(|case| verdicts(&case.policy, &case.pods, case.k));
    let verdicts: Vec<Verdict> = verdicts.collect();
    for verdict in [Verdict::Certain, Verdict::Contested, Verdict::Safe] {
        assert!(verdicts.contains(&verdict), "{verdict:?}");
    }
}
