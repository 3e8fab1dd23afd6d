//! Compiles the contenders written in C and C++, always optimised, and records which Rust compiler compiles the others.

use std::process::Command;

fn main() {
    let optimised = |build: &mut cc::Build| {
        build.include("../include").opt_level(3).warnings(true).extra_warnings(true).clone()
    };
    optimised(cc::Build::new().std("c99").file("src/rivals/qsort.c")).compile("podrank_bench_qsort");
    optimised(cc::Build::new().cpp(true).std("c++11").file("src/rivals/partial_sort.cpp"))
        .compile("podrank_bench_partial_sort");
    println!("cargo::rerun-if-changed=src/rivals");
    println!("cargo::rerun-if-changed=../include/podrank.h");

    let rustc = std::env::var_os("RUSTC").expect("cargo says which");
    let version = Command::new(rustc).arg("-V").output().expect("the compiler knows its version").stdout;
    println!("cargo::rustc-env=RUSTC_VERSION={}", String::from_utf8_lossy(&version).trim());
}
