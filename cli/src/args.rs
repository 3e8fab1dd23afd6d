//! The command line: the preview at the top level, other tasks as subcommands. Reads the arguments and nothing else.
//!
//! The first word is a subcommand if it is the name of one. Only flags of the connection and the namespace may stand before it.
//! Otherwise all arguments are for the preview. So a workload with such a name must be written as TYPE/NAME.

// The doc comments are what --help prints.
#![expect(clippy::doc_markdown)]

pub(crate) mod connection;
pub(crate) mod instead;
pub(crate) mod prefer_nodes;
pub(crate) mod preview;
mod quoted;
pub(crate) mod steer;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, Command, CommandFactory, Error, FromArgMatches, Subcommand, ValueEnum};
use kubectl_podrank::view::plain_but;
use podrank_predict::is_hidden;
use preview::PreviewArgs;
use std::ffi::OsString;
use steer::{DropArgs, ScaleArgs, UndoArgs};

/// The name of the program. kubectl finds it on the `PATH` as `kubectl podrank`.
pub(crate) const PROGRAM: &str = "kubectl-podrank";

/// What the user wants.
pub(crate) enum Args {
    /// Without a subcommand.
    Preview(Box<PreviewArgs>),
    /// With one.
    Task(Task),
}

#[derive(Debug, Subcommand)]
pub(crate) enum Task {
    Scale(Box<ScaleArgs>),
    Drop(Box<DropArgs>),
    Undo(Box<UndoArgs>),
    /// Print a script that completes the command in a shell
    Completion {
        /// Shell to complete kubectl-podrank in; `kubectl` for the script behind `kubectl podrank <TAB>`
        #[arg(value_name = "SHELL")]
        shell: Shell,
    },
    /// Print completions for the words so far, for kubectl
    #[command(name = "__complete", hide = true)]
    Complete {
        #[arg(value_name = "WORD", allow_hyphen_values = true, trailing_var_arg = true)]
        words: Vec<OsString>,
    },
    /// Print the version
    Version,
    /// Print help, also about a subcommand
    Help {
        #[arg(value_name = "SUBCOMMAND", hide = true)]
        subcommand: Option<String>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shell {
    Bash,
    Zsh,
    Fish,
    Powershell,
    /// Save it as the executable kubectl_complete-podrank on the PATH
    Kubectl,
}

/// The whole command line.
pub(crate) fn command() -> Command {
    Task::augment_subcommands(PreviewArgs::command())
        .subcommand_required(false)
        .arg_required_else_help(false)
        .subcommand_negates_reqs(true)
        .args_conflicts_with_subcommands(true)
        .subcommand_precedence_over_arg(true)
        .disable_help_subcommand(true)
        .max_term_width(100)
}

/// Prints the short help, of a subcommand if it is named.
pub(crate) fn help(subcommand: Option<&str>) -> Result<(), Box<dyn std::error::Error>> {
    let mut command = command();
    command.build();
    let about = match subcommand {
        Some(name) => {
            command.find_subcommand_mut(name).ok_or_else(|| format!("there is no subcommand {name}"))?
        }
        None => &mut command,
    };
    Ok(about.print_help()?)
}

/// What people type for a flag of another name, and what works.
const GUESSES: [(&[&str], &str); 10] = [
    (&["-f", "--filename"], "it takes no file; kubectl podrank TYPE/NAME --replicas N -f FILE does"),
    (&["--by", "-1", "-2", "-3", "-4", "-5"], "fewer pods are --replicas -N or --replicas -N%"),
    (&["--pod"], "pod/NAME asks about one pod, and kubectl podrank scale chooses with --pod NAME"),
    (
        &["--drain", "--node"],
        "scale --prefer-nodes NODE deletes the pods of a node first, --empty-nodes empties whole nodes, and kubectl drain NODE moves all",
    ),
    (&["--remove"], "kubectl podrank scale chooses with --pod NAME"),
    (
        &["--keep"],
        "a higher deletion cost keeps a pod: kubectl annotate pod NAME controller.kubernetes.io/pod-deletion-cost=100",
    ),
    (&["--scale", "--count", "-r"], "the count is --replicas N"),
    (
        &["--explain", "--why"],
        "-o wide shows what decides about each pod, and pod/NAME what decides about one",
    ),
    (&["--no-color"], "the environment variable NO_COLOR=1 turns colours off"),
    (&["jsonpath"], "-o json prints everything, for example for jq"),
];

/// Replaces clap's tip for an unknown flag, which is to pass it as a name, by one that works, if there is one. `words` are those of
/// the process.
fn tip(error: &mut Error, words: &[OsString]) {
    let context = [ContextKind::InvalidArg, ContextKind::InvalidValue].map(|kind| error.get(kind));
    let given = context.into_iter().flatten().filter_map(|value| match value {
        ContextValue::String(text) => Some(text.clone()),
        _ => None,
    });
    let given: Vec<_> = given.collect();
    let guess = || {
        let is_given = |start: &&str| given.iter().any(|given| given.starts_with(start));
        let guess = GUESSES.iter().find(|(starts, _)| starts.iter().any(is_given));
        guess.map(|(_, tip)| (*tip).to_owned())
    };
    let scale = given.iter().find_map(|flag| instead::scale(flag, words));
    if let Some(tip) = scale.or_else(guess) {
        error.remove(ContextKind::SuggestedArg);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    } else if error.get(ContextKind::SuggestedArg).is_none() {
        error.remove(ContextKind::Suggested);
    }
}

/// Says what is wrong with the words of the process, or shows the help, and exits. If a word has hidden characters, clap's colours are
/// left out, as their escape codes are hidden characters, too.
fn exit(error: &Error, words: &[OsString]) -> ! {
    if !words.iter().any(|word| word.to_string_lossy().contains(is_hidden)) {
        error.exit();
    }
    eprint!("{}", plain_but(&error.render().to_string(), &['\n']));
    std::process::exit(error.exit_code());
}

impl Args {
    /// Returns the arguments of this process. Exits if they are wrong, or ask for help or the version.
    pub(crate) fn read() -> Self {
        let mut command = command();
        let words = connection::behind_subcommand(&command, std::env::args_os().collect());
        let matches = command.try_get_matches_from_mut(&words).unwrap_or_else(|mut error| {
            tip(&mut error, &words);
            exit(&error, &words)
        });
        Self::from(&matches).unwrap_or_else(|error| {
            let task = matches
                .subcommand_name()
                .and_then(|name| command.find_subcommand_mut(name).map(|task| task.clone()));
            exit(&error.format(&mut task.unwrap_or(command)), &words)
        })
    }

    fn from(matches: &ArgMatches) -> Result<Self, Error> {
        if matches.subcommand_name().is_some() {
            let mut task = Task::from_arg_matches(matches)?;
            if let (Some((_, matches)), Task::Scale(args)) = (matches.subcommand(), &mut task) {
                args.read_order(matches);
            }
            let names = match &task {
                Task::Scale(args) => args.target.workload().map(drop),
                Task::Drop(args) => args.check_names(),
                Task::Undo(args) => args.target.workload().map(drop),
                _ => Ok(()),
            };
            names.map_err(|text| Error::raw(ErrorKind::ValueValidation, text))?;
            return Ok(Self::Task(task));
        }
        let args = PreviewArgs::from_arg_matches(matches)?;
        if let Some(text) = args.conflict() {
            return Err(Error::raw(ErrorKind::ArgumentConflict, text));
        }
        args.subjects().map_err(|text| Error::raw(ErrorKind::ValueValidation, text))?;
        if let Some(text) = args.missing() {
            return Err(Error::raw(ErrorKind::MissingRequiredArgument, text));
        }
        Ok(Self::Preview(Box::new(args)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Result<Args, ErrorKind> {
        let words = [&["kubectl-podrank"], words].concat();
        command().try_get_matches_from(words).and_then(|matches| Args::from(&matches)).map_err(|e| e.kind())
    }

    #[test]
    fn the_command_is_consistent() {
        command().debug_assert();
    }

    #[test]
    fn flags_are_for_the_preview_and_names_for_tasks() {
        assert!(matches!(
            parsed(&["completion", "bash"]),
            Ok(Args::Task(Task::Completion { shell: Shell::Bash }))
        ));
        assert_eq!(parsed(&["completion", "tcsh"]).err(), Some(ErrorKind::InvalidValue));
        // What belongs to one does not pass for the other: behind such a flag, a word is a name.
        assert!(parsed(&["version", "--replicas", "1"]).is_err());
        assert!(matches!(parsed(&["--replicas", "1", "version"]), Ok(Args::Preview(_))));
        assert!(matches!(parsed(&["deploy/completion", "--rollout"]), Ok(Args::Preview(_))));
    }
}
