#!/bin/sh
# Installs kubectl-podrank from a release, without root. Downloads the archive for this machine, checks its sum and the signature of the
# sums, and writes one file: PREFIX/bin/kubectl-podrank.
#
#   curl -fsSL https://github.com/podrank/podrank/releases/latest/download/install.sh | sh -s -- [FLAG...]
#
#   --version v1.2.3     that release; by default the latest one
#   --prefix DIRECTORY   where to install, into its bin; by default ~/.local
#   --from ADDRESS       a mirror: the address below which the release's files are
#   --skip-signature     check the sums without their signature, which needs cosign
set -eu

repository=https://github.com/podrank/podrank
program=kubectl-podrank

die() {
    printf 'install.sh: %s\n' "$*" >&2
    exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

# The name of the archive for this machine.
archive() {
    system=$(uname -s) machine=$(uname -m)
    case $system in
    Linux) os=linux ;;
    Darwin) os=darwin ;;
    *) die "no archive is made for $system: see $repository/releases" ;;
    esac
    case $machine in
    x86_64 | amd64) arch=amd64 ;;
    aarch64 | arm64) arch=arm64 ;;
    *) die "no archive is made for $system on $machine: see $repository/releases" ;;
    esac
    echo "$program-$os-$arch.tar.gz"
}

# download FILE: from the release into $work.
download() {
    if has curl; then
        curl -fsSL -o "$work/$1" "$from/$1" || die "cannot download $from/$1"
    elif has wget; then
        wget -q -O "$work/$1" "$from/$1" || die "cannot download $from/$1"
    else
        die "neither curl nor wget is installed"
    fi
}

sum() {
    if has sha256sum; then
        sha256sum "$1"
    else
        shasum -a 256 "$1"
    fi | cut -d' ' -f1
}

# SHA256SUMS must be signed by the workflow that makes releases, run by a tag.
check_signature() {
    if [ -n "$skip_signature" ]; then
        echo "The signature is not checked (--skip-signature)."
        return
    fi
    has cosign || die "the signature cannot be checked without cosign (https://docs.sigstore.dev/cosign/system_config/installation/);" \
        "--skip-signature goes on without it, and then nothing but the connection shows whose files these are"
    download SHA256SUMS.sigstore.json
    workflow=$repository/.github/workflows/release.yml@refs/tags/
    if [ -n "$version" ]; then
        set -- --certificate-identity "$workflow$version"
    else
        set -- --certificate-identity-regexp "^$(printf %s "$workflow" | sed 's/\./\\./g')v[0-9]"
    fi
    cosign verify-blob --bundle "$work/SHA256SUMS.sigstore.json" "$@" \
        --certificate-oidc-issuer https://token.actions.githubusercontent.com "$work/SHA256SUMS" >"$work/cosign" 2>&1 || {
        cat "$work/cosign" >&2
        die "SHA256SUMS of $from is not signed by podrank's release workflow"
    }
}

# Called in the last line, so that half a script does nothing.
main() {
    version='' prefix=${HOME:+$HOME/.local} from='' skip_signature=''
    while [ $# -gt 0 ]; do
        case $1 in
        --skip-signature) skip_signature=yes ;;
        --version | --prefix | --from)
            [ $# -gt 1 ] && [ -n "$2" ] || die "$1 needs a value"
            case $1 in
            --version) version=$2 ;;
            --prefix) prefix=$2 ;;
            --from) from=${2%/} ;;
            esac
            shift
            ;;
        *) die "unknown flag $1: --version, --prefix, --from and --skip-signature are known" ;;
        esac
        shift
    done
    case $version in
    '' | v[0-9]*) ;;
    *) die "a version is such as v1.2.3, not $version" ;;
    esac
    [ -n "$prefix" ] || die "HOME is not set: add --prefix DIRECTORY"
    if [ -z "$from" ]; then
        from=$repository/releases/${version:+download/$version}
        [ -n "$version" ] || from=${from}latest/download
    fi
    archive=$(archive)
    has sha256sum || has shasum || die "neither sha256sum nor shasum is installed"

    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    trap 'exit 1' HUP INT TERM
    download SHA256SUMS
    check_signature
    expected=$(awk -v name="$archive" '$2 == name { print $1 }' "$work/SHA256SUMS")
    [ -n "$expected" ] || die "SHA256SUMS of $from has no sum of $archive"
    download "$archive"
    actual=$(sum "$work/$archive")
    [ "$actual" = "$expected" ] || die "$from/$archive has the SHA-256 sum $actual, and should have $expected: nothing is installed"

    mkdir "$work/files"
    tar -xzf "$work/$archive" -C "$work/files"
    bin=$prefix/bin
    mkdir -p "$bin"
    # Beside the old one, so that either of them is there at any time, and one that does not run here replaces nothing.
    new=$bin/.$program.$$
    trap 'rm -rf "$work" "$new"' EXIT
    cp "$work/files/$program" "$new"
    chmod 755 "$new"
    installed=$("$new" version) || die "the program of $archive does not run on this machine: nothing is installed"
    mv "$new" "$bin/$program"
    echo "Installed $installed as $bin/$program."
    # shellcheck disable=SC2016 # the reader's shell expands it
    case :$PATH: in
    *:"$bin":*) ;;
    *) printf 'kubectl finds it once this directory is in the PATH: export PATH="%s:$PATH"\n' "$bin" ;;
    esac
}

main "$@"
