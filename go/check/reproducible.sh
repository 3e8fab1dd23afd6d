#!/usr/bin/env bash
# The archives depend on the sources and the compiler alone: made in two folders and with two CARGO_HOMEs, each has the same bytes.
. "$(dirname "$0")/common.sh"

home=${CARGO_HOME:-$HOME/.cargo}
unset CARGO_TARGET_DIR TARGET OUT
cd "$checkout"
targets=""
for machine in x86_64 aarch64; do
    target=$machine-unknown-linux-gnu
    if [ ! -d "$(rustc --print sysroot)/lib/rustlib/$target/lib" ]; then
        not_compared "rustc has no $target"
        echo "$check: SKIPPED $target: rustup target add $target"
        continue
    fi
    targets="$targets $target"
done

# make_in FOLDER CARGO_HOME: copies the checkout there, and makes what C and Go programs link.
make_in() {
    local target
    mkdir -p "$1" "$2/registry"
    tar --exclude=.git --exclude=target --exclude=node_modules --exclude=corpus -cf - . | tar -xf - -C "$1"
    # What cargo has unpacked stays behind: it is unpacked from these.
    [ -e "$2/registry/cache" ] || cp -R "$home/registry/cache" "$home/registry/index" "$2/registry"
    quietly env CARGO_HOME="$2" CARGO_NET_OFFLINE=true make -s -C "$1" archive
    for target in $targets; do
        quietly env CARGO_HOME="$2" CARGO_NET_OFFLINE=true make -s -C "$1" "target/$target/c/libpodrank.a" TARGET="$target" \
            AR="$(command -v "${target%%-*}-linux-gnu-ar" || echo ar)"
    done
}
make_in "$tmp/one" "$tmp/home"
make_in "$tmp/another/folder" "$tmp/another/home"
for file in target/c/libpodrank.a target/c/libpodrank.so $(printf 'target/%s/c/libpodrank.a ' $targets); do
    cmp "$tmp/one/$file" "$tmp/another/folder/$file" >&2 || fail "$file depends on the folder or on CARGO_HOME"
done
ok "libpodrank.a and libpodrank.so, and the archives for$targets, made in two folders with two CARGO_HOMEs"
