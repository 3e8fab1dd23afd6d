//! Writes the man page and the shell completions: `shell-files DIR`.
//!
//! `kubectl podrank <TAB>` goes through `kubectl_complete-podrank`, which kubectl looks for on the `PATH`; the files of bash,
//! zsh, fish and PowerShell complete `kubectl-podrank`, the program's own name.

#[expect(dead_code, reason = "only the flags are of interest, not their values")]
#[path = "../src/args.rs"]
mod args;

use clap::{Command, CommandFactory};
use clap_complete::Shell;
use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

const PROGRAM: &str = "kubectl-podrank";

fn main() -> Result<(), Box<dyn Error>> {
    let directory: PathBuf = std::env::args_os().nth(1).ok_or("usage: shell-files DIR")?.into();
    for name in write_files(&directory)? {
        println!("{name}");
    }
    Ok(())
}

/// Writes the files and names them.
fn write_files(directory: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    fs::create_dir_all(directory)?;
    let mut names = vec![format!("{PROGRAM}.1"), "kubectl_complete-podrank".to_owned()];
    let mut page = Vec::new();
    clap_mangen::Man::new(args::Args::command()).title(PROGRAM).render(&mut page)?;
    fs::write(directory.join(&names[0]), page)?;
    let script = directory.join(&names[1]);
    fs::write(&script, for_kubectl(&args::Args::command()))?;
    make_executable(&script)?;
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish, Shell::PowerShell] {
        let file = clap_complete::generate_to(shell, &mut args::Args::command(), PROGRAM, directory)?;
        names.extend(file.file_name().map(|name| name.to_string_lossy().into_owned()));
    }
    Ok(names)
}

#[cfg(unix)]
fn make_executable(file: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(file, fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn make_executable(_: &Path) -> std::io::Result<()> {
    Ok(())
}

/// What kubectl runs with the words of the line so far: it prints a candidate a line, then what the shell is to do besides.
fn for_kubectl(command: &Command) -> String {
    let mut flags = String::new();
    let mut values = String::new();
    for argument in command.get_arguments() {
        let Some(long) = argument.get_long() else { continue };
        let help = argument.get_help().map(|help| help.to_string().replace('\'', "’")).unwrap_or_default();
        let _ = writeln!(flags, "--{long}\t{help}");
        let possible = argument.get_possible_values();
        let short = argument.get_short().map_or_else(String::new, |short| format!(" | -{short}"));
        if !possible.is_empty() {
            let list: Vec<_> = possible.iter().map(clap::builder::PossibleValue::get_name).collect();
            let _ =
                writeln!(values, "    --{long}{short}) printf '%s\\n' {}; echo :4; exit ;;", list.join(" "));
        } else if long == "filename" {
            // Nothing of ours: the shell completes files.
            let _ = writeln!(values, "    --{long}{short}) echo :0; exit ;;");
        } else if argument.get_action().takes_values() {
            let _ = writeln!(values, "    --{long}{short}) echo :4; exit ;;");
        }
    }
    format!(
        "#!/bin/sh\n\
         # Completes `kubectl podrank`: put it on the PATH. Numbers after a colon are cobra's: 4 is \"no files\".\n\
         previous=\n\
         while [ $# -gt 1 ]; do previous=$1; shift; done\n\
         case $previous in\n\
         {values}esac\n\
         cat <<'FLAGS'\n\
         {flags}FLAGS\n\
         echo :4\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_knows_every_flag() {
        let directory = std::env::temp_dir().join(format!("podrank-shell-files-{}", std::process::id()));
        let names = write_files(&directory).expect("the files");
        assert_eq!(names.len(), 6);
        for name in &names {
            // The man page writes hyphens as roff does, fish leaves them out.
            let text = fs::read_to_string(directory.join(name)).expect("a file").replace("\\-", "-");
            for argument in args::Args::command().get_arguments() {
                let long = argument.get_long().expect("all flags have a name");
                assert!(text.contains(long), "{name} lacks {long}");
            }
        }
        #[cfg(unix)]
        {
            let complete = |words: &[&str]| {
                let script = directory.join("kubectl_complete-podrank");
                let output = std::process::Command::new(script).args(words).output().expect("it runs");
                String::from_utf8(output.stdout).expect("UTF-8")
            };
            assert_eq!(complete(&["--replicas", "3", "-o", ""]), "table\nwide\njson\nname\n:4\n");
            assert_eq!(complete(&["--order", "k"]), "kubernetes\ntotal\n:4\n");
            assert_eq!(complete(&["-f", ""]), ":0\n");
            assert!(complete(&[""]).starts_with("--filename\tWhat `kubectl get"));
            assert!(complete(&["--re"]).ends_with("\n:4\n"));
        }
        fs::remove_dir_all(directory).expect("it is ours");
    }
}
