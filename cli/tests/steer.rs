//! `scale`, `drop` and `undo` against what a real control plane answered: each file of `sessions` is one run that
//! `judge/cluster/sessions` recorded there. The same answers must lead to the same requests, output and exit status.
//!
//! After a change of the words: `SESSIONS=write cargo test -p kubectl-podrank recorded_sessions`, and read what changed. It
//! rewrites only what was printed, and only of the sessions whose requests and exit status are the same as before.

use crate::common::dump;
use crate::common::kubectl::{self, Answer, KUBECTL, Kubectl, authorized, leased, list, nothing, refused};
use podrank_predict::is_hidden;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Output;

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

    /// The JSON that it printed, if it did, about pods that were to go.
    fn outcome(&self) -> Option<Value> {
        self.recorded["args"][0].as_str().filter(|word| ["scale", "drop", "undo"].contains(word))?;
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

    /// The same session in a cluster with other names of pods and nodes. Names that the user gives do not change.
    fn with_names_that_end_in(&self, end: &str) -> Self {
        let given = [&self.recorded["args"], &self.recorded["stdin"]].map(ToString::to_string).concat();
        let objects = self.recorded["objects"].as_object().expect("objects").values();
        let names = |object: &Value| match object["kind"].as_str() {
            Some("Pod") => vec![object["metadata"]["name"].clone(), object["spec"]["nodeName"].clone()],
            _ => Vec::new(),
        };
        let names: BTreeSet<_> =
            objects.flat_map(names).filter_map(|name| name.as_str().map(str::to_owned)).collect();
        let text = names
            .iter()
            .filter(|name| !given.contains(*name))
            .fold(self.recorded.to_string(), |text, name| text.replace(name, &format!("{name}{end}")));
        Self { name: self.name.clone(), recorded: serde_json::from_str(&text).expect("JSON") }
    }

    fn run(&self, kubectl: &Kubectl) -> Output {
        let stdin = self.recorded["stdin"].as_str().unwrap_or_default();
        let (args, typed) = (texts(&self.recorded["args"]), texts(&self.recorded["typed"]));
        match &*typed {
            [] => kubectl.run(&args, stdin.as_bytes()),
            typed => kubectl.run_at_terminal(&args, typed),
        }
    }

    /// Writes the output of a run into its file, if nothing else differs. It keeps a line whose only differences are
    /// random.
    fn rewrite(&self, output: &Output) {
        let path = Path::new(SESSIONS).join(format!("{}.json", self.name));
        let mut file = fs::read_to_string(&path).expect("a session");
        for (part, bytes) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
            let recorded = texts(&self.recorded[part]);
            let now = String::from_utf8(bytes.clone()).expect("UTF-8").replace(KUBECTL, "kubectl");
            let same = |line: &str| {
                let is_same = |old: &&&str| fixed(timeless(old)) == fixed(timeless(line));
                recorded.iter().find(is_same).map_or(line.to_owned(), |old| (*old).to_owned())
            };
            let list = |lines: &[String]| {
                let line = |line: &String| format!("\n  {}", Value::from(line.as_str()));
                format!("\"{part}\": [{}],\n", lines.iter().map(line).collect::<Vec<_>>().join(","))
            };
            let recorded_list = list(&recorded.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>());
            assert!(file.contains(&recorded_list), "{}: no {recorded_list}", self.name);
            file = file.replacen(&recorded_list, &list(&now.lines().map(same).collect::<Vec<_>>()), 1);
        }
        fs::write(path, file).expect("a session is written");
    }

    /// The differences between this run and the recorded one.
    fn differences(&self) -> Vec<String> {
        let kubectl = self.kubectl();
        let output = self.run(&kubectl);
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
        let is_printed = |difference: &String| {
            ["stdout", "stderr"].iter().any(|part| difference.starts_with(&format!("{}: {part}:", self.name)))
        };
        if differences.iter().all(is_printed)
            && std::env::var_os("SESSIONS").is_some_and(|value| value == "write")
        {
            self.rewrite(&output);
            differences.clear();
        }
        differences
    }
}

/// A text without what is random in it: the barrier pod's name and the run's id.
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
    without(&without(text, "podrank-barrier-"), "podrank-run-")
}

/// A request without what is random in it.
fn normal(words: &str, given: &Value) -> (String, Value) {
    (fixed(words), serde_json::from_str(&fixed(&given.to_string())).expect("JSON"))
}

/// Keeps one of each request, or pair of requests, that a wait repeats.
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

/// A line of JSON without the time, or of a note without an age.
fn timeless(line: &str) -> &str {
    let age = if line.starts_with("note: the oldest value") { line.find(" is from ") } else { None };
    if line.trim_start().starts_with("\"now\": ") { "" } else { &line[..age.unwrap_or(line.len())] }
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

/// Names with characters that hide, which no cluster has, are shown with escapes, and change nothing else. All JSON is written in one
/// place, so runs that print text are enough.
#[test]
fn no_session_hides_a_character() {
    let prints_text = |session: &Session| !texts(&session.recorded["args"]).contains(&"json");
    let sessions: Vec<_> = sessions().iter().map(|path| Session::read(path)).filter(prints_text).collect();
    let same: Vec<_> = std::thread::scope(|scope| {
        let run = |session: &Session| {
            let session = session.with_names_that_end_in("\u{202e}\u{200b}\u{9b}\u{fe0f}\u{e0041}");
            let output = session.run(&session.kubectl());
            for bytes in [output.stdout, output.stderr] {
                let text = String::from_utf8(bytes).expect("UTF-8");
                let found = text.chars().find(|char| *char != '\n' && is_hidden(*char));
                assert_eq!(found, None, "{}: {text:?}", session.name);
            }
            output.status.code().map(Value::from) == Some(session.recorded["status"].clone())
        };
        let runs: Vec<_> = sessions.iter().map(|session| scope.spawn(move || run(session))).collect();
        runs.into_iter().map(|run| run.join().expect("it runs")).collect()
    });
    let ended = same.iter().filter(|is_same| **is_same).count();
    assert!(ended >= 36, "only {ended} of {} sessions come to the same end", same.len());
}

/// The pairs of steps that follow each other in an outcome, or in those of its workloads.
fn edges(outcome: &Value) -> Vec<String> {
    let of_node = outcome["workloads"].as_array().into_iter().flatten();
    let pairs = |outcome: &Value| {
        let steps = outcome["steps"].as_array().cloned().unwrap_or_default();
        let text = |step: &Value| step.as_str().expect("a name").to_owned();
        steps.windows(2).map(|pair| text(&pair[0]) + " " + &text(&pair[1])).collect::<Vec<_>>()
    };
    [outcome].into_iter().chain(of_node).flat_map(pairs).collect()
}

/// The table of docs/protocol.md says what follows what, in rows `| from | to, to |`.
#[test]
fn every_documented_edge_is_visited_and_no_other() {
    let document = include_str!("../../docs/protocol.md");
    let (_, table) = document.split_once("| From | To |\n|---|---|\n").expect("the table");
    let rows = table.lines().map_while(|line| line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | "));
    let documented: BTreeSet<_> = rows
        .flat_map(|(from, to)| to.split(", ").map(move |to| format!("{from} {to}").replace('`', "")))
        .collect();
    let outcomes = sessions().into_iter().filter_map(|path| Session::read(&path).outcome());
    let visited: BTreeSet<_> = outcomes.flat_map(|outcome| edges(&outcome)).collect();
    assert_eq!(visited, documented);
    assert!(documented.len() >= 20, "{} edges", documented.len());
}

/// The first table of docs/protocol.md names the steps in the order of the code, each in the state whose file takes it.
#[test]
fn the_document_and_the_code_have_the_same_steps_and_states() {
    let source = |file: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/steer").join(file);
        fs::read_to_string(path).unwrap_or_else(|error| panic!("{file}: {error}"))
    };
    let document = include_str!("../../docs/protocol.md");
    let (_, table) = document.split_once("| State | Step |").expect("the table");
    let rows = table.lines().skip(2).map_while(|line| line.strip_prefix("| [`")?.split_once("`]("));
    let mut steps = Vec::new();
    for (state, rest) in rows {
        let (_, rest) = rest.split_once("| `").expect("a step");
        let (step, _) = rest.split_once('`').expect("a step");
        let camel: String = step.split('-').map(|word| word[..1].to_uppercase() + &word[1..]).collect();
        let takes = |file: &str| source(file).contains(&format!("Step::{camel}"));
        assert!(takes(&format!("{state}.rs")), "{state}.rs does not take the step {step}");
        steps.push(camel);
    }
    let outcome = source("outcome.rs");
    let (_, variants) = outcome.split_once("enum Step {").expect("the steps");
    let variants: Vec<_> = variants.split('}').next().expect("its end").split(',').map(str::trim).collect();
    assert_eq!(steps, variants[..variants.len() - 1]);
}

// Runs that no cluster was made to show.

/// The `ReplicaSet` `web` with this count, and these pods.
fn state(replicas: usize, pods: &[Value]) -> Vec<Answer> {
    vec![list(&[kubectl::set("shop", "web", replicas)]), list(pods)]
}

/// Until a run has the Lease that scales three pods to 0, for which it writes no costs.
fn until_locked() -> Vec<Answer> {
    let rights = vec![list(&[]), nothing(), authorized("web"), leased()];
    [state(3, &kubectl::three("shop", "web")), rights].concat()
}

fn until_scaled() -> Vec<Answer> {
    let read = || [vec![list(&[])], state(3, &kubectl::three("shop", "web"))].concat();
    [until_locked(), read(), read(), vec![leased(), nothing()]].concat()
}

const TO_ZERO: &str = "scale rs/web --replicas 0 -n shop --yes";

#[test]
fn a_run_that_ends_too_early_says_how_far_it_came() {
    let words = format!("{TO_ZERO} --timeout 0s");
    let left = || state(0, &kubectl::three("shop", "web")[..2]);
    let ran = kubectl::run(&words, &[until_scaled(), left(), left(), vec![nothing()]].concat());
    let said = "error: Scaled rs/web from 3 to 0, but the pods were not deleted in time\n  \
                1 of the 3 selected pods are deleted so far.\n  When all are, run: kubectl podrank undo rs/web -n shop\n";
    assert_eq!((ran.status, &*ran.stderr), (Some(4), said));
    let gone = || refused("Error from server: gone\n");
    let ran = kubectl::run(&words, &[until_scaled(), vec![gone(), gone(), nothing()]].concat());
    let end = "\n  It is unknown which pods were deleted.\n  When they are, run: kubectl podrank undo rs/web -n shop\n";
    assert!(ran.status == Some(4) && ran.stderr.ends_with(end), "{}", ran.stderr);
}

#[test]
fn a_run_waits_for_a_controller_that_lags() {
    let mut lags = kubectl::set("shop", "web", 0);
    lags["metadata"]["generation"] = Value::from(2);
    let looks = [vec![list(&[lags]), list(&[])], state(0, &[]), vec![nothing()]].concat();
    let ran = kubectl::run(TO_ZERO, &[until_scaled(), looks].concat());
    assert_eq!((ran.status, &*ran.stderr), (Some(0), ""));
}

/// Nothing is read between the last look at the pods and the scale request.
#[test]
fn a_run_asks_for_the_release_once() {
    let cluster = kubectl::answering(&[until_scaled(), state(0, &[]), vec![nothing()]].concat());
    let output = cluster.run(&TO_ZERO.split(' ').collect::<Vec<_>>(), b"");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(fs::read_to_string(cluster.path("versions")).expect("it asks").lines().count(), 1);
}

#[test]
fn a_lease_that_stays_is_named_with_what_removes_it() {
    let no = || refused("Error from server (Forbidden): leases is forbidden\n");
    let words = format!("{TO_ZERO} --context=c --token=secret");
    let run =
        |ends: [Answer; 2]| kubectl::run(&words, &[until_scaled(), state(0, &[]), ends.into()].concat());
    // The answer to the first request may have been lost.
    let again = run([no(), nothing()]);
    assert_eq!((again.status, &*again.stderr), (Some(0), ""));
    let ran = run([no(), no()]);
    let said = "error: Scaled rs/web from 3 to 0. Deleted exactly the 3 selected pods\n  \
                the Lease podrank-web is still there: Error from server (Forbidden): leases is forbidden\n  \
                Run: kubectl podrank undo rs/web -n shop --context=c\n";
    assert_eq!((ran.status, &*ran.stderr), (Some(4), said));
}

#[test]
fn a_count_of_somebody_else_is_asked_about() {
    let four = || {
        let more = kubectl::pod("shop", "web", 'd', "worker-2");
        state(4, &[&kubectl::three("shop", "web")[..], &[more]].concat())
    };
    let read = vec![list(&[])];
    let answers = [until_locked(), read.clone(), four(), four(), vec![nothing()], four(), read].concat();
    let cluster = kubectl::answering(&answers);
    let output = cluster.run_at_terminal(&["scale", "rs/web", "--replicas", "0", "-n", "shop"], &["y", "n"]);
    let stderr = String::from_utf8(output.stderr).expect("UTF-8");
    let said =
        "The plan changed: now selected: web-d; rs/web has 4 replicas now and is scaled to 0; web-d is new\n";
    assert!(output.status.code() == Some(1) && stderr.contains(said), "{stderr}");
    assert_eq!(cluster.asked().len(), answers.len());
}

#[test]
fn a_run_that_comes_too_late_says_so() {
    let rest = || state(1, &kubectl::three("shop", "web")[2..]);
    let rights = vec![list(&[]), nothing(), nothing(), authorized("web"), nothing(), leased(), list(&[])];
    let reads = [rest(), rest(), rest(), vec![nothing()]].concat();
    let answers = [state(3, &kubectl::three("shop", "web")), rights, reads].concat();
    let ran = kubectl::run("scale rs/web --replicas 1 -n shop --yes", &answers);
    let said = "error: rs/web was not scaled: rs/web has 1 replica already\n  Its replica count is 1 now.\n  \
                Selected pods that were deleted meanwhile: web-a, web-b\n";
    assert_eq!((ran.status, &*ran.stderr), (Some(1), said));
}
