//! `kubectl podrank`: which pods go first when a workload scales down. Looks at the terminal's size, prints what the other modules
//! answer, and exits.

mod args;
mod ask;
mod complete;
mod deletion;
mod files;
mod kubectl;
mod live;
mod progress;
mod relay;
mod shell;
mod steer;
mod surroundings;

use anstream::{AutoStream, ColorChoice};
use args::preview::{Output, PreviewArgs};
use args::{Args, Task};
use jiff::Timestamp;
use kubectl_podrank::terminal::{Terminal, in_sentences};
use kubectl_podrank::view::{plain, plain_but};
use std::error::Error;
use std::io::{self, Write};
use std::iter;
use std::process::ExitCode;
use std::time::Duration;
use terminal_size::{Height, Width, terminal_size_of};

/// How long `--watch` waits before it looks again.
const BETWEEN_LOOKS: Duration = Duration::from_secs(2);

/// An error of any kind.
type Failure = Box<dyn Error>;

fn main() -> ExitCode {
    let done = match Args::read() {
        Args::Preview(args) => show(&args).map(|()| ExitCode::SUCCESS),
        Args::Task(task) => run(&task),
    };
    done.unwrap_or_else(|error| {
        explain(&error);
        ExitCode::FAILURE
    })
}

/// Writes an error to standard error.
fn explain(error: &Failure) {
    match error.downcast_ref::<podrank_predict::Error>() {
        Some(error) => report(&format!("error: {error}")),
        None => complain(&format!("error: {error}")),
    }
}

/// The error after its place.
fn at(error: Failure, place: &str) -> Failure {
    match error.downcast::<podrank_predict::Error>() {
        Ok(error) => error.at(place).into(),
        Err(error) => format!("{place}: {error}").into(),
    }
}

fn run(task: &Task) -> Result<ExitCode, Failure> {
    let text = match task {
        Task::Scale(args) => return steer::scale(args),
        Task::Drop(args) => return steer::drop(args),
        Task::Undo(args) => return steer::undo(args),
        Task::Completion { shell } => shell::script(*shell, args::command()),
        Task::Complete { words } => {
            let lines = shell::candidates(&args::command(), words, complete::ask);
            plain_but(&lines, &['\n', '\t']).into_owned().into()
        }
        Task::Version => format!("{} {}\n", args::PROGRAM, env!("CARGO_PKG_VERSION")).into(),
        Task::Help { subcommand } => {
            args::help(subcommand.as_deref())?;
            Vec::new()
        }
    };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn show(args: &PreviewArgs) -> Result<(), Failure> {
    let terminal = terminal();
    let mut last: Option<String> = None;
    loop {
        // Completes the text before it writes the first byte, so that no reader gets half an answer.
        let answer = ask::answer(args, terminal)?;
        if last.as_ref() != Some(&answer.gist) {
            // A time is nothing for a program that reads names or data.
            if last.is_some() && matches!(args.output, Output::Table | Output::Wide | Output::Markdown) {
                print(format!("\n{:.0}\n", Timestamp::now()).as_bytes())?;
            }
            if !print(&answer.text)? {
                return Ok(());
            }
            answer.beside.iter().for_each(|line| complain(line));
        }
        if !args.watch {
            return Ok(());
        }
        last = Some(answer.gist);
        std::thread::sleep(BETWEEN_LOOKS);
    }
}

/// What shows standard output.
fn terminal() -> Terminal {
    let size = terminal_size_of(io::stdout());
    Terminal { in_colour: AutoStream::choice(&io::stdout()) != ColorChoice::Never, width: size.map(columns) }
}

/// Writes a text to standard error, in lines that are as wide as its terminal. Ignores write errors: there is nowhere to report them.
fn complain(text: &str) {
    tell(text, "");
}

/// Writes a text of several lines to standard error. All but the first are indented.
fn report(text: &str) {
    let indents = iter::once("").chain(iter::repeat("  "));
    text.lines().zip(indents).for_each(|(line, indent)| tell(line.trim_start(), indent));
}

fn tell(text: &str, indent: &str) {
    let width = terminal_size_of(io::stderr()).map(|size| columns(size).saturating_sub(indent.len()));
    let lines = in_sentences(&[text.to_owned()], Terminal { width, ..Terminal::default() });
    let lines: String = lines.lines().flat_map(|line| [indent, line, "\n"]).collect();
    let _ = io::stderr().write_all(lines.as_bytes());
}

fn columns((Width(columns), _): (Width, Height)) -> usize {
    columns.into()
}

/// Prints a text that has no line breaks of its own.
fn print_line(text: &str) -> Result<bool, Failure> {
    print(format!("{}\n", plain(text)).as_bytes())
}

/// False if the reader, such as `head`, has seen enough.
fn print(text: &[u8]) -> Result<bool, Failure> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        result => result.map(|()| true).map_err(|error| format!("standard output: {error}").into()),
    }
}
