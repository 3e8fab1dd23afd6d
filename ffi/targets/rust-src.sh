#!/usr/bin/env bash
# Prints the directory of the standard library's sources for this release of rustc: PODRANK_RUST_SRC, or rustup's, or Debian's
# package rust-src, unpacked in target/.
#
# Debian has newer packages in other suites. This script asks for them with an apt configuration of its own, made from the
# machine's sources. It installs nothing.
set -euo pipefail
cd "$(dirname "$0")/../.."

release=$(rustc -vV | sed -n 's/^release: //p')
unpacked=${CARGO_TARGET_DIR:-target}/rust-src-$release
[[ $unpacked == /* ]] || unpacked=$PWD/$unpacked
for found in "${PODRANK_RUST_SRC:-}" "$(rustc --print sysroot)/lib/rustlib/src/rust" "$unpacked"; do
    [ ! -d "$found/library/core" ] || { echo "$found" && exit; }
done

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-none}")
for suite in trixie-backports sid; do
    apt=$tmp/$suite
    mkdir -p "$apt"/{parts,lists/partial,archives/partial}
    cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null |
        sed -nE "s/^(deb .*) $codename main.*/\1 $suite main/p" >"$apt/sources.list" || true
    # Stanzas, which blank lines part.
    cat /etc/apt/sources.list.d/*.sources 2>/dev/null | awk -v RS= -v ORS='\n\n' -v suite="$suite" \
        "/(^|\n)Suites:[^\n]* $codename( |\n)/ { sub(/\nSuites:[^\n]*/, \"\nSuites: \" suite); print }" \
        >"$apt/parts/debian.sources" || true
    options=(-q -o "Dir::Etc::SourceList=$apt/sources.list" -o "Dir::Etc::SourceParts=$apt/parts"
        -o "Dir::State::Lists=$apt/lists" -o "Dir::Cache=$apt" -o APT::Sandbox::User=root)
    apt-get "${options[@]}" update >"$apt/log" 2>&1 || continue
    version=$(apt-cache "${options[@]}" madison rust-src |
        awk -v release="$release" 'index($3, release "+") == 1 && !found++ { print $3 }')
    [ -n "$version" ] || continue
    (cd "$apt" && apt-get "${options[@]}" download "rust-src=$version") >"$apt/log" 2>&1 || continue
    dpkg-deb -x "$apt"/rust-src_*.deb "$apt/unpacked"
    mkdir -p "$(dirname "$unpacked")"
    mv "$apt/unpacked/usr/src/rustc-$release" "$unpacked"
    echo "$unpacked"
    exit
done
echo "rustup has no such target, and Debian no package rust-src $release" >&2
exit 1
