//! Records which Rust compiler compiles the races.

use std::process::Command;

fn main() {
    let rustc = std::env::var_os("RUSTC").expect("cargo says which");
    let version = Command::new(rustc).arg("-V").output().expect("the compiler knows its version").stdout;
    println!("cargo::rustc-env=RUSTC_VERSION={}", String::from_utf8_lossy(&version).trim());
}
