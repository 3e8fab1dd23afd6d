//! What the tests of several kinds of workload share: the program, run on a dump.
#![allow(dead_code, reason = "each file of tests uses a part of it")]

use serde_json::Value;
use std::io::Write;
use std::process::{Command, Stdio};

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_kubectl-podrank");

/// Runs it on a dump at the moment of the examples: the exit status, and what it printed.
pub(crate) fn run(args: &[&str], dump: &str) -> (Option<i32>, String, String) {
    let args = [args, &["-f", "-", "--now", "2026-03-10T12:00:00Z"]].concat();
    let mut command = Command::new(PROGRAM);
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let _ = child.stdin.take().expect("a pipe").write_all(dump.as_bytes());
    let output = child.wait_with_output().expect("the program ends");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// The JSON, and the notes.
#[track_caller]
pub(crate) fn preview(args: &[&str], dump: &str) -> (Value, String) {
    let (status, stdout, stderr) = run(&[args, &["-o", "json"]].concat(), dump);
    assert_eq!(status, Some(0), "{stderr}");
    (serde_json::from_str(&stdout).expect("JSON"), stderr)
}

/// The error is this one, and nothing else is printed.
#[track_caller]
pub(crate) fn fails(args: &[&str], dump: &str, error: &str) {
    let (status, stdout, stderr) = run(args, dump);
    assert_eq!((status, &*stdout, &*stderr), (Some(1), "", &*format!("error: standard input: {error}\n")));
}

/// The error has these words, and nothing else is printed.
#[track_caller]
pub(crate) fn fails_with(args: &[&str], dump: &str, words: &str) {
    let (status, stdout, stderr) = run(args, dump);
    assert_eq!((status, &*stdout), (Some(1), ""));
    assert!(stderr.contains(words), "{stderr}");
}

/// Name, verdict, rule and why of each pod.
pub(crate) fn pods(preview: &Value) -> Vec<String> {
    let pods = preview["pods"].as_array().expect("pods");
    let text = |pod: &Value, name| pod[name].as_str().expect("a text").to_owned();
    pods.iter().map(|pod| ["name", "verdict", "rule", "why"].map(|name| text(pod, name)).join("; ")).collect()
}
