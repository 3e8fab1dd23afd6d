//! `install.sh`, on a release in a directory, with a PATH that has nothing but what a test puts there.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// As it is in the sources: without checksums.
const SCRIPT: &str = include_str!("../install.sh");
const ARCHIVE: &str = "kubectl-podrank-linux-amd64.tar.gz";
/// What the script needs, besides the tools that a test is about.
const TOOLS: [&str; 15] = [
    "awk", "cat", "chmod", "cp", "cut", "env", "grep", "gzip", "mkdir", "mktemp", "mv", "rm", "sed", "sh",
    "tar",
];

/// A release, a home and a PATH, removed at the end of a test.
struct Machine {
    root: PathBuf,
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

fn executable(file: &Path, text: &str) {
    // Replaced, and not written through a link to the machine's own tool.
    let _ = fs::remove_file(file);
    fs::write(file, text).expect("a file");
    fs::set_permissions(file, fs::Permissions::from_mode(0o755)).expect("a mode");
}

/// The exit status, and what was printed.
struct Ran {
    is_success: bool,
    said: String,
}

impl Machine {
    /// Linux on amd64 with curl and sha256sum, and a valid release.
    fn new() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let root = std::env::temp_dir().join(format!("podrank-install-{}-{number}", std::process::id()));
        for folder in ["release", "home", "tools", "tmp"] {
            fs::create_dir_all(root.join(folder)).expect("a folder");
        }
        let machine = Self { root };
        TOOLS.into_iter().chain(["curl", "sha256sum"]).for_each(|tool| machine.link(tool));
        machine.is("Linux", "x86_64");
        machine.release("linux-amd64", "echo kubectl-podrank 9.9.9");
        machine
    }

    fn link(&self, tool: &str) {
        let found = Command::new("sh").args(["-c", &format!("command -v {tool}")]).output().expect("sh");
        let path = String::from_utf8(found.stdout).expect("UTF-8");
        symlink(path.trim(), self.tool(tool)).expect("a link");
    }

    fn tool(&self, name: &str) -> PathBuf {
        self.root.join("tools").join(name)
    }

    fn lacks(&self, tool: &str) {
        fs::remove_file(self.tool(tool)).expect("it was there");
    }

    fn writes(&self, file: &str, text: &str) {
        fs::write(self.root.join("release").join(file), text).expect("a file");
    }

    /// The release lacks a file.
    fn lacks_file(&self, file: &str) {
        fs::remove_file(self.root.join("release").join(file)).expect("it was there");
    }

    fn is(&self, system: &str, machine: &str) {
        executable(
            &self.tool("uname"),
            &format!("#!/bin/sh\n[ $1 = -s ] && echo {system} || echo {machine}\n"),
        );
    }

    /// A `cosign` or `gh` that writes its arguments down, and the files that it reads.
    fn verifier(&self, name: &str, outcome: &str) {
        let asked = self.root.join("asked");
        let text = format!("#!/bin/sh\nprintf '%s\\n' \"$@\" >{}\n{outcome}\n", asked.display());
        executable(&self.tool(name), &text);
        self.writes("SHA256SUMS.sigstore.json", "{}");
        self.writes("SHA256SUMS.attestation.jsonl", "{}");
    }

    /// The arguments, if it ran.
    fn asked(&self) -> Option<String> {
        fs::read_to_string(self.root.join("asked")).ok()
    }

    /// The release v9.9.9 with a program that does this, its checksum, and its script, as `.ci/dist` makes it.
    fn release(&self, platform: &str, program: &str) {
        let (release, archive) = (self.root.join("release"), format!("kubectl-podrank-{platform}.tar.gz"));
        executable(&release.join("kubectl-podrank"), &format!("#!/bin/sh\n{program}\n"));
        let script = format!(
            "tar -czf {archive} kubectl-podrank && rm kubectl-podrank && echo unrelated >other &&
             sha256sum other {archive} >SHA256SUMS"
        );
        assert!(
            Command::new("sh").args(["-c", &script]).current_dir(&release).status().expect("sh").success()
        );
        let sums = fs::read_to_string(release.join("SHA256SUMS")).expect("a list");
        let mut script = SCRIPT.to_owned();
        for (empty, filled) in [
            ("release=''\n", "release='v9.9.9'\n".to_owned()),
            ("checksums=''\n", format!("checksums='{}'\n", sums.trim_end())),
        ] {
            assert_eq!(script.matches(&format!("\n{empty}")).count(), 1, "{empty}");
            script = script.replacen(empty, &filled, 1);
        }
        self.writes("install.sh", &script);
    }

    /// The script of the release.
    fn script(&self) -> String {
        fs::read_to_string(self.root.join("release/install.sh")).expect("a script")
    }

    fn program(&self) -> PathBuf {
        self.root.join("home/.local/bin/kubectl-podrank")
    }

    /// Pipes the script to this shell, as the README does.
    fn runs(&self, shell: &[&str], script: &str, flags: &[&str]) -> Ran {
        let mut command = Command::new(shell[0]);
        command.args(&shell[1..]).args(["-s", "--"]).args(flags).env_clear();
        command.env("PATH", self.root.join("tools")).env("HOME", self.root.join("home"));
        command.env("TMPDIR", self.root.join("tmp")).stdin(Stdio::piped()).stdout(Stdio::piped());
        let all = File::create(self.root.join("said")).expect("a file");
        command.stdout(all.try_clone().expect("a handle")).stderr(all);
        let mut child = command.spawn().expect("a shell");
        drop(child.stdin.take().expect("a pipe").write_all(script.as_bytes()));
        let is_success = child.wait().expect("it ends").success();
        let left: Vec<_> = fs::read_dir(self.root.join("tmp")).expect("a folder").collect();
        assert!(left.is_empty(), "{left:?} is left behind");
        Ran { is_success, said: fs::read_to_string(self.root.join("said")).expect("UTF-8") }
    }

    fn installs(&self, flags: &[&str]) -> Ran {
        let from = format!("file://{}/release", self.root.display());
        self.runs(&["/bin/sh"], &self.script(), &[&["--from", &from], flags].concat())
    }

    /// It refuses with these words, and what was installed before stays as it was.
    #[track_caller]
    fn refuses(&self, flags: &[&str], words: &[&str]) {
        fs::create_dir_all(self.program().parent().expect("a folder")).expect("a folder");
        fs::write(self.program(), "the old one").expect("a file");
        let Ran { is_success, said } = self.installs(flags);
        assert!(!is_success && words.iter().all(|words| said.contains(words)), "{said}is not\n{words:?}");
        assert_eq!(fs::read_to_string(self.program()).expect("it stays"), "the old one");
        let beside = fs::read_dir(self.program().parent().expect("a folder")).expect("a folder").count();
        assert_eq!(beside, 1, "a file is left beside it");
    }
}

/// What it says of the checksum and of the signature.
const CHECKED: &str = "Checked: the SHA-256 checksum of ";
const UNSIGNED: &str = "Not checked: who made it. That needs cosign, or a gh that knows gh attestation.\n";

#[test]
fn the_program_is_installed_for_this_machine() {
    for (system, machine, platform) in [
        ("Linux", "x86_64", "linux-amd64"),
        ("Linux", "aarch64", "linux-arm64"),
        ("Darwin", "arm64", "darwin-arm64"),
        ("Darwin", "x86_64", "darwin-amd64"),
    ] {
        let here = Machine::new();
        here.is(system, machine);
        // A second time, it replaces the first.
        for version in ["9.9.9", "10"] {
            here.release(platform, &format!("echo kubectl-podrank {version}"));
            let Ran { is_success, said } = here.installs(&[]);
            let program = here.program();
            let installed = format!("Installed kubectl-podrank {version} as {}.\n", program.display());
            let checked = format!("{CHECKED}kubectl-podrank-{platform}.tar.gz, as this script says.\n");
            assert!(is_success && said.starts_with(&format!("{checked}{UNSIGNED}{installed}")), "{said}");
            // Its directory is not in the PATH of this machine.
            let directory = program.parent().expect("a folder").display();
            assert!(said.contains(&format!("export PATH=\"{directory}:$PATH\"")), "{said}");
            let ran = Command::new(&program).output().expect("it runs");
            assert_eq!(ran.stdout, format!("kubectl-podrank {version}\n").as_bytes());
        }
    }
    let here = Machine::new();
    let prefix = here.root.join("a prefix");
    let Ran { is_success, said } = here.installs(&["--prefix", prefix.to_str().expect("UTF-8")]);
    assert!(is_success && prefix.join("bin/kubectl-podrank").is_file(), "{said}");
    assert!(!here.program().exists());
}

#[test]
fn other_shells_and_tools_do_as_well() {
    let here = Machine::new();
    let from = format!("file://{}/release", here.root.display());
    let flags = ["--from", &from];
    for shell in [&["/bin/bash", "--posix"][..], &["/bin/dash"], &["/bin/busybox", "sh"]] {
        if Path::new(shell[0]).exists() {
            let Ran { is_success, said } = here.runs(shell, &here.script(), &flags);
            assert!(is_success, "{shell:?}: {said}");
        }
    }
    // macOS has shasum, and some containers have wget alone.
    let sum = fs::read_link(here.tool("sha256sum")).expect("a link");
    here.lacks("sha256sum");
    executable(
        &here.tool("shasum"),
        &format!("#!/bin/sh\n[ \"$1 $2\" = '-a 256' ] && exec {} \"$3\"\n", sum.display()),
    );
    here.lacks("curl");
    executable(&here.tool("wget"), "#!/bin/sh\n[ \"$1 $2\" = '-q -O' ] && exec cp \"${4#file://}\" \"$3\"\n");
    let Ran { is_success, said } = here.installs(&[]);
    assert!(is_success && said.starts_with(CHECKED), "{said}");
    here.writes(ARCHIVE, "other");
    here.refuses(&[], &["has another checksum than this script says"]);
}

/// The workflow that signs and attests, for the release of the script or the one that is asked for.
fn signer(version: &str) -> String {
    format!("https://github.com/podrank/podrank/.github/workflows/release.yml@refs/tags/{version}\n")
}

#[test]
fn cosign_checks_the_signature_if_it_is_there() {
    for (flags, version) in [(&[][..], "v9.9.9"), (&["--version", "v1.2.3"], "v1.2.3")] {
        let here = Machine::new();
        here.verifier("cosign", "exit 0");
        here.verifier("gh", "exit 1");
        let Ran { is_success, said } = here.installs(flags);
        assert!(
            is_success && said.contains("Checked: the signature of SHA256SUMS, with cosign.\n"),
            "{said}"
        );
        let asked = here.asked().expect("cosign ran");
        let issuer = "--certificate-oidc-issuer\nhttps://token.actions.githubusercontent.com\n";
        let identity = format!("--certificate-identity\n{}{issuer}", signer(version));
        assert!(asked.starts_with("verify-blob\n--bundle\n") && asked.contains(&identity), "{asked}");
        assert!(asked.trim_end().ends_with("/SHA256SUMS"), "{asked}");
    }
    let here = Machine::new();
    here.verifier("cosign", "echo no matching signatures >&2; exit 1");
    here.refuses(&[], &["no matching signatures\n", "did not sign SHA256SUMS of v9.9.9", "--skip-signature"]);
    here.writes("SHA256SUMS", &format!("{}  {ARCHIVE}\n", "0".repeat(64)));
    here.refuses(
        &[],
        &["/SHA256SUMS has another checksum of kubectl-podrank-linux-amd64.tar.gz than this script"],
    );
    here.lacks_file("SHA256SUMS.sigstore.json");
    here.refuses(&[], &["cannot download file://", "SHA256SUMS.sigstore.json"]);
}

#[test]
fn gh_checks_the_attestation_if_cosign_is_not_there() {
    let here = Machine::new();
    here.verifier("gh", "exit 0");
    let Ran { is_success, said } = here.installs(&[]);
    let checked = format!("Checked: the attestation of {ARCHIVE}, with gh.\n");
    assert!(is_success && said.contains(&checked), "{said}");
    let asked = here.asked().expect("gh ran");
    assert!(
        asked.starts_with("attestation\nverify\n") && asked.contains(&format!("/{ARCHIVE}\n--bundle\n")),
        "{asked}"
    );
    assert!(
        asked.contains("--repo\npodrank/podrank\n")
            && asked.contains(&format!("--cert-identity\n{}", signer("v9.9.9"))),
        "{asked}"
    );
    here.verifier("gh", "case $* in *--help) exit 0 ;; esac; echo verifying failed >&2; exit 1");
    here.refuses(
        &[],
        &["verifying failed\n", "did not make kubectl-podrank-linux-amd64.tar.gz", "--skip-signature"],
    );
    here.lacks_file("SHA256SUMS.attestation.jsonl");
    here.refuses(&[], &["cannot download file://", "SHA256SUMS.attestation.jsonl"]);
    // An old one has no such command.
    here.verifier("gh", "exit 1");
    let Ran { is_success, said } = here.installs(&[]);
    assert!(is_success && said.contains(UNSIGNED), "{said}");
}

/// What a person asks for by name.
#[test]
fn the_signature_is_not_checked_with_a_flag() {
    let here = Machine::new();
    here.verifier("cosign", "exit 1");
    here.verifier("gh", "exit 1");
    let Ran { is_success, said } = here.installs(&["--skip-signature"]);
    assert!(is_success && said.contains("Not checked: who made it (--skip-signature).\n"), "{said}");
    assert_eq!(here.asked(), None);
}

/// The workflow makes what the script looks for.
#[test]
fn the_release_workflow_signs_and_attests() {
    let workflow = include_str!("../../.github/workflows/release.yml");
    for made in
        ["--bundle dist/SHA256SUMS.sigstore.json dist/SHA256SUMS", ">dist/SHA256SUMS.attestation.jsonl"]
    {
        assert!(workflow.contains(made), "{made}");
    }
}

#[test]
fn another_release_has_its_own_checksums() {
    let here = Machine::new();
    let Ran { is_success, said } = here.installs(&["--version", "v9.9.9"]);
    assert!(is_success && said.starts_with(&format!("{CHECKED}{ARCHIVE}, as this script says.\n")), "{said}");
    let Ran { is_success, said } = here.installs(&["--version", "v1.2.3"]);
    let from = format!("file://{}/release", here.root.display());
    let other =
        format!("This script is from v9.9.9, and has no checksums of v1.2.3: it uses {from}/SHA256SUMS.\n");
    assert!(is_success, "{said}");
    assert!(
        said.starts_with(&format!("{other}{CHECKED}{ARCHIVE}, as SHA256SUMS of v1.2.3 says.\n")),
        "{said}"
    );
    // In the sources, it is from no release.
    let flags = ["--from", &from, "--version", "v1.2.3"];
    let Ran { is_success, said } = here.runs(&["/bin/sh"], SCRIPT, &flags);
    assert!(
        is_success && said.starts_with(&format!("{CHECKED}{ARCHIVE}, as SHA256SUMS of v1.2.3 says.\n")),
        "{said}"
    );
    let Ran { is_success, said } = here.runs(&["/bin/sh"], SCRIPT, &flags[..2]);
    assert!(!is_success && said.contains("this script is not from a release"), "{said}");
}

#[test]
fn bad_cases_are_refused_by_name() {
    type Harm = fn(&Machine);
    let cases: &[(Harm, &str, &str)] = &[
        (|here| here.writes(ARCHIVE, "other"), "", "has another checksum than this script says\n"),
        (|here| here.writes(ARCHIVE, "other"), "--version v1.2.3", "than SHA256SUMS of v1.2.3 says\n"),
        (|here| here.writes(ARCHIVE, "other"), "--skip-signature", "Nothing was installed."),
        (|here| here.lacks_file(ARCHIVE), "", "cannot download file://"),
        (|here| here.lacks_file("SHA256SUMS"), "--version v1.2.3", "cannot download file://"),
        (
            |here| here.writes("SHA256SUMS", "0  kubectl-podrank-linux-amd64.tar.gz.old\n"),
            "--version v1.2.3",
            "v1.2.3 has no archive kubectl-podrank-linux-amd64.tar.gz: SHA256SUMS of v1.2.3 does not list it",
        ),
        (
            |here| here.is("Linux", "aarch64"),
            "",
            "v9.9.9 has no archive kubectl-podrank-linux-arm64.tar.gz: this script does not list it",
        ),
        (
            |here| here.release("linux-amd64", "exit 126"),
            "",
            "does not run on this machine\n  Nothing was installed.",
        ),
        (|here| here.is("FreeBSD", "amd64"), "", "no release has an archive for FreeBSD\n"),
        (|here| here.is("Linux", "riscv64"), "", "no release has an archive for Linux on riscv64\n"),
        (|here| here.lacks("curl"), "", "neither curl nor wget is installed"),
        (|here| here.lacks("sha256sum"), "", "neither sha256sum nor shasum is installed"),
        (|_| {}, "--prefix", "--prefix needs a value"),
        (|_| {}, "--prefix ", "--prefix needs a value"),
        (|_| {}, "--version 1.2.3", "1.2.3 is not a version such as v1.2.3"),
        (|_| {}, "--skip", "unknown flag --skip"),
    ];
    for (harm, flags, words) in cases {
        let here = Machine::new();
        harm(&here);
        let flags = flags.split(' ').filter(|_| !flags.is_empty());
        here.refuses(&flags.collect::<Vec<_>>(), &[words]);
    }
}

/// A connection may break at any byte.
#[test]
fn a_part_of_the_script_installs_nothing() {
    let here = Machine::new();
    let (from, script) = (format!("file://{}/release", here.root.display()), here.script());
    let ends: Vec<_> =
        script.char_indices().filter(|(_, char)| *char == '\n').map(|(at, _)| at + 1).collect();
    for end in &ends[..ends.len() - 1] {
        let _ = here.runs(&["/bin/sh"], &script[..*end], &["--from", &from]);
        assert!(!here.program().exists(), "after {end} bytes");
    }
    assert!(here.installs(&[]).is_success && here.program().exists());
}

/// The addresses are those of the assets that `.ci/dist` makes.
#[test]
fn each_release_has_an_address() {
    let here = Machine::new();
    here.lacks("curl");
    executable(
        &here.tool("curl"),
        &format!("#!/bin/sh\necho \"$4\" >>{}\nexit 22\n", here.root.join("asked").display()),
    );
    let flags: [&[&str]; 2] = [&[], &["--version", "v1.2.3"]];
    for flags in flags {
        let Ran { is_success, said } = here.runs(&["/bin/sh"], &here.script(), flags);
        assert!(
            !is_success && said.contains("cannot download https://github.com/podrank/podrank/releases/"),
            "{said}"
        );
    }
    assert_eq!(
        here.asked().expect("curl ran"),
        format!(
            "https://github.com/podrank/podrank/releases/download/v9.9.9/{ARCHIVE}\n\
             https://github.com/podrank/podrank/releases/download/v1.2.3/SHA256SUMS\n"
        )
    );
}
