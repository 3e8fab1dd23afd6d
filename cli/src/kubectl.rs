//! Runs kubectl, which knows how to reach the cluster: logins, proxies and long lists are its business.

use crate::progress::Watched;
use podrank_preview::{Input, WorkloadName};
use std::error::Error;
use std::ffi::OsString;
use std::io::{self, Read};
use std::process::{ChildStdout, Command, ExitStatus, Stdio};

/// kubectl, and how it reaches the cluster.
pub(crate) struct Kubectl {
    program: OsString,
    connection: Vec<String>,
}

impl Kubectl {
    /// The kubectl that the environment variable `KUBECTL` names, else the one on the `PATH`.
    pub(crate) fn new(connection: Vec<String>) -> Self {
        let program = std::env::var_os("KUBECTL").filter(|program| !program.is_empty());
        Self { program: program.unwrap_or_else(|| "kubectl".into()), connection }
    }

    /// What `kubectl get WORDS` finds, which may be nothing. kubectl reads longer lists page by page.
    ///
    /// kubectl has the terminal: what it has to say goes to standard error as it is, and a login may ask its questions.
    pub(crate) fn get(&self, words: &[&str]) -> Result<Input, Box<dyn Error>> {
        self.run(&[&["get"], words].concat(), "json", Stdio::inherit(), |stdout| {
            let mut stdout = Watched::new(stdout, None);
            let input = Input::read_part(&mut stdout);
            // What is left is read, for else kubectl would complain of the broken pipe.
            io::copy(&mut stdout, &mut io::sink())?;
            // Nothing at all is what it prints of a name that it may ignore.
            Ok(input?.unwrap_or_default())
        })
    }

    /// The names of what `kubectl get WORDS` finds. On failure nobody learns why: they are only suggestions.
    pub(crate) fn names(&self, words: &[&str]) -> Vec<WorkloadName> {
        let lines = self.lines(words);
        lines.iter().filter_map(|line| line.parse().ok()).collect()
    }

    /// The lines of `kubectl get WORDS -o name`, none on failure.
    pub(crate) fn lines(&self, words: &[&str]) -> Vec<String> {
        let text = self.run(&[&["get"], words].concat(), "name", Stdio::null(), all);
        text.map_or_else(|_| Vec::new(), |text| text.lines().map(str::to_owned).collect())
    }

    /// The contexts of the kubeconfig file, none on failure.
    pub(crate) fn contexts(&self) -> Vec<String> {
        let text = self.run(&["config", "get-contexts"], "name", Stdio::null(), all);
        text.map_or_else(|_| Vec::new(), |text| text.lines().map(str::to_owned).collect())
    }

    fn run<T>(
        &self,
        words: &[&str],
        output: &str,
        stderr: Stdio,
        read: impl FnOnce(ChildStdout) -> Result<T, Box<dyn Error>>,
    ) -> Result<T, Box<dyn Error>> {
        let mut command = Command::new(&self.program);
        command.args(words).args(["--output", output]).args(&self.connection);
        let mut child =
            command.stdout(Stdio::piped()).stderr(stderr).spawn().map_err(|error| self.missing(&error))?;
        let read = read(child.stdout.take().expect("a pipe"));
        let status = child.wait()?;
        // Without the connection, which may hold a token.
        let request = format!("{} {}", self.program.to_string_lossy(), words.join(" "));
        if !status.success() {
            return Err(failed(&request, status).into());
        }
        read.map_err(|error| format!("{request}: {error}").into())
    }

    fn missing(&self, error: &io::Error) -> String {
        let program = self.program.to_string_lossy();
        match error.kind() {
            io::ErrorKind::NotFound => format!(
                "{program}: not found; install kubectl, name it in the environment variable KUBECTL, or read a dump with -f"
            ),
            _ => format!("{program}: {error}"),
        }
    }
}

fn all(mut stdout: ChildStdout) -> Result<String, Box<dyn Error>> {
    let mut text = String::new();
    stdout.read_to_string(&mut text)?;
    Ok(text)
}

/// kubectl has said why.
fn failed(request: &str, status: ExitStatus) -> String {
    format!("`{request}` failed ({status})")
}
