# What builds for another machine, for the scripts in this folder and in .ci. They have a directory $tmp and a function `fail`, and
# are in the checkout.

# core_for TARGET: sets $CARGO to what builds for it. It uses the release's core if rustup has it or can get it. Otherwise it
# builds core from source with the release's optimisation, so that sizes are the same.
core_for() {
    export CARGO=cargo
    [ ! -d "$(rustc --print sysroot)/lib/rustlib/$1/lib" ] || return 0
    ! command -v rustup >/dev/null || ! timeout 60 rustup -q target add "$1" >"$tmp/output" 2>&1 || return 0
    local source
    source=$(ffi/targets/rust-src.sh 2>"$tmp/output") || fail "no core for $1: $(cat "$tmp/output")"
    CARGO="env RUSTC_BOOTSTRAP=1 __CARGO_TESTS_ONLY_SRC_ROOT=$source/library"
    CARGO="$CARGO cargo -Zbuild-std=core --config profile.archive.package.core.opt-level=3"
}

# tools_for TARGET: sets CC, CXX, AR, READELF and RUN, which runs a program, for a Linux machine, to what Debian has. It has no C++
# library for musl, so CXX is empty.
tools_for() {
    local machine=${1%%-*} prefix=
    RUN=
    if [ "$machine" != "$(uname -m)" ]; then
        prefix=$machine-linux-gnu-
        RUN="qemu-$machine -L /usr/$machine-linux-gnu"
    fi
    CC=${prefix}gcc CXX=${prefix}g++ AR=${prefix}ar READELF=${prefix}readelf
    [[ $1 != *-musl ]] || CC="$CC -specs=/usr/lib/$machine-linux-musl/musl-gcc.specs" CXX=
    export CC CXX AR READELF RUN
}
