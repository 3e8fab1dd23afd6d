//! The shared vectors, through the core.

use podrank::controller::is_active;
use podrank::{DeletionCostError, Key, Phase, Pod, Policy, Uid, UidError, deletion_cost};
use podrank_laws::{Core, laws, relation, vectors};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

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

/// The bytes of a format never change, so a store may keep them. `KEYS=write` writes the file again, for another
/// format.
#[test]
fn keys() {
    #[derive(Serialize, Deserialize)]
    struct Keys {
        format: u32,
        /// By the name of the pair, in hexadecimal digits.
        keys: BTreeMap<String, [String; 2]>,
    }
    let groups = vectors::groups();
    let hex = |policy: &Policy, pod: &Pod| {
        let bytes = policy.key(pod).to_bytes();
        let halves =
            bytes.as_chunks::<16>().0.iter().map(|half| format!("{:032x}", u128::from_be_bytes(*half)));
        halves.collect::<Vec<_>>().concat()
    };
    let cases = groups.iter().flat_map(vectors::Group::pair_cases);
    let keys: BTreeMap<_, _> = cases
        .map(|case| (case.name, [&case.first, &case.second].map(|pod| hex(&case.policy, pod))))
        .collect();
    if std::env::var_os("KEYS").is_some_and(|wish| wish == "write") {
        let text = serde_json::to_string_pretty(&Keys { format: Key::FORMAT, keys }).unwrap();
        fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/vectors/keys.json"), text + "\n")
            .unwrap();
        return;
    }
    let pinned: Keys = serde_json::from_str(&vectors::read("keys.json")).unwrap();
    assert_eq!(pinned.format, Key::FORMAT);
    assert!(pinned.keys.len() > 80, "{} pairs", pinned.keys.len());
    for (name, keys) in keys {
        assert_eq!(pinned.keys.get(&name), Some(&keys), "{name}: other bytes need another Key::FORMAT");
    }
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

/// The files below a folder, or a file, whose names end with `ending`.
fn sources(path: &Path, ending: &str) -> Vec<PathBuf> {
    if path.is_file() {
        return Some(path.to_owned())
            .filter(|path| path.to_string_lossy().ends_with(ending))
            .into_iter()
            .collect();
    }
    let entries = fs::read_dir(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    entries.flat_map(|entry| sources(&entry.unwrap().path(), ending)).collect()
}

/// `tests/vectors/README.md` says which languages read each file, and what it says is so.
#[test]
fn every_file_has_the_readers_that_its_readme_names() {
    // Of each language: where its readers are, and how their code, but no comment, names a FILE that they read.
    const READERS: [(&str, &[&str], &str, &[&str]); 8] = [
        (
            "Rust",
            &["core/tests", "tests/laws/src"],
            ".rs",
            &["read(\"FILE\"", "texts(\"FILE\"", "tests/vectors/FILE\""],
        ),
        ("C", &["tests/vectors/c_table.py"], ".py", &["read(\"FILE\""]),
        ("Go", &["go"], "_test.go", &["(t, \"FILE\"", "tests/vectors/FILE\""]),
        ("JavaScript", &["ffi/targets", "web/test"], ".mjs", &["json(\"FILE\"", "tests/vectors/FILE'"]),
        (
            "the preview",
            &["predict/src", "predict/tests", "cli/tests"],
            ".rs",
            &["read(\"FILE\"", "rounds(\"FILE\"", "tests/vectors/FILE\""],
        ),
        ("the webhook", &["webhook/internal"], "_test.go", &["tests/vectors/FILE\""]),
        ("the benchmark", &["bench/src"], ".rs", &["tests/vectors/FILE\""]),
        ("the judge", &["judge/code"], ".go", &["Read(\"FILE\"", "Path(\"FILE\"", "tests/vectors/FILE\""]),
    ];
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let readers = READERS.map(|(language, places, ending, forms)| {
        let files = places.iter().flat_map(|place| sources(&root.join(place), ending));
        let text: String = files.map(|file| fs::read_to_string(file).unwrap()).collect();
        (language, text, forms)
    });
    let table = vectors::read("README.md");
    let rows = table.lines().filter_map(|line| {
        let [_, file, _, languages, _] = line.split('|').map(str::trim).collect::<Vec<_>>()[..] else {
            return None;
        };
        Some((file.strip_prefix('`')?.strip_suffix('`')?, languages.split(", ").collect::<BTreeSet<_>>()))
    });
    let rows: Vec<_> = rows.collect();
    let named: BTreeSet<_> = rows.iter().map(|(file, _)| (*file).to_owned()).collect();
    let files = fs::read_dir(root.join("tests/vectors")).unwrap();
    let files = files.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let files: BTreeSet<_> =
        files.filter(|file| [".json", ".jsonl.gz"].iter().any(|ending| file.ends_with(ending))).collect();
    assert_eq!(named, files, "the table of tests/vectors/README.md and the files beside it");
    for (file, languages) in rows {
        let reads = |(language, text, forms): &(&'static str, String, &[&str])| {
            let is_read = forms.iter().any(|form| text.contains(&form.replace("FILE", file)));
            is_read.then_some(*language)
        };
        let found: BTreeSet<_> = readers.iter().filter_map(reads).collect();
        assert_eq!(found, languages, "{file}: the readers, and those that tests/vectors/README.md names");
        let both = ["Rust", "Go"].iter().all(|language| languages.contains(language));
        assert!(
            both || ["the preview", "the benchmark"].iter().any(|language| languages.contains(language)),
            "{file}: Rust and Go must read it, or it is for the preview"
        );
    }
}
