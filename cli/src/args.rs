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
pub(crate) mod quoted;
pub(crate) mod steer;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{
    Arg, ArgAction, ArgMatches, Command, CommandFactory, Error, FromArgMatches, Subcommand, ValueEnum,
};
use kubectl_podrank::view::plain_but;
use podrank_predict::is_hidden;
use preview::PreviewArgs;
use std::error::Error as _;
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
    /// Print a completion script for a shell
    Completion {
        /// Shell, or `kubectl` for the completion of `kubectl podrank`
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
    #[command(hide = true)]
    Version,
    /// Print help for podrank or a command
    Help {
        #[arg(value_name = "COMMAND")]
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
    with_help(Task::augment_subcommands(PreviewArgs::command()))
        .subcommand_required(false)
        .arg_required_else_help(false)
        .subcommand_negates_reqs(true)
        .args_conflicts_with_subcommands(true)
        .subcommand_precedence_over_arg(true)
        .disable_help_subcommand(true)
        .disable_version_flag(true)
        .mut_subcommands(with_help)
        .max_term_width(80)
}

/// Adds the help flag to a command, under the heading of its output.
fn with_help(command: Command) -> Command {
    let help = Arg::new("help").short('h').long("help").action(ArgAction::Help);
    let help = help.help("Print help (--help has all flags)").long_help("Print help (-h is shorter)");
    command.disable_help_flag(true).arg(help.help_heading(OUTPUT))
}

/// The heading of the flags for the output.
const OUTPUT: &str = "Output";

/// Prints the short help, of a subcommand if it is named.
pub(crate) fn help(subcommand: Option<&str>) -> Result<(), crate::Failure> {
    let mut command = command();
    command.build();
    let about = match subcommand {
        Some(name) => command.find_subcommand_mut(name).ok_or_else(|| format!("unknown command {name}"))?,
        None => &mut command,
    };
    Ok(about.print_help()?)
}

/// What people type for a flag of another name, and what works.
const GUESSES: [(&[&str], &str); 10] = [
    (&["-f", "--filename"], "to read a file, use kubectl podrank TYPE/NAME --replicas N -f FILE"),
    (&["--by", "-1", "-2", "-3", "-4", "-5"], "to scale down by N pods, use --replicas -N or --replicas -N%"),
    (&["--pod"], "to ask about a pod, use pod/NAME. To delete it, use kubectl podrank drop NAME"),
    (
        &["--drain", "--node"],
        "to delete the pods of a node first, use scale --prefer-nodes NODE. To evict all its pods, use kubectl drain NODE",
    ),
    (&["--remove"], "to choose a pod, use kubectl podrank scale --pod NAME"),
    (
        &["--keep"],
        "to keep a pod, raise its deletion cost: kubectl annotate pod NAME controller.kubernetes.io/pod-deletion-cost=100",
    ),
    (&["--scale", "--count", "-r"], "to set the replica count, use --replicas N"),
    (&["--explain", "--why"], "to see the reason for each pod, use -o wide. For one pod, use pod/NAME"),
    (&["--no-color"], "to turn colors off, set the environment variable NO_COLOR=1"),
    (&["jsonpath"], "to read single values, use -o json and jq"),
];

/// Replaces clap's tip for an unknown flag, which is to pass it as a name, by one that works, if there is one. `words` are those of
/// the process. The usage is that of the command, because clap's own names only the flags that it thinks were meant.
fn explained(mut error: Error, command: &mut Command, words: &[OsString]) -> Error {
    let task = words.get(1).and_then(|word| word.to_str());
    let command = match task.filter(|name| command.find_subcommand(name).is_some()) {
        Some(name) => command.find_subcommand_mut(name).expect("it was found"),
        None => command,
    };
    if let Some(ours) = error.source().and_then(|source| source.downcast_ref::<podrank_predict::Error>()) {
        return raw(error.kind(), ours);
    }
    if error.get(ContextKind::Usage).is_some() {
        error.insert(ContextKind::Usage, ContextValue::StyledStr(command.render_usage()));
    }
    if error.kind() == ErrorKind::ArgumentConflict {
        return error;
    }
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
    error
}

/// An error in podrank's own words, which say what to do. So the usage does not follow.
fn raw(kind: ErrorKind, text: impl std::fmt::Display) -> Error {
    Error::raw(kind, format!("{text}\n"))
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
        let matches = command
            .try_get_matches_from_mut(&words)
            .unwrap_or_else(|error| exit(&explained(error, &mut command, &words), &words));
        Self::from(&matches).unwrap_or_else(|error| exit(&error, &words))
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
            names.map_err(|error| raw(ErrorKind::ValueValidation, error))?;
            return Ok(Self::Task(task));
        }
        let args = PreviewArgs::from_arg_matches(matches)?;
        if let Some(text) = args.conflict() {
            return Err(raw(ErrorKind::ArgumentConflict, text));
        }
        args.subjects().map_err(|error| raw(ErrorKind::ValueValidation, error))?;
        if let Some(text) = args.missing() {
            return Err(raw(ErrorKind::MissingRequiredArgument, text));
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
