//! The stand-in for kubectl.

use super::{Output, PROGRAM, output};
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// The script that stands in for kubectl.
pub(crate) const KUBECTL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fake/kubectl");

/// The directory with its answers, and with what it was asked. It goes when this is dropped.
pub(crate) struct Kubectl(PathBuf);

impl Kubectl {
    /// Each answer is a few files: their suffixes, and what is in them.
    pub(crate) fn with<'a>(answers: impl IntoIterator<Item = Vec<(&'a str, String)>>) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let directory = std::env::temp_dir().join(format!("podrank-kubectl-{}-{number}", std::process::id()));
        fs::create_dir_all(&directory).expect("a directory");
        for (number, files) in (1..).zip(answers) {
            for (suffix, text) in files {
                fs::write(directory.join(format!("{number}.{suffix}")), text).expect("a file");
            }
        }
        Self(directory)
    }

    pub(crate) fn run(&self, args: &[&str], stdin: &[u8]) -> Output {
        output(Command::new(PROGRAM).args(args).env("KUBECTL", KUBECTL).env("ANSWERS", &self.0), stdin)
    }

    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.0.join(file)
    }

    /// What it was asked so far, a line each, with `|` between the words.
    pub(crate) fn asked(&self) -> Vec<String> {
        let asked = fs::read_to_string(self.path("asked")).unwrap_or_default();
        asked.lines().map(str::to_owned).collect()
    }
}

impl Drop for Kubectl {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
