//! At which time a saved dump is judged if nobody names one: a file a day old has the verdicts that it had.

use crate::common::{self, PROGRAM, bare_set, output, put, ready, row, with};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// A file that is removed at the end of its test.
struct Dump(PathBuf);

impl Drop for Dump {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn seconds(seconds: i64) -> SignedDuration {
    SignedDuration::from_secs(seconds)
}

/// A pod that became ready some seconds before `taken`, and whose container started five seconds before it.
fn pod(name: &str, uid: u32, taken: Timestamp, since: i64) -> Value {
    let time = (taken - seconds(since)).to_string();
    let state = json!({ "running": { "startedAt": (taken - seconds(5)).to_string() } });
    let mut pod = with(common::pod(uid), "metadata name", json!(name));
    put(&mut pod, "metadata creationTimestamp", json!(time));
    put(&mut pod, "status conditions", ready(true, &time));
    with(pod, "status containerStatuses", json!([{ "name": "main", "restartCount": 0, "state": state }]))
}

/// Two pods whose ages are in different buckets when the dump is taken, and in the same one a day later. Then the smaller UID
/// decides, which is the older pod's.
fn dump(taken: Timestamp) -> String {
    list(&[pod("web-older", 1, taken, 3_000), pod("web-younger", 2, taken, 100)])
}

/// The set and its pods.
fn list(pods: &[Value]) -> String {
    common::dump(&[&[bare_set("web", 2)][..], pods].concat())
}

fn saved(name: &str, text: &str, modified: Timestamp) -> Dump {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, text).expect("a file");
    let file = File::options().write(true).open(&path).expect("the file");
    file.set_modified(modified.into()).expect("a modification time");
    Dump(path)
}

fn scale(file: &Dump, args: &[&str]) -> (Value, String) {
    let mut command = Command::new(PROGRAM);
    command.arg("-f").arg(&file.0).args(["--replicas", "1", "-o", "json"]).args(args).stdin(Stdio::null());
    let output = command.output().expect("the program runs");
    let stderr = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(output.status.success(), "{stderr}");
    (serde_json::from_slice(&output.stdout).expect("JSON"), stderr)
}

/// The pod that goes, and where the time of the decision comes from.
fn decision(preview: &Value) -> String {
    let mut pods = common::all_pods(preview);
    let victim = pods.find(|pod| pod["verdict"] == "deleted").expect("a victim");
    format!("{} at {}", row(victim, "{name}"), row(preview, "{timeSource}"))
}

#[test]
fn a_dump_of_yesterday_is_judged_at_the_time_of_its_file() {
    let taken = Timestamp::now() - seconds(86_400);
    let file = saved("of-its-time.json", &dump(taken), taken);
    let (preview, stderr) = scale(&file, &[]);
    assert_eq!(decision(&preview), "web-younger at file-time");
    assert_eq!(preview["now"], taken.to_string());
    assert_eq!(
        stderr,
        format!(
            "note: the time of this decision is {taken:.0}, when the file was last changed: if it is a copy, set the time of the dump (--now)\n"
        )
    );
    assert_eq!(preview["notes"][0]["code"], "time");

    // A time that is given needs no note.
    let clock = &Timestamp::now().to_string();
    let (preview, stderr) = scale(&file, &["--now", clock]);
    assert_eq!((&*decision(&preview), &*stderr), ("web-older at given", ""));
    assert_eq!(preview["now"], **clock);
    let (again, stderr) = scale(&file, &["--now", &taken.to_string()]);
    assert_eq!((&*decision(&again), &*stderr), ("web-younger at given", ""));
}

#[test]
fn standard_input_is_judged_at_the_clocks_time() {
    let text = dump(Timestamp::now() - seconds(86_400));
    let names = if cfg!(unix) { &["-", "/dev/stdin"][..] } else { &["-"] };
    for name in names {
        let mut command = Command::new(PROGRAM);
        let output = output(command.args(["-f", name, "--replicas", "1", "-o", "json"]), text.as_bytes());
        let preview: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(decision(&preview), "web-older at clock", "{name}");
        assert_eq!(output.stderr, b"", "{name}");
    }
}

#[test]
fn pods_are_contested_if_ages_reach_another_bucket_in_a_moment() {
    // Every three seconds for a minute, one more pod leaves the bucket that ends at 2^42 ns. It is the last to go, because of
    // the pods in its new bucket it has the greatest UID.
    let now = Timestamp::now();
    let pods: Vec<_> = (1..=20)
        .map(|place| pod(&format!("web-{place}"), place, now, 4_398 - 3 * i64::from(place)))
        .collect();
    let mut command = Command::new(PROGRAM);
    let output = output(command.args(["-f", "-", "--replicas", "1", "-o", "wide"]), list(&pods).as_bytes());
    let stderr = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(stderr, "");
    let table = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(table.contains("ages decide, and change their buckets between"), "{table}");
}
