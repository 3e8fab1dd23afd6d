//! `kubectl podrank`: which pods go first when a workload scales down. Runs kubectl, or reads one file or standard input,
//! looks at the clock and the terminal's size, prints, and exits.

mod args;
mod complete;
mod kubectl;
mod live;
mod progress;
mod shell;
mod steer;
mod surroundings;

use anstream::{AutoStream, ColorChoice};
use args::preview::{Output, PreviewArgs};
use args::{Args, Task};
use jiff::Timestamp;
use kubectl::Kubectl;
use kubectl_podrank::glance::{glance, hint};
use kubectl_podrank::html;
use kubectl_podrank::look::{Look, plain};
use kubectl_podrank::render;
use live::{Live, Managers, Scope};
use podrank_preview::{Input, Options, Preview, Remedy, WorkloadName, preview_workload};
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
        Args::Preview(args) => show(&args).map(|()| ExitCode::SUCCESS),
        Args::Task(task) => run(&task),
    };
    done.unwrap_or_else(|error| {
        complain(&format!("error: {error}"));
        ExitCode::FAILURE
    })
}

fn run(task: &Task) -> Result<ExitCode, Box<dyn Error>> {
    let text = match task {
        Task::Scale(args) => return steer::scale(args),
        Task::Drop(args) => return steer::drop(args),
        Task::Undo(args) => return steer::undo(args),
        Task::Completion { shell } => shell::script(*shell, args::command()),
        Task::Complete { words } => shell::candidates(&args::command(), words, complete::ask).into(),
        Task::Man => shell::man(args::command())?,
    };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn show(args: &PreviewArgs) -> Result<(), Box<dyn Error>> {
    let clock = Timestamp::now();
    let mut options = args.options(clock);
    options.clock = args.now.is_none().then_some(clock);
    let input = match &args.filename {
        Some(filename) => {
            let (input, modified) = read_file(filename)?;
            if args.now.is_none() {
                (options.now, options.now_source) = input.moment(modified, clock);
            }
            input
        }
        None => read_cluster(args, &mut options)?,
    };
    let preview = preview_workload(&input, &options).map_err(|error| {
        let place = args.filename.as_deref().map_or_else(String::new, |filename| place(filename) + ": ");
        format!("{place}{error}{}", error.remedy().map_or("", flags))
    })?;
    print_preview(&input, &options, &preview, args)
}

/// Reads a file or standard input, and the modification time if it is a file.
fn read_file(filename: &Path) -> Result<(Input, Option<Timestamp>), String> {
    let in_place = |error: &dyn Display| format!("{}: {error}", place(filename));
    let (reader, modified) = open(filename).map_err(|error| in_place(&error))?;
    Ok((Input::read(reader).map_err(|error| in_place(&error))?, modified))
}

/// Reads the workload from the cluster, and names it in full in the options.
fn read_cluster(args: &PreviewArgs, options: &mut Options) -> Result<Input, Box<dyn Error>> {
    let name = args.workload()?.expect("clap requires it without a file");
    let scope = if args.all_namespaces { Scope::All } else { Scope::Namespace(args.namespace.as_deref()) };
    let kubectl = Kubectl::new(args.connection.arguments());
    let is_page = args.output == Output::Html;
    let managers = if is_page { Managers::Both } else { Managers::Workload };
    let Live { mut input, workload, lags } = live::read(&kubectl, &name, scope, managers)?;
    surroundings::add(&kubectl, &workload, &mut input);
    if is_page {
        live::add_zones(&kubectl, &mut input);
    }
    options.workload = Some(WorkloadName { kind: Some(workload.kind), name: workload.name });
    options.namespace = Some(workload.namespace);
    // The cluster has nothing more to tell, so where its statuses lag behind, notes say so.
    options.lags = lags;
    // After the last answer, so that no pod in it is younger than the decision.
    if args.now.is_none() {
        let clock = Timestamp::now();
        (options.now, options.clock) = (clock, Some(clock));
    }
    Ok(input)
}

fn print_preview(
    input: &Input,
    options: &Options,
    preview: &Preview<'_>,
    args: &PreviewArgs,
) -> Result<(), Box<dyn Error>> {
    // Completes the text before it writes the first byte, so that no reader gets half a preview.
    let (output, look) = (args.output, look(args));
    let text = match output {
        Output::Table => glance(preview, look),
        Output::Wide => render::proof(preview, look),
        Output::Json => preview.to_json(),
        Output::Html => html::page(input, options, preview)?,
        Output::Name => render::names(preview),
    };
    print(text.as_bytes())?;
    for note in &preview.notes {
        complain(&note.to_string());
    }
    let unnamed = if output == Output::Name { render::unnamed(preview) } else { Vec::new() };
    for note in unnamed {
        complain(&format!("note: {note}"));
    }
    if args.verbose {
        complain(&render::again(preview));
    }
    if output == Output::Table && look.terminal_width.is_some() {
        hint(preview).iter().for_each(|hint| complain(hint));
    }
    Ok(())
}

fn place(filename: &Path) -> String {
    if is_stdin(filename) { "standard input".to_owned() } else { filename.to_string_lossy().into_owned() }
}

/// Returns the flags that help, as the end of an error.
fn flags(remedy: Remedy) -> &'static str {
    match remedy {
        Remedy::NameTheSet => "; choose one as TYPE/NAME, with --namespace",
        Remedy::AcceptPartial => "; --partial accepts what is missing",
        _ => "",
    }
}

fn is_stdin(filename: &Path) -> bool {
    filename == Path::new("-")
}

/// A dump that is being read, and when its file was modified.
type Dump = (Watched<Box<dyn io::Read>>, Option<Timestamp>);

fn open(filename: &Path) -> io::Result<Dump> {
    if is_stdin(filename) {
        return Ok((Watched::new(Box::new(io::stdin().lock()), None), None));
    }
    let file = File::open(filename)?;
    // The length and the modification time of a named pipe have no meaning.
    let metadata = file.metadata().ok().filter(Metadata::is_file);
    let length = metadata.as_ref().map(Metadata::len);
    let modified = metadata.and_then(|metadata| Timestamp::try_from(metadata.modified().ok()?).ok());
    Ok((Watched::new(Box::new(file), length), modified))
}

/// The look of a table on standard output.
fn look(args: &PreviewArgs) -> Look {
    Look { shows_all: args.all, ..look_of_plan() }
}

/// The look of a plan on standard output.
fn look_of_plan() -> Look {
    Look {
        shows_all: false,
        in_colour: AutoStream::choice(&io::stdout()) != ColorChoice::Never,
        terminal_width: terminal_size_of(io::stdout()).map(|(Width(columns), _)| columns.into()),
    }
}

/// Writes one line to standard error. Ignores write errors: there is nowhere to report them.
fn complain(text: &str) {
    let _ = writeln!(io::stderr(), "{}", plain(text));
}

fn print(text: &[u8]) -> Result<(), Box<dyn Error>> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text).and_then(|()| stdout.flush()) {
        // The reader, such as `head`, has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result.map_err(|error| format!("standard output: {error}").into()),
    }
}
