//! Files of other shapes than `kubectl get -o json` prints: what can be read without a guess is read, and otherwise the error names
//! the cause and what makes a readable file.

use crate::common::{NOON, PROGRAM, ROLLOUT, fails, fine, output, ran, run};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

const QUESTION: &str = "deploy/web --replicas 3";

fn items() -> Vec<Value> {
    let dump: Value = serde_json::from_str(ROLLOUT).expect("JSON");
    dump["items"].as_array().expect("items").clone()
}

#[test]
fn every_shape_has_the_same_answer() {
    let expected = fine(QUESTION, ROLLOUT);
    let items = items();
    let log = "==== START logs for container c of pod default/web ====\n{\"level\": \"info\"}\n}{ \"x\n==== END logs for container c of pod default/web ====\n";
    let utf16 = |units: fn(u16) -> [u8; 2]| -> Vec<u8> {
        format!("\u{feff}{ROLLOUT}").encode_utf16().flat_map(units).collect()
    };
    let documents =
        |between: &str| items.iter().map(|item| format!("{item}\n{between}")).collect::<Vec<_>>().concat();
    let yaml = |text: &str| format!("# as PyYAML writes it\nx: [\n  1,\n  [2,\n  3\n]\n]\n{text}");
    for (shape, text) in [
        ("an array", json!(items).to_string().into_bytes()),
        ("an array in YAML", serde_norway::to_string(&items).expect("YAML").into_bytes()),
        ("with logs", documents(log).into_bytes()),
        (
            "with warnings",
            format!("Warning: v1 is old\nW0310 12:00:00.000000    7 x.go:1] y\n{ROLLOUT}").into(),
        ),
        ("with warnings between", documents("Warning: v1 is old\n").into_bytes()),
        ("UTF-16", utf16(u16::to_le_bytes)),
        ("UTF-16, the high byte first", utf16(u16::to_be_bytes)),
        ("YAML with brackets at the margin", yaml(&in_yaml(&items)).into_bytes()),
    ] {
        assert_eq!(run(QUESTION, text), (Some(0), expected.0.clone(), expected.1.clone()), "{shape}");
    }
}

/// A list of these, in YAML.
fn in_yaml(items: &[Value]) -> String {
    serde_norway::to_string(&json!({ "apiVersion": "v1", "kind": "List", "items": items })).expect("YAML")
}

#[test]
fn what_is_not_readable_is_named() {
    const PRINT: &str = "Print the objects with: kubectl get pods,replicasets,deployments -o json";
    fails(
        "-A",
        json!({ "metadata": { "name": "web-1" } }).to_string(),
        &format!("the object has no kind\n  {PRINT}"),
    );
    let item = json!({ "kind": "List", "items": [{ "metadata": { "name": "web-1" } }] });
    fails(
        "-A",
        item.to_string(),
        &format!("list item default/web-1: items[0]: the object has no kind\n  {PRINT}"),
    );
    fails(
        "-A",
        "[1]",
        &format!(
            "a list item without a name: items[0]: invalid type: integer `1`, expected a Kubernetes object\n  {PRINT}"
        ),
    );
    fails(
        "-A",
        b"\x1f\x8b\x08\0",
        "the input is compressed with gzip\n  Decompress it first: gunzip --stdout FILE | kubectl podrank -f -",
    );
}

/// A folder that exists only during a test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("podrank-{name}-{}", std::process::id()));
        fs::create_dir_all(path.join("inner")).expect("a folder");
        Self(path)
    }

    fn write(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        fs::write(&path, text).expect("a file");
        path.to_string_lossy().into_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

#[test]
fn several_files_and_folders_are_one_input() {
    let folder = Folder::new("files");
    let (pods, rest): (Vec<_>, Vec<_>) = items().into_iter().partition(|item| item["kind"] == "Pod");
    let list = |items: &[Value]| json!({ "apiVersion": "v1", "kind": "List", "items": items }).to_string();
    let parts = [folder.write("sets.json", &list(&rest)), folder.write("inner/pods.yaml", &list(&pods))];
    folder.write("inner/logs.txt", "not read");
    let of = |arguments: &[&str]| {
        let mut command = Command::new(PROGRAM);
        ran(output(command.args(QUESTION.split(' ')).args(arguments).args(NOON), b""))
    };
    let expected = fine(QUESTION, ROLLOUT);
    let expected = (Some(0), expected.0, expected.1);
    let path = folder.0.to_string_lossy().into_owned();
    assert_eq!(of(&["-f", &parts[0], "-f", &parts[1]]), expected);
    assert_eq!(of(&["-f", &parts[1], "-f", &parts[0]]), expected);
    assert_eq!(of(&["-f", &path]), expected);

    folder.write("broken.json", "{");
    let (status, stdout, stderr) = of(&["-f", &path]);
    assert_eq!((status, &stdout), (Some(0), &expected.1));
    assert!(
        stderr.contains("note: a file is left out: ") && stderr.contains("broken.json: line 1 column 1"),
        "{stderr}"
    );
    let (status, _, stderr) = of(&["-f", &format!("{path}/broken.json"), "-f", &parts[0]]);
    assert!(status == Some(1) && stderr.contains("broken.json: line 1 column 1"), "{stderr}");
}

#[test]
fn a_folder_without_files_is_an_error() {
    let folder = Folder::new("none");
    let path = folder.0.to_string_lossy().into_owned();
    let (status, _, stderr) = ran(output(Command::new(PROGRAM).args(["-f", &path]), b""));
    assert!(status == Some(1) && stderr.contains("the input is empty"), "{stderr}");
}
