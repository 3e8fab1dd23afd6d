//! `kubectl podrank`: which pods go first when a set scales down. Reads one file or standard input, the clock and the
//! terminal's size, prints, and exits.

mod args;
mod progress;
mod shell;

use anstream::{AutoStream, ColorChoice};
use args::preview::{Output, PreviewArgs};
use args::{Args, Task};
use kubectl_podrank::render::{self, Look};
use podrank_preview::{Input, Remedy, preview};
use progress::Watched;
use std::error::Error;
use std::fmt::Display;
use std::fs::{File, Metadata};
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use terminal_size::{Width, terminal_size_of};

fn main() -> ExitCode {
    let done = match Args::read() {
        Args::Preview(args) => show(&args),
        Args::Task(task) => run(&task),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&format!("error: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn run(task: &Task) -> Result<(), Box<dyn Error>> {
    let text = match task {
        Task::Completion { shell } => shell::script(*shell, args::command()),
        Task::Complete { words } => shell::candidates(&args::command(), words).into(),
        Task::Man => shell::man(args::command())?,
    };
    print(&text)
}

fn show(args: &PreviewArgs) -> Result<(), Box<dyn Error>> {
    let place =
        if is_stdin(&args.filename) { "standard input".into() } else { args.filename.to_string_lossy() };
    let in_place = |error: &dyn Display| format!("{place}: {error}");
    let reader = open(&args.filename).map_err(|error| in_place(&error))?;
    let input = Input::read(reader).map_err(|error| in_place(&error))?;
    let preview = preview(&input, &args.options())
        .map_err(|error| in_place(&format!("{error}{}", error.remedy().map_or("", flags))))?;

    // All of it before the first byte is written, so that no reader gets half a preview.
    let text = match args.output {
        Output::Table | Output::Wide => render::table(&preview, look(args.output)),
        Output::Json => preview.to_json(),
        Output::Name => render::name(&preview),
    };
    for note in &preview.notes {
        complain(&note.to_string());
    }
    let unnamed = render::unnamed(&preview).filter(|_| args.output == Output::Name);
    if let Some(note) = unnamed {
        complain(&format!("note: {note}"));
    }
    print(text.as_bytes())
}

/// The flags that help, as the end of an error.
fn flags(remedy: Remedy) -> &'static str {
    match remedy {
        Remedy::NameTheSet => "; choose one with --replicaset and --namespace",
        Remedy::AcceptPartial => ", or accept what is missing with --partial",
        _ => "",
    }
}

fn is_stdin(filename: &Path) -> bool {
    filename == Path::new("-")
}

fn open(filename: &Path) -> io::Result<Watched<Box<dyn io::Read>>> {
    if is_stdin(filename) {
        return Ok(Watched::new(Box::new(io::stdin().lock()), None));
    }
    let file = File::open(filename)?;
    // The length of a named pipe says nothing.
    let length = file.metadata().ok().filter(Metadata::is_file).map(|metadata| metadata.len());
    Ok(Watched::new(Box::new(file), length))
}

/// The look of a table on standard output.
fn look(output: Output) -> Look {
    Look {
        is_wide: output == Output::Wide,
        in_colour: AutoStream::choice(&io::stdout()) != ColorChoice::Never,
        terminal_width: terminal_size_of(io::stdout()).map(|(Width(columns), _)| columns.into()),
    }
}

/// Writes one line to standard error. Ignores write errors: there is nowhere to report them.
fn complain(text: &str) {
    let _ = writeln!(io::stderr(), "{}", render::plain(text));
}

fn print(text: &[u8]) -> Result<(), Box<dyn Error>> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text).and_then(|()| stdout.flush()) {
        // The reader, such as `head`, has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result.map_err(|error| format!("standard output: {error}").into()),
    }
}
