//! Lists what the crate `podrank` offers to Rust, one item a line, and compares that with `core/public-api.txt`:
//!
//! ```text
//! cargo run -p podrank-public-api [-- --write]
//! ```
//!
//! `cargo semver-checks` was tried beside it, with thirteen breaks. The list shows each that it reports as an error, and an argument
//! of another type, which it does not know. What neither shows, others do: the layout of records is in `ffi/abi.txt`, and
//! `core/tests/vectors.rs` has the format of keys.
//!
//! `--write` writes the list instead. It is made from rustdoc's JSON, whose format changes with Rust: if this Rust has another
//! format than the library reads, nothing is compared, and the last line says so.

use std::collections::HashSet;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs};

/// The format that the library reads. Rust 1.95 writes it.
const FORMAT: u64 = 57;
const LIST: &str = "core/public-api.txt";

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let writes = match env::args().nth(1).as_deref() {
        None => false,
        Some("--write") => true,
        Some(other) => return Err(format!("unknown argument {other}: only --write is known").into()),
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize()?;
    let json = rustdoc_json(&root)?;
    let format = format_version(&json)?;
    if format != FORMAT {
        println!(
            "public-api: SKIPPED: rustdoc's JSON has format {format}, and the list is made from {FORMAT}"
        );
        return Ok(ExitCode::SUCCESS);
    }
    let items = items(&json)?;
    if writes {
        fs::write(root.join(LIST), &items)?;
    }
    let listed = fs::read_to_string(root.join(LIST)).map_err(|error| format!("{LIST}: {error}"))?;
    if listed == items {
        println!("{} items", items.lines().count());
        println!("public-api: ok");
        return Ok(ExitCode::SUCCESS);
    }
    print_missing('-', &listed, &items);
    print_missing('+', &items, &listed);
    eprintln!(
        "{LIST} is not what the crate offers. If that is wanted: cargo run -p podrank-public-api -- --write"
    );
    Ok(ExitCode::FAILURE)
}

/// Has rustdoc write what it knows of the crate, and returns the file.
fn rustdoc_json(root: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let target =
        root.join(env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into())).join("public-api");
    let status = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["rustdoc", "--quiet", "--locked", "--lib", "-p", "podrank", "--target-dir"])
        .arg(&target)
        .args(["--", "-Z", "unstable-options", "--output-format", "json"])
        .current_dir(root)
        // The JSON is not stable yet, and a stable Rust writes it only if asked like this.
        .env("RUSTC_BOOTSTRAP", "1")
        .env_remove("RUSTDOCFLAGS")
        .status()?;
    if !status.success() {
        return Err("rustdoc fails".into());
    }
    Ok(target.join("doc/podrank.json"))
}

fn format_version(json: &Path) -> Result<u64, Box<dyn Error>> {
    let json: serde_json::Value = serde_json::from_reader(fs::File::open(json)?)?;
    json["format_version"].as_u64().ok_or_else(|| "rustdoc's JSON names no format".into())
}

/// Traits that the compiler implements and whose names no program that uses the crate has to write.
const UNNAMED: [&str; 6] =
    ["Freeze", "RefUnwindSafe", "StructuralPartialEq", "UnsafeUnpin", "Unpin", "UnwindSafe"];

/// Returns the items, a line each, without the implementations that every type has. Of those that are derived, or that the compiler
/// adds, there is a line for the type and the trait, and none for the methods.
fn items(json: &Path) -> Result<String, Box<dyn Error>> {
    let api = |derived: bool| {
        public_api::Builder::from_rustdoc_json(json)
            .omit_blanket_impls(true)
            .omit_auto_trait_impls(!derived)
            .omit_auto_derived_impls(!derived)
            .build()
    };
    let written: HashSet<_> = api(false)?.items().map(ToString::to_string).collect();
    let is_named = |line: &str| {
        let of = line.split(" for ").next().unwrap_or_default();
        line.starts_with("impl") && !UNNAMED.iter().any(|name| of.ends_with(&format!("::{name}")))
    };
    let all = api(true)?.items().map(ToString::to_string).collect::<Vec<_>>();
    let lines: Vec<_> = all.into_iter().filter(|line| written.contains(line) || is_named(line)).collect();
    Ok(lines.join("\n") + "\n")
}

/// Prints the lines of a text that another lacks.
fn print_missing(sign: char, text: &str, other: &str) {
    for line in text.lines().filter(|line| !other.lines().any(|another| another == *line)) {
        eprintln!("{sign} {line}");
    }
}
