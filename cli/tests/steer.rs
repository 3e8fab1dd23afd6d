//! `scale`, `drop` and `undo` against what a real control plane answered: each file of `sessions` is one run that
//! `judge/cluster/sessions` recorded there. The same answers must lead to the same requests, output and exit status.

use crate::common::dump;
use crate::common::kubectl::{KUBECTL, Kubectl};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};

const SESSIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/sessions");

/// A recorded run.
struct Session {
    name: String,
    recorded: Value,
}

/// The texts of a list.
fn texts(value: &Value) -> Vec<&str> {
    value.as_array().expect("a list").iter().filter_map(Value::as_str).collect()
}

impl Session {
    fn read(path: &Path) -> Self {
        let name = path.file_stem().expect("a name").to_str().expect("UTF-8").to_owned();
        let text = fs::read_to_string(path).expect("a session");
        Self { name, recorded: serde_json::from_str(&text).expect("JSON") }
    }

    /// What it answers, each request in turn.
    fn kubectl(&self) -> Kubectl {
        Kubectl::with(self.requests().iter().map(|request| {
            let text = |field: &str| request[field].as_str().map(str::to_owned);
            let mut files = vec![
                ("out", self.output_of(request)),
                ("err", text("err").unwrap_or_default()),
                ("status", request["status"].to_string()),
            ];
            files.extend(text("signal").map(|signal| ("signal", signal)));
            files
        }))
    }

    /// The JSON that it printed, if it did.
    fn outcome(&self) -> Option<Value> {
        serde_json::from_str(&texts(&self.recorded["stdout"]).join("\n")).ok()
    }

    fn requests(&self) -> &[Value] {
        self.recorded["requests"].as_array().expect("requests")
    }

    /// What kubectl printed. Objects stand apart in the file, each version once.
    fn output_of(&self, request: &Value) -> String {
        let objects = |part: &str| {
            let keys = request[part].as_array()?;
            Some(keys.iter().map(|key| &self.recorded["objects"][key.as_str().expect("a key")]))
        };
        if let Some(items) = objects("list") {
            return dump(&items.cloned().collect::<Vec<_>>());
        }
        if let Some(documents) = objects("documents") {
            return documents.map(ToString::to_string).collect::<Vec<_>>().join("\n");
        }
        request["out"].as_str().unwrap_or_default().to_owned()
    }

    /// What was asked of kubectl: its words, and what it was given.
    fn asked(kubectl: &Kubectl) -> Vec<(String, Value)> {
        let given = |number: usize| {
            let text = fs::read_to_string(kubectl.path(&format!("{number}.in"))).ok();
            text.map_or(Value::Null, |text| serde_json::from_str(&text).expect("JSON"))
        };
        (1..).zip(kubectl.asked()).map(|(number, line)| normal(&line, &given(number))).collect()
    }

    /// What was asked when it was recorded.
    fn expected(&self) -> Vec<(String, Value)> {
        let requests = self.requests().iter();
        requests.map(|request| normal(&texts(&request["words"]).join("|"), &request["in"])).collect()
    }

    /// The differences between this run and the recorded one.
    fn differences(&self) -> Vec<String> {
        let kubectl = self.kubectl();
        let stdin = self.recorded["stdin"].as_str().unwrap_or_default();
        let (args, typed) = (texts(&self.recorded["args"]), texts(&self.recorded["typed"]));
        let output = match &*typed {
            [] => kubectl.run(&args, stdin.as_bytes()),
            typed => kubectl.run_at_terminal(&args, typed),
        };
        let status = output.status.code().or_else(|| output.status.signal().map(|signal| -signal));
        let text =
            |part: &str| texts(&self.recorded[part]).into_iter().map(timeless).collect::<Vec<_>>().join("\n");
        let mut differences = Vec::new();
        let mut compare = |what: &str, now: &str, recorded: &str| {
            if fixed(now) != fixed(recorded) {
                differences.push(format!("{}: {what}:\n{now}\nrecorded:\n{recorded}", self.name));
            }
        };
        let status = status.map_or(Value::Null, Value::from);
        compare("status", &status.to_string(), &self.recorded["status"].to_string());
        for (what, bytes) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
            let now = String::from_utf8(bytes.clone()).expect("UTF-8").replace(KUBECTL, "kubectl");
            compare(what, &now.lines().map(timeless).collect::<Vec<_>>().join("\n"), &text(what));
        }
        let lines = |asked: Vec<(String, Value)>| {
            looks_once(asked.iter().map(|(words, given)| format!("{words} {given}"))).join("\n")
        };
        compare("requests", &lines(Self::asked(&kubectl)), &lines(self.expected()));
        differences
    }
}

/// A text without what is random in it: the canary's name and the run's id.
fn fixed(text: &str) -> String {
    let without = |text: &str, name: &str| {
        let mut parts = text.split(name);
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |text, part| {
            let rest = part.strip_prefix("mine").unwrap_or(part);
            let rest = rest.trim_start_matches(|char: char| char.is_ascii_hexdigit());
            format!("{text}{name}X{rest}")
        })
    };
    without(&without(text, "podrank-canary-"), "podrank-run-")
}

/// A request without what is random in it, and without times.
fn normal(words: &str, given: &Value) -> (String, Value) {
    let mut given: Value = serde_json::from_str(&fixed(&given.to_string())).expect("JSON");
    // A Lease has another version after each renewal.
    for (object, fields) in [
        ("/spec", &["acquireTime", "renewTime"][..]),
        ("/metadata", &["resourceVersion", "uid"]),
        ("/preconditions", &["resourceVersion", "uid"]),
    ] {
        if let Some(object) = given.pointer_mut(object).and_then(Value::as_object_mut) {
            object.retain(|name, _| !words.contains("/leases") || !fields.contains(&&**name));
        }
    }
    (fixed(words), given)
}

/// One or two requests that are repeated at once, as often as a wait lets them, once.
fn looks_once(lines: impl Iterator<Item = String>) -> Vec<String> {
    lines.fold(Vec::new(), |mut kept, line| {
        if kept.last() != Some(&line) {
            kept.push(line);
        }
        if let [.., a, b, c, d] = &kept[..]
            && (a, b) == (c, d)
        {
            kept.truncate(kept.len() - 2);
        }
        kept
    })
}

/// A line of JSON without the time.
fn timeless(line: &str) -> &str {
    if line.trim_start().starts_with("\"now\": ") { "" } else { line }
}

fn sessions() -> Vec<PathBuf> {
    let entries = fs::read_dir(SESSIONS).expect("sessions");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}

#[test]
fn recorded_sessions_are_repeated() {
    let paths = sessions();
    assert!(paths.len() >= 25, "{} sessions", paths.len());
    // Most of their time is waiting.
    let differences: Vec<_> = std::thread::scope(|scope| {
        let runs: Vec<_> =
            paths.iter().map(|path| scope.spawn(|| Session::read(path).differences())).collect();
        runs.into_iter().flat_map(|run| run.join().expect("it runs")).collect()
    });
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// The outcomes of the workloads, each with its exit status. A failure of one is that of all, and the last that was begun.
fn outcomes(session: &Session) -> Vec<(Value, Value)> {
    let status = session.recorded["status"].clone();
    let Some(outcome) = session.outcome() else { return Vec::new() };
    let name = &session.name;
    match outcome["kind"].as_str() {
        Some("NodePlan") => Vec::new(),
        Some("NodeOutcome") => {
            assert_eq!(outcome["exit"], status, "{name}");
            let workloads = outcome["workloads"].as_array().expect("workloads");
            let (begun, rest): (Vec<_>, Vec<_>) =
                workloads.iter().cloned().partition(|workload| workload["kind"] == "ScaleOutcome");
            assert!(rest.iter().all(|workload| workload["kind"] == "ScalePlan"), "{name}");
            assert!(rest.is_empty() || status != json!(0), "{name}");
            let last = begun.len() - 1;
            let exit = |place: usize| if place == last { status.clone() } else { json!(0) };
            begun.into_iter().enumerate().map(|(place, outcome)| (outcome, exit(place))).collect()
        }
        _ => vec![(outcome, status)],
    }
}

/// The outcome of each session that prints one, against what it says of itself.
#[test]
fn outcomes_agree_with_themselves() {
    let mut count = 0;
    let sessions: Vec<_> = sessions().iter().map(|path| Session::read(path)).collect();
    for (session, (outcome, status)) in
        sessions.iter().flat_map(|session| outcomes(session).into_iter().map(move |found| (session, found)))
    {
        count += 1;
        let name = &session.name;
        assert_eq!(
            (&outcome["apiVersion"], &outcome["kind"]),
            (&json!("podrank/v1"), &json!("ScaleOutcome")),
            "{name}"
        );
        assert_eq!(outcome["exit"], status, "{name}");
        let list = |part: &str| outcome[part].as_array().expect(part).clone();
        let wanted = list("pods").iter().filter(|pod| pod["wanted"] == true).count();
        assert_eq!(json!(wanted), outcome["delete"], "{name}");
        match outcome["exit"].as_u64() {
            Some(0) => {
                assert_eq!(list("went").len(), wanted, "{name}");
                assert!(["missed", "others", "left"].iter().all(|part| list(part).is_empty()), "{name}");
            }
            // Nothing is left. What went, went without podrank.
            Some(1) => assert!(["missed", "left"].iter().all(|part| list(part).is_empty()), "{name}"),
            // Or a node that was to become empty is not.
            Some(3) => assert!(
                !list("missed").is_empty()
                    || !list("others").is_empty()
                    || outcome["message"]
                        .as_str()
                        .is_some_and(|message| message.contains("; but full-1 keeps ")),
                "{name}"
            ),
            Some(4) => {
                let message = outcome["message"].as_str().expect("a message");
                let ways = ["kubectl podrank undo rs/web -n ", "kubectl delete replicasets.apps,pods -l "];
                assert!(ways.iter().any(|way| message.contains(way)), "{name}: {message}");
            }
            other => panic!("{name}: exit {other:?}"),
        }
    }
    assert!(count >= 15, "{count} outcomes");
}

/// docs/scale-json.md names what there is, and nothing else.
#[test]
fn the_document_on_the_json_names_every_field() {
    let mut outcome = Session::read(&Path::new(SESSIONS).join("by-value.json")).outcome().expect("JSON");
    // There it is not about nodes.
    outcome["nodes"] =
        Session::read(&Path::new(SESSIONS).join("too-few.json")).outcome().expect("JSON")["nodes"].clone();
    let kept = outcome["nodes"].as_array().expect("nodes").iter().find_map(|node| node["keeps"].get(0));
    let pods = outcome["pods"].as_array().expect("pods");
    // Not all have odds.
    let pod = pods.iter().find(|pod| pod["odds"].is_f64()).expect("a contested pod");
    let note = json!({ "level": "", "code": "", "text": "" });
    let of_workload_parts = [
        ("", &outcome),
        ("workload.", &outcome["workload"]),
        ("sets[].", &outcome["sets"][0]),
        ("pods[].", pod),
        ("pods[].why[].", &outcome["pods"][0]["why"][0]),
        ("nodes[].", &outcome["nodes"][0]),
        ("nodes[].keeps[].", kept.expect("a node that is kept")),
        ("blocked[].", &outcome["blocked"][0]),
        // There is none here. It has what a note of the preview has.
        ("notes[].", &note),
        ("went[].", &outcome["went"][0]),
    ];
    let printed = |name: &str| Session::read(&Path::new(SESSIONS).join(name)).outcome().expect("JSON");
    let (plan, stopped) = (printed("drop-node-plan.json"), printed("drop-node-stops.json"));
    let of_node =
        [("", &stopped), ("passedOver[].", &plan["passedOver"][0]), ("others[].", &plan["others"][0])];
    let document = include_str!("../../docs/scale-json.md");
    let (of_workload, rest) = document.split_once("\n## The pods of a node\n").expect("a section");
    assert_eq!(documented(of_workload), fields(&of_workload_parts));
    assert_eq!(documented(rest), fields(&of_node));
}

/// The names in the first columns of the tables.
fn documented(text: &str) -> Vec<String> {
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    let mut names: Vec<_> = rows.map(|(name, _)| name.to_owned()).collect();
    names.sort();
    names
}

/// The names of the fields of these objects, each behind its prefix.
fn fields(objects: &[(&str, &Value)]) -> Vec<String> {
    let names = |(prefix, object): &(&str, &Value)| {
        let names = object.as_object().expect("an object").keys().map(|key| format!("{prefix}{key}"));
        names.collect::<Vec<_>>()
    };
    let mut names: Vec<_> = objects.iter().flat_map(names).collect();
    names.sort();
    names
}
