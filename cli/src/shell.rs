//! Completion scripts, made from the command line itself. Computes text and reads nothing.

use crate::args::steer::POD_TYPES;
use crate::args::{PROGRAM, Shell};
use crate::complete::Wanted;
use clap::builder::PossibleValue;
use clap::{Arg, Command, ValueHint};
use clap_complete::generate;
use podrank_predict::WorkloadKind;
use std::ffi::OsString;

/// The name under which kubectl looks for the completions of `kubectl podrank`.
const FOR_KUBECTL: &str = "\
#!/bin/sh
# Completes `kubectl podrank`. Save it as the executable kubectl_complete-podrank on the PATH.
exec kubectl-podrank __complete \"$@\"
";

/// Returns the script that completes the command in a shell.
pub(crate) fn script(shell: Shell, mut command: Command) -> Vec<u8> {
    let mut script = Vec::new();
    let shell = match shell {
        Shell::Bash => clap_complete::Shell::Bash,
        Shell::Zsh => clap_complete::Shell::Zsh,
        Shell::Fish => clap_complete::Shell::Fish,
        Shell::Powershell => clap_complete::Shell::PowerShell,
        Shell::Kubectl => return FOR_KUBECTL.into(),
    };
    generate(shell, &mut command, PROGRAM, &mut script);
    script
}

/// What the shell adds to the candidates, by the numbers of kubectl's own completion.
#[derive(Clone, Copy)]
enum Directive {
    Files = 0,
    NoFiles = 4,
    /// Neither file names nor a space, because the word continues.
    NoSpace = 6,
}

/// Returns what kubectl expects from a plugin's completion: one candidate per line, with a description after a tab, and
/// then what the shell adds. `words` are those after `kubectl podrank`. The last word is incomplete, and kubectl itself
/// compares it with the candidates. `ask` returns names from the cluster.
pub(crate) fn candidates(
    command: &Command,
    words: &[OsString],
    ask: impl Fn(Wanted<'_>, &[String]) -> Vec<String>,
) -> String {
    let mut words: Vec<_> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    // Nothing is left of `--` alone.
    let last = words.pop().unwrap_or_else(|| "--".to_owned());
    let known = |wanted| ask(wanted, &words).iter().map(|name| format!("{name}\n")).collect();
    let of_argument = |argument: &Arg| {
        let known: Vec<_> = match argument.get_id().as_str() {
            "namespace" => known(Wanted::Namespace),
            "context" => known(Wanted::Context),
            "pod" | "pods" => known(Wanted::Pod),
            _ => values(argument),
        };
        let takes_file = matches!(argument.get_value_hint(), ValueHint::FilePath | ValueHint::AnyPath);
        (known, if takes_file { Directive::Files } else { Directive::NoFiles })
    };
    let task = words.first().and_then(|first| command.find_subcommand(first));
    let (current, given) = task.map_or((command, &words[..]), |task| (task, &words[1..]));
    let positional = current.get_positionals().next();
    let (candidates, directive) =
        if let Some(flag) = given.last().and_then(|previous| flag(current, previous)) {
            of_argument(flag)
        } else if last.starts_with('-') {
            (names(current), Directive::NoFiles)
        } else if let Some(other) =
            positional.filter(|positional| !["words", "workload"].contains(&positional.get_id().as_str()))
        {
            of_argument(other)
        } else if let Some((kind, _)) = last.split_once('/') {
            let workloads = ask(Wanted::Workload(kind), &words);
            (workloads.iter().map(|name| format!("{kind}/{name}\n")).collect(), Directive::NoFiles)
        } else if let Some(kind) = given.last().filter(|word| is_type(word)) {
            (known(Wanted::Workload(kind)), Directive::NoFiles)
        } else if positional.is_some() && positionals(current, given) == 0 {
            let kinds = if task.is_none() { &WorkloadKind::ALL[..] } else { &WorkloadKind::WITH_COSTS };
            let kinds = kinds.iter().map(|kind| format!("{}/\t{kind}\n", kind.short()));
            let kinds = kinds.chain(task.is_none().then(|| "pod/\tPod\n".to_owned()));
            let workloads = if last.is_empty() { Vec::new() } else { known(Wanted::Workload("")) };
            // A task comes before all flags.
            let tasks = given.is_empty().then(|| tasks(current)).into_iter().flatten();
            (kinds.chain(workloads).chain(tasks).collect(), Directive::NoSpace)
        } else {
            (names(current), Directive::NoFiles)
        };
    candidates.into_iter().chain([format!(":{}\n", directive as u8)]).collect()
}

fn is_type(word: &str) -> bool {
    POD_TYPES.contains(&word) || WorkloadKind::of_type(word, &WorkloadKind::ALL).is_ok()
}

/// The number of words that are neither flags nor their values.
fn positionals(command: &Command, words: &[String]) -> usize {
    let values = words.iter().filter(|word| flag(command, word).is_some()).count();
    words.iter().filter(|word| !word.starts_with('-')).count() - values
}

/// The flag that this word is, if a value follows it.
fn flag<'c>(command: &'c Command, word: &str) -> Option<&'c Arg> {
    let is_word = |flag: &&Arg| {
        let long = flag.get_long().is_some_and(|long| word.strip_prefix("--") == Some(long));
        let short = flag.get_short().is_some_and(|short| word.strip_prefix('-') == Some(&short.to_string()));
        long || short
    };
    command.get_arguments().filter(|flag| flag.get_action().takes_values()).find(is_word)
}

fn values(argument: &Arg) -> Vec<String> {
    let possible = argument.get_possible_values();
    let line = |value: &PossibleValue| line(value.get_name(), value.get_help());
    possible.iter().filter(|value| !value.is_hide_set()).map(line).collect()
}

/// The tasks of a command.
fn tasks(command: &Command) -> impl Iterator<Item = String> {
    let tasks = command.get_subcommands().filter(|task| !task.is_hide_set());
    tasks.map(|task| line(task.get_name(), task.get_about()))
}

/// The flags of a command, and its tasks.
fn names(command: &Command) -> Vec<String> {
    let flags =
        command.get_opts().chain(command.get_arguments().filter(|arg| !arg.get_action().takes_values()));
    let flags = flags
        .filter(|flag| !flag.is_hide_set())
        .filter_map(|flag| Some(line(&format!("--{}", flag.get_long()?), flag.get_help())));
    flags.chain(tasks(command)).collect()
}

fn line(name: &str, help: Option<impl ToString>) -> String {
    help.map_or_else(|| format!("{name}\n"), |help| format!("{name}\t{}\n", help.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::command;
    use clap::ValueEnum;

    /// Completes where no cluster answers.
    fn complete(words: &[&str]) -> String {
        let words: Vec<_> = words.iter().map(OsString::from).collect();
        candidates(&command(), &words, |_, _| Vec::new())
    }

    #[test]
    fn everything_knows_every_flag_and_task() {
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        let scripts = Shell::value_variants().iter().filter(|shell| **shell != Shell::Kubectl);
        let mut texts: Vec<_> = scripts.map(|shell| text(script(*shell, command()))).collect();
        texts.push(complete(&["-"]));
        assert_eq!(texts.len(), 5);
        for text in &texts {
            for flag in command().get_opts().filter(|flag| !flag.is_hide_set()) {
                let long = flag.get_long().expect("every flag has a long name");
                assert!(text.contains(long), "{long} is not in: {text}");
            }
            assert!(text.contains("completion"), "{text}");
        }
        // The hidden tasks are not for people.
        assert!(!texts[4].contains("__complete"), "{texts:?}");
    }

    #[test]
    fn kubectl_gets_candidates_and_what_the_shell_adds() {
        let names = |words: &[&str]| {
            let lines = complete(words);
            lines.lines().map(|line| line.split('\t').next().expect("a name").to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(
            names(&["--replicas", "3", "-o", ""]),
            ["table", "wide", "json", "yaml", "markdown", "name", ":4"]
        );
        assert_eq!(names(&["--order", "k"]), ["kubernetes", "total", ":4"]);
        assert_eq!(names(&["-f", ""]), [":0"]);
        assert_eq!(names(&["--replicas", ""]), [":4"]);
        assert_eq!(names(&["completion", ""]), ["bash", "zsh", "fish", "powershell", "kubectl", ":4"]);
        let kinds = ["deploy/", "rs/", "rc/", "sts/", "ds/", "job/", "pod/", ":6"];
        assert_eq!(names(&["--partial", ""]), kinds);
        assert_eq!(names(&["-n", "shop", ""]), kinds);
        assert_eq!(names(&[""])[7..], ["scale", "drop", "undo", "completion", "help", ":6"]);
        assert_eq!(names(&["scale", ""]), ["deploy/", "rs/", "rc/", ":6"]);
        assert_eq!(names(&["scale", "deploy/web", ""])[0], "--replicas");
        assert_eq!(names(&["undo", "-"])[0], "--namespace");
        assert_eq!(names(&["deploy/web", ""])[0], "--replicas");
        assert!(complete(&["--re"]).ends_with("\nhelp\tPrint help for podrank or a command\n:4\n"));
        assert_eq!(complete(&[]), complete(&["--"]));
    }
}
