//! Relays the standard error of a child process to ours. Leaves out lines that it has relayed before, and keeps
//! refusals of single types for the caller. Knows kubectl's English, and runs nothing.

use kubectl_podrank::view::{plain, plain_but};
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::sync::Mutex;

/// The lines that were relayed already, without times.
#[derive(Default)]
pub(crate) struct Relay {
    shown: Mutex<BTreeSet<String>>,
}

/// A summary of the lines, for the caller.
#[derive(Default)]
pub(crate) struct Kept {
    /// Lines that refuse one type each.
    pub(crate) refusals: Vec<String>,
    /// Whether something was not found.
    pub(crate) is_missing: bool,
    /// Whether the API server did not answer.
    pub(crate) is_unreachable: bool,
    /// Whether there was more than refusals, warnings and log.
    pub(crate) has_more: bool,
}

impl Relay {
    /// Passes everything on until the writer ends. A line that is not complete is a question to the user, and does not wait for its end.
    pub(crate) fn pass(&self, mut from: impl Read, mut to: impl Write) -> Kept {
        let (mut kept, mut line, mut buffer) = (Kept::default(), Vec::new(), [0; 4096]);
        // How much of the line was passed on as a question.
        let mut asked = 0;
        while let Ok(length @ 1..) = from.read(&mut buffer) {
            line.extend_from_slice(&buffer[..length]);
            while let Some(end) = line.iter().position(|byte| *byte == b'\n') {
                let whole: Vec<_> = line.drain(..=end).collect();
                self.end(&whole, asked, &mut kept, &mut to);
                asked = 0;
            }
            if asked > 0 || !self.may_be_left_out(&line) {
                asked += pass_text(&line[asked..], &mut to);
            }
        }
        if !line.is_empty() {
            self.end(&line, asked, &mut kept, &mut to);
        }
        kept
    }

    /// Passes a whole line on, unless it is kept or was passed on before.
    fn end(&self, line: &[u8], asked: usize, kept: &mut Kept, to: &mut impl Write) {
        let text = String::from_utf8_lossy(line);
        kept.is_missing |= text.contains("(NotFound)");
        kept.is_unreachable |= UNREACHABLE.iter().any(|start| text.starts_with(start));
        if asked == 0 && text.starts_with(REFUSED) {
            kept.refusals.push(text.trim_end().to_owned());
            return;
        }
        // kubectl logs what it does without, such as an API whose server does not answer.
        let is_log = untimed(text.trim_end()) != text.trim_end();
        kept.has_more |= !is_log && !text.starts_with("Warning:");
        // A question may be asked again.
        if asked > 0 || self.is_new(&text) {
            pass_text(&line[asked..], to);
        }
    }

    /// Passes lines on that were kept.
    pub(crate) fn pass_kept(&self, lines: &[String], mut to: impl Write) {
        for line in lines.iter().filter(|line| self.is_new(line)) {
            let _ = writeln!(to, "{}", plain(line));
        }
    }

    fn is_new(&self, line: &str) -> bool {
        self.shown.lock().is_ok_and(|mut shown| shown.insert(untimed(line.trim_end()).to_owned()))
    }

    /// Whether the rest of the line may make it one that is left out.
    fn may_be_left_out(&self, start: &[u8]) -> bool {
        let start = String::from_utf8_lossy(start);
        let is_start = |line: &str| line.starts_with(&*start);
        let is_log =
            start.starts_with(['E', 'W', 'I']) && start[1..].bytes().take(4).all(|it| it.is_ascii_digit());
        is_log
            || REFUSED.starts_with(&*start)
            || start.starts_with(REFUSED)
            || self.shown.lock().is_ok_and(|shown| shown.iter().any(|line| is_start(line)))
    }
}

/// Passes text on, with escapes for hidden characters, as names and messages of a cluster may be in it. Returns how many bytes it passed
/// on: a character of which bytes are missing waits for them.
fn pass_text(bytes: &[u8], to: &mut impl Write) -> usize {
    let length = match str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        _ => bytes.len(),
    };
    let text = String::from_utf8_lossy(&bytes[..length]);
    let _ = to.write_all(plain_but(&text, &['\n', '\r', '\t']).as_bytes()).and_then(|()| to.flush());
    length
}

const REFUSED: &str = "Error from server (Forbidden)";
const UNREACHABLE: [&str; 2] = ["The connection to the server ", "Unable to connect to the server"];

/// A line of kubectl's log without its head, which has a time: `E1126 15:36:41.123456   12345 memcache.go:265] `.
fn untimed(line: &str) -> &str {
    let is_head = |head: &str| head.len() > 5 && head[1..].bytes().take(4).all(|byte| byte.is_ascii_digit());
    match line.split_once("] ") {
        Some((head, rest)) if line.starts_with(['E', 'W', 'I']) && is_head(head) => rest,
        _ => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives one part for each read.
    struct Parts(Vec<&'static str>);

    impl Read for Parts {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            if self.0.is_empty() {
                return Ok(0);
            }
            let part = self.0.remove(0);
            buffer[..part.len()].copy_from_slice(part.as_bytes());
            Ok(part.len())
        }
    }

    fn passed(relay: &Relay, parts: &[&'static str]) -> (String, Kept) {
        let mut passed = Vec::new();
        let kept = relay.pass(Parts(parts.to_vec()), &mut passed);
        (String::from_utf8(passed).expect("UTF-8"), kept)
    }

    #[test]
    fn a_line_is_passed_on_once_whatever_its_time() {
        let relay = Relay::default();
        let first = "E1126 15:36:41.1 77 memcache.go:265] refused\n";
        let (text, _) =
            passed(&relay, &[first, "E1126 15:36:42.9 77 memcache.go:265] ref", "used\nother\nother\n"]);
        assert_eq!(text, format!("{first}other\n"));
        // Nor is it by the next process.
        assert_eq!(passed(&relay, &["E1127 00:00:00.1 78 memcache.go:265] refused\n", "new"]).0, "new");
    }

    #[test]
    fn a_question_does_not_wait_for_its_end() {
        struct Stops(bool);
        impl Read for Stops {
            fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
                assert!(!std::mem::replace(&mut self.0, true), "the question was not passed on");
                buffer[..10].copy_from_slice(b"Password: ");
                Ok(10)
            }
        }
        struct Passed;
        impl Write for Passed {
            fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
                std::panic::resume_unwind(Box::new(bytes == b"Password: "));
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let relay = Relay::default();
        let was_passed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            relay.pass(Stops(false), Passed).is_missing
        }));
        assert_eq!(was_passed.expect_err("it was passed on").downcast_ref(), Some(&true));
        assert_eq!(passed(&relay, &["Pass", "word: ", "\n", "a\n"]).0, "Password: \na\n");
    }

    #[test]
    fn hidden_characters_are_passed_on_as_escapes() {
        let relay = Relay::default();
        let text = "a\u{202e}b\u{1b}[31m\tc\r\n";
        assert_eq!(
            passed(&relay, &[text, "Name\u{fe0f}: "]).0,
            "a\\u{202e}b\\u{1b}[31m\tc\r\nName\\u{fe0f}: "
        );
        // The bytes of one come in two parts.
        let [start, end] = [&b"Again\xe2\x80"[..], &b"\xae: "[..]];
        let mut to = Vec::new();
        relay.pass(start.chain(end), &mut to);
        assert_eq!(to, b"Again\\u{202e}: ");
        let mut kept = Vec::new();
        relay.pass_kept(&["b\u{202e}".to_owned()], &mut kept);
        assert_eq!(kept, b"b\\u{202e}\n");
    }

    #[test]
    fn refusals_are_kept() {
        let refusal = "Error from server (Forbidden): jobs.batch is forbidden";
        let relay = Relay::default();
        let (text, kept) =
            passed(&relay, &["Error from", " server (Forbidden): jobs.batch is forbidden\nx\n"]);
        assert_eq!((&*text, &*kept.refusals, kept.has_more), ("x\n", &[refusal.to_owned()][..], true));
        let (_, kept) = passed(&relay, &["Error from server (NotFound): pods \"a\" not found\n"]);
        assert!(kept.is_missing && kept.refusals.is_empty());
        let log =
            "E1126 15:36:41.1 77 memcache.go:287] couldn't get resource list for metrics.k8s.io/v1beta1\n";
        let refused = "Error from server (Forbidden): jobs.batch is forbidden\n";
        let (_, kept) = passed(&Relay::default(), &[log, refused]);
        assert!(!kept.has_more && kept.refusals.len() == 1);
    }
}
