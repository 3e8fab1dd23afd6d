# The Rust compiler that made the archives of this module, for the scripts that compare with them: only that one makes the same
# bytes. Sets $recorded. They may be run from any directory.
checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
recorded=$(cat "$checkout/go/internal/cpodrank/RUSTC")

# Prints the compiler that cargo runs here.
compiler() {
    echo "$(rustc -V) on $(rustc -vV | sed -n 's/^host: //p')"
}

# Makes cargo run the recorded compiler, if it is another one and rustup has it, and sets $compiler. CI must have it, or else its
# checks could not fail.
use_recorded() {
    local version rustc
    version=$(cut -d' ' -f2 <<<"$recorded")
    if [ "$(compiler)" != "$recorded" ] && rustc=$(rustup which --toolchain "$version" rustc 2>/dev/null); then
        PATH=$(dirname "$rustc"):$PATH
        # What the other compiler made looks up to date to make.
        CARGO_TARGET_DIR=$(cd "$checkout" && realpath -m "${CARGO_TARGET_DIR:-target}")/recorded
        export PATH CARGO_TARGET_DIR RUSTUP_TOOLCHAIN=$version
        unset CARGO RUSTC
    fi
    compiler=$(compiler)
    [ "$compiler" = "$recorded" ] || not_compared "this is $compiler, but $recorded made the archives: rustup toolchain install $version"
}

# not_compared WHY: what CI doesn't accept.
not_compared() {
    [ -z "${CI:-}" ] || { echo "$(basename "$0"): FAILED in CI: not compared, as $*" >&2; exit 1; }
}
