//! Runs kubectl, which knows how to reach the cluster and takes care of logins, proxies and long lists.

use crate::Failure;
use crate::args::connection::place;
use crate::progress::read_all;
use crate::relay::{Kept, Relay};
use podrank_predict::{Error, ErrorKind, Snapshot};
use std::ffi::OsString;
use std::fmt;
use std::io::{self, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;

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
    /// The object is no longer as it was.
    Conflict,
    /// The object has another count than the one that was given as its present one.
    Count,
    /// The API server knows no such type.
    UnknownType,
    /// A JSON patch does not fit: one of its tests failed.
    Mismatch,
    /// Anything else.
    Other,
}

/// A failure of kubectl, with what it said last, or with the request if it has said that to the user.
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

impl std::error::Error for Refusal {}

impl Refusal {
    fn new(text: String) -> Self {
        let said = SAID.iter().find(|(words, _)| text.contains(words));
        Self { reason: said.map_or(Reason::Other, |(_, reason)| *reason), text }
    }
}

/// What kubectl says for each reason. The first that fits counts.
const SAID: [(&str, Reason); 7] = [
    ("(Forbidden)", Reason::Forbidden),
    ("(NotFound)", Reason::NotFound),
    ("Expected replicas to be ", Reason::Count),
    ("(Conflict)", Reason::Conflict),
    (CONFLICT, Reason::Conflict),
    ("doesn't have a resource type", Reason::UnknownType),
    ("The request is invalid", Reason::Mismatch),
];

impl Answer {
    /// What kubectl printed, if it succeeded.
    pub(crate) fn result(self) -> Result<String, Refusal> {
        if self.is_ok { Ok(self.stdout) } else { Err(Refusal::new(self.last_word())) }
    }

    /// Whether kubectl did not read this one of the resources that it was asked for: it says which, or has read none.
    pub(crate) fn refuses(&self, resource: &str) -> bool {
        let names = |resource: &str| self.stderr.contains(resource);
        let (name, _) = resource.split_once('.').unwrap_or((resource, ""));
        !self.is_ok && (names(name) || self.stdout.trim().is_empty())
    }

    /// What kubectl said last, or which fields somebody else owns.
    fn last_word(&self) -> String {
        let lines = || self.stderr.lines().map(str::trim).filter(|line| !line.is_empty());
        let conflict: Vec<_> = lines()
            .skip_while(|line| !line.trim_start_matches("error: ").starts_with(CONFLICT))
            .take_while(|line| !line.starts_with("Please review"))
            .collect();
        if !conflict.is_empty() {
            return conflict.join(" ");
        }
        let error = lines().rfind(|line| is_error(line)).or_else(|| lines().next_back());
        error.unwrap_or("kubectl failed and said nothing").to_owned()
    }
}

/// How kubectl begins to say, in several lines, that somebody else owns fields. With several objects, it writes no `error:`.
const CONFLICT: &str = "Apply failed with";

fn is_error(line: &str) -> bool {
    ["Error from server", "error:", "Unable to connect"].iter().any(|start| line.starts_with(start))
}

/// How to go on with what kubectl writes to standard error.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Messages {
    Pass,
    /// As `Pass`, and if some types are refused, the rest is read all the same.
    PassAndAcceptRefusals,
    Drop,
}

/// kubectl, and how it reaches the cluster.
pub(crate) struct Kubectl {
    program: OsString,
    connection: Vec<String>,
    relay: Relay,
}

impl Kubectl {
    /// Returns the kubectl that the environment variable `KUBECTL` names, or else the one on the `PATH`.
    pub(crate) fn new(connection: Vec<String>) -> Self {
        let program = std::env::var_os("KUBECTL").filter(|program| !program.is_empty());
        Self { program: program.unwrap_or_else(|| "kubectl".into()), connection, relay: Relay::default() }
    }

    /// The flags that name the cluster and the user, behind a command to copy. A token is not shown again.
    pub(crate) fn place(&self) -> String {
        place(&self.connection)
    }

    /// Returns what `kubectl get WORDS` finds, which may be nothing. kubectl reads longer lists page by page.
    ///
    /// kubectl uses the terminal: its messages go to standard error, each once, and a login can ask for input.
    pub(crate) fn get(&self, words: &[&str]) -> Result<Snapshot, Failure> {
        self.read(words, Messages::Pass).map(|(input, _)| input)
    }

    /// The same for several types, of which the user may be refused some: these refusals come with what could be read.
    pub(crate) fn get_readable(&self, words: &[&str]) -> Result<(Snapshot, Vec<String>), Failure> {
        self.read(words, Messages::PassAndAcceptRefusals)
    }

    /// Writes these lines of kubectl's to standard error, each once.
    pub(crate) fn tell(&self, lines: &[String]) {
        self.relay.pass_kept(lines, io::stderr());
    }

    /// Returns what `kubectl get WORDS` finds, or nothing on failure, which is not reported.
    pub(crate) fn get_if_allowed(&self, words: &[&str]) -> Snapshot {
        self.read(words, Messages::Drop).map(|(input, _)| input).unwrap_or_default()
    }

    fn read(&self, words: &[&str], messages: Messages) -> Result<(Snapshot, Vec<String>), Failure> {
        self.run(&[&["get"], words].concat(), "json", messages, |stdout| {
            // For a missing name that it may ignore, kubectl prints nothing at all.
            Ok(Snapshot::read_part(&read_all(stdout, None)?)?.unwrap_or_default())
        })
    }

    /// Returns the lines of `kubectl get WORDS -o name`, or none on failure, which is not reported: the names are only suggestions.
    pub(crate) fn lines(&self, words: &[&str]) -> Vec<String> {
        self.lines_of(&[&["get"], words].concat())
    }

    /// Returns the namespace of the kubeconfig file's context.
    pub(crate) fn context_namespace(&self) -> String {
        let words = ["config", "view", "--minify", "--output=jsonpath={..namespace}"];
        let answer = self.call(&words, "").and_then(Answer::result).unwrap_or_default();
        if answer.trim().is_empty() { "default".to_owned() } else { answer.trim().to_owned() }
    }

    /// The same of any command that prints names.
    pub(crate) fn lines_of(&self, words: &[&str]) -> Vec<String> {
        let text = self.run(words, "name", Messages::Drop, |stdout| Ok(io::read_to_string(stdout)?));
        text.map_or_else(|_| Vec::new(), |(text, _)| text.lines().map(str::to_owned).collect())
    }

    /// Runs kubectl with this standard input, and returns all that it says.
    ///
    /// On Unix, it does not get the signals of the terminal: an interrupt must not stop a write half-way.
    pub(crate) fn call(&self, words: &[&str], stdin: &str) -> Result<Answer, Refusal> {
        let failed = |text: String| Refusal { reason: Reason::Other, text };
        let mut command = self.apart(words);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| failed(self.missing(&error).in_one_line()))?;
        let mut pipe = child.stdin.take().expect("a pipe");
        let text = stdin.to_owned();
        // kubectl may answer before it has read everything, and stop reading when it fails.
        let writer = thread::spawn(move || pipe.write_all(text.as_bytes()));
        let output = child.wait_with_output().map_err(|error| failed(error.to_string()))?;
        let _ = writer.join();
        Ok(Answer {
            is_ok: output.status.success(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        })
    }

    /// Starts kubectl, whose standard output is a pipe. The child must be killed.
    pub(crate) fn follow(&self, words: &[&str]) -> Result<Child, Failure> {
        let mut command = self.apart(words);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        command.spawn().map_err(|error| self.missing(&error).into())
    }

    /// kubectl with these words, in a process group of its own.
    fn apart(&self, words: &[&str]) -> Command {
        let mut command = self.command(words);
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        #[cfg(windows)]
        {
            const CREATE_NEW_PROCESS_GROUP: u32 = 0x200;
            std::os::windows::process::CommandExt::creation_flags(&mut command, CREATE_NEW_PROCESS_GROUP);
        }
        command
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(words).args(&self.connection);
        command
    }

    /// Returns what `read` makes of standard output, and the refusals that are accepted.
    fn run<T>(
        &self,
        words: &[&str],
        output: &str,
        messages: Messages,
        read: impl FnOnce(ChildStdout) -> Result<T, Failure>,
    ) -> Result<(T, Vec<String>), Failure> {
        let mut command = self.command(&[words, &["--output", output]].concat());
        let stderr = if messages == Messages::Drop { Stdio::null() } else { Stdio::piped() };
        let mut child =
            command.stdout(Stdio::piped()).stderr(stderr).spawn().map_err(|error| self.missing(&error))?;
        let stdout = child.stdout.take().expect("a pipe");
        let stderr = child.stderr.take();
        let (read, kept) = thread::scope(|scope| {
            let relayed = stderr.map(|stderr| scope.spawn(|| self.relay.pass(stderr, io::stderr())));
            let read = read(stdout);
            (read, relayed.and_then(|relayed| relayed.join().ok()).unwrap_or_default())
        });
        let Kept { refusals, is_missing, is_unreachable, has_more } = kept;
        let status = child.wait()?;
        // Without the connection, which may hold a token.
        let request = format!("{} {}", self.program.to_string_lossy(), words.join(" "));
        let are_refusals = !refusals.is_empty() && !has_more && read.is_ok();
        let accepts = messages == Messages::PassAndAcceptRefusals && are_refusals;
        if !status.success() && !accepts {
            self.tell(&refusals);
            let reason = if is_missing { Reason::NotFound } else { Reason::Other };
            // kubectl has already said why.
            if is_unreachable {
                let error = Error::new("cannot reach the cluster");
                let error = error.advise("To read a file instead, use: kubectl podrank TYPE/NAME -f FILE");
                return Err(error.of_kind(ErrorKind::Unavailable).into());
            }
            return Err(Refusal { reason, text: format!("`{request}` failed ({status})") }.into());
        }
        let read = read.map_err(|error| format!("{request}: {error}"))?;
        Ok((read, refusals))
    }

    fn missing(&self, error: &io::Error) -> Error {
        let program = self.program.to_string_lossy();
        match error.kind() {
            io::ErrorKind::NotFound => Error::new(format!("{program}: not found")).advise(
                "Install kubectl, name it in the environment variable KUBECTL, or read a file with -f.",
            ),
            _ => Error::new(format!("{program}: {error}")),
        }
        .of_kind(ErrorKind::Unavailable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last_word(stderr: &str) -> String {
        Answer { is_ok: false, stdout: String::new(), stderr: stderr.to_owned() }.last_word()
    }

    #[test]
    fn a_conflict_says_with_whom() {
        let advice = "Please review the fields above--they currently have other managers. Here\n\
                      are the ways you can resolve this warning:\n* If you intend to manage all of these fields, please re-run\n\
                      See https://kubernetes.io/docs/reference/using-api/server-side-apply/#conflicts\n";
        let field = ".metadata.annotations.controller.kubernetes.io/pod-deletion-cost";
        let one = format!("Apply failed with 1 conflict: conflict with \"karpenter\": {field}");
        // kubectl writes `error:` for one object, and not for several.
        assert_eq!(last_word(&format!("error: {one}\n{advice}")), format!("error: {one}"));
        assert_eq!(last_word(&format!("{one}\n{advice}{one}\n{advice}")), one);
        let two = "Apply failed with 2 conflicts: conflicts with \"a\":\n- .a\nconflicts with \"b\":\n- .b\n";
        let said = "Apply failed with 2 conflicts: conflicts with \"a\": - .a conflicts with \"b\": - .b";
        assert_eq!(last_word(&format!("Warning: old\n{two}{advice}")), said);
    }

    #[test]
    fn the_error_is_what_counts() {
        for (stderr, said) in [
            ("Warning: old\nError from server (NotFound): a\nsee there\n", "Error from server (NotFound): a"),
            ("something\nelse\n", "else"),
            ("\n", "kubectl failed and said nothing"),
        ] {
            assert_eq!(last_word(stderr), said);
        }
    }
}
