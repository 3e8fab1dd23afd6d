//! Replays every seed and every past finding through the targets, with the stable compiler and without a fuzzer.

use podrank::Rule;
use podrank_fuzz::TARGETS;
use podrank_fuzz::case::Case;
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
    for &(target, run) in TARGETS {
        let seeds = files("seeds", target);
        assert!(!seeds.is_empty(), "{target} has no seeds");
        for seed in seeds {
            // Names the seed if the target panics.
            println!("{}", seed.display());
            run(&fs::read(seed).expect("a readable seed"));
        }
    }
}

/// The scripts and cargo know the targets that this library has.
#[test]
fn every_list_has_every_target() {
    let read = |file| fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).expect(file);
    let (scripts, manifest) = (read("lib.sh"), read("Cargo.toml"));
    let targets: Vec<_> = TARGETS.iter().map(|(target, _)| *target).collect();
    assert!(scripts.contains(&format!("\ntargets=({})\n", targets.join(" "))), "fuzz/lib.sh");
    for target in targets {
        assert!(
            manifest.contains(&format!("{{ name = \"{target}\", path")),
            "{target} is not in fuzz/Cargo.toml"
        );
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

/// The seeds reach every rule of the order, and every rule of Kubernetes' relation.
#[test]
fn seeds_reach_every_rule() {
    for (target, most) in [("order", 1..=6), ("settle", 0..=24)] {
        let mut decided = BTreeSet::new();
        for seed in files("seeds", target) {
            let Case { policy, pods, .. } = Case::of(&fs::read(seed).expect("a readable seed"), most.clone());
            for (a, b) in pods.iter().flat_map(|a| pods.iter().map(move |b| (a, b))) {
                let rule =
                    if target == "order" { policy.decide(a, b).1 } else { policy.kubernetes_compare(a, b).1 };
                decided.insert(rule);
            }
        }
        let all = Rule::ALL
            .iter()
            .filter(|rule| target == "order" || ![Rule::Preferred, Rule::Tier].contains(rule));
        let all: BTreeSet<Option<Rule>> = all.copied().map(Some).chain([None]).collect();
        assert_eq!(decided, all, "{target}");
    }
}
