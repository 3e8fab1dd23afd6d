//! `kubectl podrank`: which pods go first when a set scales down. Reads one file, prints, and exits.

mod args;
mod progress;

use anstream::{AutoStream, ColorChoice};
use args::{Args, Output};
use kubectl_podrank::render::{self, Look};
use podrank_preview::{Input, preview};
use progress::Watched;
use std::error::Error;
use std::fs::{File, Metadata};
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use terminal_size::{Width, terminal_size_of};

fn main() -> ExitCode {
    match run(&Args::read()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&format!("error: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result<(), Box<dyn Error>> {
    let place =
        if is_stdin(&args.filename) { "standard input".into() } else { args.filename.to_string_lossy() };
    let in_place = |error: &dyn Error| format!("{place}: {error}");
    let reader = open(&args.filename).map_err(|error| in_place(&error))?;
    let input = Input::read(reader).map_err(|error| in_place(&error))?;
    let (preview, notes) = preview(&input, &args.options()).map_err(|error| in_place(&error))?;

    // All of it before the first byte goes out, so that no reader sees half a preview.
    let text = match args.output {
        Output::Table | Output::Wide => render::table(&preview, look(args.output)),
        Output::Json => preview.to_json(),
        Output::Name => render::name(&preview),
    };
    for note in notes {
        complain(&note.to_string());
    }
    print(&text).map_err(|error| format!("standard output: {error}").into())
}

fn is_stdin(filename: &Path) -> bool {
    filename == Path::new("-")
}

fn open(filename: &Path) -> io::Result<Watched<Box<dyn io::Read>>> {
    if is_stdin(filename) {
        return Ok(Watched::new(Box::new(io::stdin().lock()), None));
    }
    let file = File::open(filename)?;
    // A pipe given by name has no length to speak of.
    let length = file.metadata().ok().filter(Metadata::is_file).map(|metadata| metadata.len());
    Ok(Watched::new(Box::new(file), length))
}

/// How a table is to look where standard output goes.
fn look(output: Output) -> Look {
    Look {
        is_wide: output == Output::Wide,
        in_colour: AutoStream::choice(&io::stdout()) != ColorChoice::Never,
        terminal_width: terminal_size_of(io::stdout()).map(|(Width(columns), _)| columns.into()),
    }
}

/// One line on standard error. If nobody can read it there is nobody to tell.
fn complain(text: &str) {
    let _ = writeln!(io::stderr(), "{}", render::plain(text));
}

fn print(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        // The reader, such as `head`, has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}
