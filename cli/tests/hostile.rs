//! Files that are cut short, damaged or garbage must give an error of one line, and never a panic. `fuzz/tests/preview.rs` puts odd values
//! in any place of a dump.

use crate::common::{
    CONTESTED, DAEMON_SET, JOB, NOON, PROGRAM, ROLLOUT, STATEFUL_SET, autoscaler, output, ran, run,
};
use fastrand::Rng;
use jiff::Timestamp;
use kubectl_podrank::terminal::Terminal;
use kubectl_podrank::view::{self, plain};
use podrank_laws::generate::seeds;
use podrank_predict::{Options, Order, Snapshot, is_hidden, preview_workload};
use serde_json::Value;
use std::fmt::Write as _;
use std::process::Command;

/// The preview as JSON, or the error.
fn outcome(dump: &[u8], order: Order) -> Result<String, String> {
    let input = Snapshot::read(dump).map_err(|error| error.to_string())?;
    let mut options = Options::new(2, Timestamp::from_second(1_773_144_000).expect("a time"));
    options.order = order;
    let preview = preview_workload(&input, &options).map_err(|error| error.to_string())?;
    for note in &preview.notes {
        assert!(!note.to_string().is_empty());
    }
    for width in [None, Some(80)] {
        let terminal = Terminal { width, ..Terminal::default() };
        for table in view::wide::tables(&preview, "").iter().chain([&view::answer::table(&preview)]) {
            assert!(!table.text(terminal).is_empty());
        }
    }
    Ok(podrank_predict::json(&preview))
}

/// Neither order panics, and an error is one line that does not repeat the input.
fn survives(dump: &[u8]) {
    for order in [Order::Total, Order::Kubernetes] {
        let Err(error) = outcome(dump, order) else { continue };
        let line = plain(&error);
        assert!(!line.is_empty() && line.lines().count() == 1 && line.len() < 1_000, "{error}");
    }
}

#[test]
fn json_cut_at_every_length_is_an_error() {
    // Without its white space, where a cut changes nothing and which would take four times as long.
    let whole = serde_json::from_str::<Value>(ROLLOUT).expect("JSON").to_string().into_bytes();
    for length in 1..whole.len() {
        let error = Snapshot::read(&whole[..length]).expect_err("it is cut short").to_string();
        assert_eq!(error, format!("line 1 column {length}: the input is cut off here"));
    }
    assert!(Snapshot::read(&whole[..]).is_ok());
}

/// Where only the end behind the last item is missing, it is the whole preview; otherwise an error.
#[test]
fn yaml_cut_at_every_length_is_an_error() {
    let whole = outcome(CONTESTED.as_bytes(), Order::Kubernetes).expect("sound");
    let end_of_kind = CONTESTED.find("kind: List\n").expect("a kind") + "kind: List".len();
    for length in 0..CONTESTED.len() {
        match outcome(&CONTESTED.as_bytes()[..length], Order::Kubernetes) {
            Ok(preview) => assert!(length >= end_of_kind && preview == whole, "{length}: {preview}"),
            // What is left of `metadata:`, behind the kind, may be no YAML.
            Err(error) => {
                assert!(length < end_of_kind || error.contains("line 17"), "{length}: {error}");
            }
        }
    }
}

/// Nine values, then nine times these nine, and so on: a text of a few lines that stands for 9^12 values.
#[test]
fn aliases_of_aliases_have_an_end() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let nine = vec![format!("*a{}", level - 1); 9].join(", ");
        writeln!(bomb, "a{level}: &a{level} [{nine}]").expect("a string");
    }
    let long = format!("a: &a {}\nb: [{}]\n", "x".repeat(1 << 20), vec!["*a"; 1_000].join(", "));
    for text in [bomb, long] {
        let error = Snapshot::read(text.as_bytes()).expect_err("it is too much").to_string();
        assert!(error.starts_with("the input is not YAML\n") && error.contains("alias"), "{error}");
    }
    // As few as people write are fine.
    let labels = ":\n      app: api\n      pod-template-hash: 6c9d8f7b5\n";
    let shared =
        CONTESTED.replacen(labels, &format!(": &labels{}", &labels[1..]), 1).replace(labels, ": *labels\n");
    assert!(shared.matches("*labels").count() > 1, "{shared}");
    assert_eq!(outcome(shared.as_bytes(), Order::Total), outcome(CONTESTED.as_bytes(), Order::Total));
}

#[test]
fn garbage() {
    const MARKS: [&str; 21] = [
        "{", "}", "[", "]", ":", ",", "\"", "\n", "- ", ": ", "? ", "|\n", ">-\n", "&a ", "*a", "!!str ",
        "---\n", "...\n", "\t", "#", "é",
    ];
    let words = [&MARKS[..], &["%YAML 1.2\n", "\"items\":", "kind: List\n"]].concat();
    for seed in seeds(100_000) {
        let mut rng = Rng::with_seed(seed);
        let mut dump = Vec::new();
        for _ in 0..rng.usize(..40) {
            if rng.bool() {
                dump.extend(words[rng.usize(..words.len())].as_bytes());
            } else {
                dump.push(if rng.bool() { rng.u8(..) } else { rng.u8(b' '..=b'~') });
            }
        }
        survives(&dump);
    }
}

/// As the program says it: one line, nothing on standard output, exit 1.
#[test]
fn the_program_fails_in_one_line() {
    let mut rng = Rng::with_seed(seeds(1).start);
    let cuts = (0..40).map(|_| {
        let text =
            if rng.bool() { ROLLOUT } else { &CONTESTED[..CONTESTED.find("kind: List").expect("a kind")] };
        text.as_bytes()[..rng.usize(..text.len() - 2)].to_vec()
    });
    let garbage =
        [&b"\xFF\xFE\0"[..], b"\0", b"{\"items\":[", b"a: [", b"\x1b[31m: *\n", b"%"].map(<[u8]>::to_vec);
    for dump in cuts.collect::<Vec<_>>().into_iter().chain(garbage) {
        let (status, stdout, stderr) = run("--replicas 1 web-7f6b9d5c48", &dump);
        let is_indented = stderr.lines().skip(1).all(|line| line.starts_with("  "));
        assert!(stderr.starts_with("error: standard input: ") && is_indented, "{stderr}");
        assert!(!stderr.replace('\n', "").contains(char::is_control), "{stderr}");
        assert_eq!((status, &*stdout), (Some(1), ""));
    }
}

/// Hidden characters of every kind, with an escape code of terminals. No argument can have the first one.
fn hidden() -> String {
    let is_in = |char: &char| is_hidden(*char) && !('\u{e0080}'..='\u{e00ff}').contains(char);
    "\u{1b}[31m".chars().chain(('\u{1}'..='\u{e01ef}').filter(is_in)).collect()
}

/// The names and other texts of an object with hidden characters behind the first one.
fn hide(value: &mut Value, key: &str, hidden: &str) {
    match value {
        Value::String(text) if is_shown(key) && !text.is_empty() && text != "podrank" => {
            text.insert_str(1, hidden);
        }
        Value::Object(fields) => {
            let parent = if ["labels", "matchLabels"].contains(&key) { "name" } else { "" };
            for (key, value) in fields {
                hide(value, if parent.is_empty() { key } else { parent }, hidden);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| hide(item, key, hidden)),
        _ => {}
    }
}

/// Whether an answer may show what this field has.
fn is_shown(key: &str) -> bool {
    ["name", "namespace", "nodeName", "manager", "message", "reason"].contains(&key)
}

/// An answer hides nothing: JSON and YAML have the names as they are, and all other text has escapes.
fn hides_nothing(args: &[&str], dump: &str, hidden: &str) {
    for format in ["table", "wide", "markdown", "name", "json", "yaml"] {
        let args = [args, &["-o", format, "-f", "-"], &NOON].concat();
        let (_, stdout, stderr) = ran(output(Command::new(PROGRAM).args(&args), dump.as_bytes()));
        for text in [&stdout, &stderr] {
            let found = text.chars().find(|char| *char != '\n' && is_hidden(*char));
            assert_eq!(found, None, "{args:?}: {text:?}");
        }
        let value: Value = match format {
            _ if stdout.is_empty() => continue,
            "json" => serde_json::from_str(&stdout).expect("JSON"),
            "yaml" => serde_norway::from_str(&stdout).expect("YAML"),
            _ => {
                assert!(stdout.contains("\\u{202e}"), "{args:?}: {stdout}");
                continue;
            }
        };
        assert!(has_text(&value, hidden), "{args:?}: {stdout}");
    }
}

fn has_text(value: &Value, text: &str) -> bool {
    match value {
        Value::String(string) => string.contains(text),
        Value::Array(items) => items.iter().any(|item| has_text(item, text)),
        Value::Object(fields) => fields.values().any(|value| has_text(value, text)),
        _ => false,
    }
}

#[test]
fn no_answer_hides_a_character() {
    let hidden = hidden();
    let with_autoscaler: Value = {
        let mut dump: Value = serde_json::from_str(ROLLOUT).expect("JSON");
        let items = dump["items"].as_array_mut().expect("items");
        items.push(autoscaler(("Deployment", "web"), Some(3), 20, Some(5)));
        dump
    };
    let contested = serde_norway::from_str(CONTESTED).expect("YAML");
    let parsed = |text| serde_json::from_str::<Value>(text).expect("JSON");
    for mut dump in [with_autoscaler, contested, parsed(STATEFUL_SET), parsed(DAEMON_SET), parsed(JOB)] {
        hide(&mut dump, "", &hidden);
        let pod = dump["items"].as_array().expect("items").iter().find(|item| item["kind"] == "Pod");
        let pod = pod.expect("a pod");
        let name = |text: &Value, kind: &str| format!("{kind}/{}", text.as_str().unwrap_or("none"));
        let of_pod = name(&pod["metadata"]["name"], "pod");
        let questions = [
            &[][..],
            &["--replicas", "2"],
            &["--parallelism", "1"],
            &["--replicas", "2", "--verbose"],
            &["-A"],
            &["-A", "--replicas", "2"],
            &[&*of_pod],
            &[&*of_pod, "--replicas", "2"],
            &["deploy/none"],
            &[&*hidden],
        ];
        for question in questions {
            hides_nothing(question, &dump.to_string(), &hidden);
        }
    }
}
