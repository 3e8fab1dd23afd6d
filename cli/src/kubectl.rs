//! Runs kubectl, which knows how to reach the cluster and takes care of logins, proxies and long lists.

use crate::progress::Watched;
use podrank_preview::{Input, WorkloadName};
use std::error::Error;
use std::ffi::OsString;
use std::fmt;
use std::io::{self, Read, Write};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};

/// What kubectl did.
pub(crate) struct Answer {
    is_ok: bool,
    pub(crate) stdout: String,
    stderr: String,
}

/// Why kubectl failed, as far as it makes a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// The user may not do that.
    Forbidden,
    /// There is no such object.
    NotFound,
    /// There is such an object already.
    AlreadyExists,
    /// The object is no longer as it was.
    Conflict,
    /// A `PodDisruptionBudget` does not allow it now.
    Budget,
    /// The API server knows no such type.
    UnknownType,
    /// A JSON patch does not fit: one of its tests failed.
    Mismatch,
    /// Anything else.
    Other,
}

/// A failure of kubectl, with what it said last.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) reason: Reason,
    text: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Error for Refusal {}

impl Refusal {
    /// The only place that reads kubectl's English.
    fn new(text: String) -> Self {
        let says = |words: &str| text.contains(words);
        let reason = if says("(Forbidden)") {
            Reason::Forbidden
        } else if says("(NotFound)") {
            Reason::NotFound
        } else if says("(AlreadyExists)") {
            Reason::AlreadyExists
        } else if says("(Conflict)") {
            Reason::Conflict
        } else if says("(TooManyRequests)") || says("disruption budget") {
            Reason::Budget
        } else if says("doesn't have a resource type") {
            Reason::UnknownType
        } else if says("The request is invalid") {
            Reason::Mismatch
        } else {
            Reason::Other
        };
        Self { reason, text }
    }
}

impl Answer {
    /// What kubectl printed, if it succeeded.
    pub(crate) fn result(self) -> Result<String, Refusal> {
        if self.is_ok { Ok(self.stdout) } else { Err(Refusal::new(self.last_word().to_owned())) }
    }

    /// Whether kubectl did not read this one of the resources that it was asked for: it says which, or has read none.
    pub(crate) fn refuses(&self, resource: &str) -> bool {
        let names = |resource: &str| self.stderr.contains(resource);
        let (name, _) = resource.split_once('.').unwrap_or((resource, ""));
        !self.is_ok && (names(name) || self.stdout.trim().is_empty())
    }

    /// What kubectl said last.
    fn last_word(&self) -> &str {
        let lines = || self.stderr.lines().map(str::trim).filter(|line| !line.is_empty());
        let error = lines().rfind(|line| is_error(line));
        error.or_else(|| lines().next_back()).unwrap_or("kubectl failed and said nothing")
    }
}

fn is_error(line: &str) -> bool {
    ["Error from server", "error:", "Unable to connect"].iter().any(|start| line.starts_with(start))
}

/// kubectl, and how it reaches the cluster.
#[derive(Clone)]
pub(crate) struct Kubectl {
    program: OsString,
    connection: Vec<String>,
}

impl Kubectl {
    /// Returns the kubectl that the environment variable `KUBECTL` names, or else the one on the `PATH`.
    pub(crate) fn new(connection: Vec<String>) -> Self {
        let program = std::env::var_os("KUBECTL").filter(|program| !program.is_empty());
        Self { program: program.unwrap_or_else(|| "kubectl".into()), connection }
    }

    /// Returns what `kubectl get WORDS` finds, which may be nothing. kubectl reads longer lists page by page.
    ///
    /// kubectl uses the terminal: its messages go to standard error unchanged, and a login can ask for input.
    pub(crate) fn get(&self, words: &[&str]) -> Result<Input, Box<dyn Error>> {
        self.read(words, Stdio::inherit())
    }

    /// Returns what `kubectl get WORDS` finds, or `None` on failure, which is not reported.
    pub(crate) fn get_if_allowed(&self, words: &[&str]) -> Option<Input> {
        self.read(words, Stdio::null()).ok()
    }

    fn read(&self, words: &[&str], messages: Stdio) -> Result<Input, Box<dyn Error>> {
        self.run(&[&["get"], words].concat(), "json", messages, |stdout| {
            let mut stdout = Watched::new(stdout, None);
            let input = Input::read_part(&mut stdout);
            // Reads the rest, because kubectl would otherwise complain about a broken pipe.
            io::copy(&mut stdout, &mut io::sink())?;
            // For a missing name that it may ignore, kubectl prints nothing at all.
            Ok(input?.unwrap_or_default())
        })
    }

    /// Returns the names of what `kubectl get WORDS` finds. Failures are not reported, because the names are only
    /// suggestions.
    pub(crate) fn names(&self, words: &[&str]) -> Vec<WorkloadName> {
        let lines = self.lines(words);
        lines.iter().filter_map(|line| line.parse().ok()).collect()
    }

    /// Returns the lines of `kubectl get WORDS -o name`, or none on failure.
    pub(crate) fn lines(&self, words: &[&str]) -> Vec<String> {
        self.lines_of(&[&["get"], words].concat())
    }

    /// Returns the contexts in the kubeconfig file, or none on failure.
    pub(crate) fn contexts(&self) -> Vec<String> {
        self.lines_of(&["config", "get-contexts"])
    }

    /// Returns the namespace of the kubeconfig file's context.
    pub(crate) fn context_namespace(&self) -> String {
        let words = ["config", "view", "--minify", "--output=jsonpath={..namespace}"];
        let answer = self.call(&words, "").and_then(Answer::result).unwrap_or_default();
        if answer.trim().is_empty() { "default".to_owned() } else { answer.trim().to_owned() }
    }

    fn lines_of(&self, words: &[&str]) -> Vec<String> {
        let text = self.run(words, "name", Stdio::null(), all);
        text.map_or_else(|_| Vec::new(), |text| text.lines().map(str::to_owned).collect())
    }

    /// Runs kubectl with this standard input, and returns all that it says.
    ///
    /// On Unix, it does not get the signals of the terminal: an interrupt must not stop a write half-way.
    pub(crate) fn call(&self, words: &[&str], stdin: &str) -> Result<Answer, Refusal> {
        let failed = |text: String| Refusal { reason: Reason::Other, text };
        let mut command = self.apart(words);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| failed(self.missing(&error)))?;
        let mut pipe = child.stdin.take().expect("a pipe");
        let text = stdin.to_owned();
        // kubectl may answer before it has read everything, and stop reading when it fails.
        let writer = std::thread::spawn(move || pipe.write_all(text.as_bytes()));
        let output = child.wait_with_output().map_err(|error| failed(error.to_string()))?;
        let _ = writer.join();
        Ok(Answer {
            is_ok: output.status.success(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        })
    }

    /// Starts kubectl, whose standard output is a pipe. The child must be killed.
    pub(crate) fn follow(&self, words: &[&str]) -> Result<Child, Box<dyn Error>> {
        let mut command = self.apart(words);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        command.spawn().map_err(|error| self.missing(&error).into())
    }

    /// kubectl with these words, in a process group of its own.
    fn apart(&self, words: &[&str]) -> Command {
        let mut command = self.command(words);
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(words).args(&self.connection);
        command
    }

    fn run<T>(
        &self,
        words: &[&str],
        output: &str,
        stderr: Stdio,
        read: impl FnOnce(ChildStdout) -> Result<T, Box<dyn Error>>,
    ) -> Result<T, Box<dyn Error>> {
        let mut command = self.command(&[words, &["--output", output]].concat());
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

/// kubectl has already printed why.
fn failed(request: &str, status: ExitStatus) -> String {
    format!("`{request}` failed ({status})")
}
