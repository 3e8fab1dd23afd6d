#!/bin/sh
# Installs kubectl-podrank from a release, without root. Downloads the archive for this machine, compares its checksum with
# the one in this script, checks who made it if cosign or gh is here, and writes one file: PREFIX/bin/kubectl-podrank.
#
#   curl -fsSL https://github.com/podrank/podrank/releases/latest/download/install.sh | sh -s -- [FLAG...]
#
#   --version v1.2.3     that release; by default the one that this script is from
#   --prefix DIRECTORY   where to install, into its bin; by default ~/.local
#   --from ADDRESS       a mirror: the address below which the release's files are
#   --skip-signature     don't check the signature, even if cosign or gh is here
set -eu

# `.ci/dist` writes here, in the script that a release attaches: its tag, and the checksums of its archives.
release=''
checksums=''

repository=https://github.com/podrank/podrank
program=kubectl-podrank
nothing='Nothing was installed.'
report="Report this: $repository/security/advisories/new"

# die WHAT_HAPPENED [WHAT_TO_DO...]: each on a line of its own.
die() {
    printf 'install.sh: %s\n' "$1" >&2
    shift
    [ $# -eq 0 ] || printf '  %s\n' "$@" >&2
    exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

# The name of the archive for this machine.
archive() {
    system=$(uname -s) machine=$(uname -m)
    case $system in
    Linux) os=linux ;;
    Darwin) os=darwin ;;
    *) die "no release has an archive for $system" "Build it from the sources: $repository" ;;
    esac
    case $machine in
    x86_64 | amd64) arch=amd64 ;;
    aarch64 | arm64) arch=arm64 ;;
    *) die "no release has an archive for $system on $machine" "Build it from the sources: $repository" ;;
    esac
    echo "$program-$os-$arch.tar.gz"
}

# download FILE: from the release into $work.
download() {
    if has curl; then
        curl -fsSL -o "$work/$1" "$from/$1"
    elif has wget; then
        wget -q -O "$work/$1" "$from/$1"
    else
        die "neither curl nor wget is installed" "Install one of them."
    fi || die "cannot download $from/$1"
}

# checksum_of FILE: what the list of checksums in the input says.
checksum_of() { awk -v name="$1" '$2 == name { print $1 }'; }

# checksum FILE: computed.
checksum() {
    if has sha256sum; then
        sha256sum "$1"
    else
        shasum -a 256 "$1"
    fi | cut -d' ' -f1
}

# Sets $expected, the checksum that the archive must have, and $source, who says so.
expect() {
    if [ "$version" = "$release" ]; then
        source='this script'
        expected=$(echo "$checksums" | checksum_of "$archive")
    else
        source="SHA256SUMS of $version"
        [ -z "$release" ] ||
            echo "This script is from $release, and has no checksums of $version: it uses $from/SHA256SUMS."
        download SHA256SUMS
        expected=$(checksum_of "$archive" <"$work/SHA256SUMS")
    fi
    [ -n "$expected" ] || die "$version has no archive $archive: $source does not list it" \
        "Choose another release with --version: $repository/releases"
}

# The workflow that makes releases, run for this tag, must have signed SHA256SUMS, and that must list the same checksum.
check_with_cosign() {
    download SHA256SUMS
    download SHA256SUMS.sigstore.json
    [ "$(checksum_of "$archive" <"$work/SHA256SUMS")" = "$expected" ] ||
        die "$from/SHA256SUMS has another checksum of $archive than $source" "$nothing" "$report"
    cosign verify-blob --bundle "$work/SHA256SUMS.sigstore.json" --certificate-identity "$signer" \
        --certificate-oidc-issuer https://token.actions.githubusercontent.com "$work/SHA256SUMS" >"$work/log" 2>&1
}

# The same workflow must have attested that it made the archive. gh needs no login for what it finds in a file.
check_with_gh() {
    download SHA256SUMS.attestation.jsonl
    gh attestation verify "$work/$archive" --bundle "$work/SHA256SUMS.attestation.jsonl" \
        --repo "${repository#https://github.com/}" --cert-identity "$signer" >"$work/log" 2>&1
}

# Checks who made the archive, with the first program that can, and says which that was.
check_signature() {
    signer=$repository/.github/workflows/release.yml@refs/tags/$version
    if [ -n "$skip_signature" ]; then
        echo "Not checked: who made it (--skip-signature)."
    elif has cosign; then
        check_with_cosign || refuse_signature "cosign says that podrank's release workflow did not sign SHA256SUMS of $version"
        echo "Checked: the signature of SHA256SUMS, with cosign."
    elif has gh && gh attestation verify --help >/dev/null 2>&1; then
        check_with_gh || refuse_signature "gh says that podrank's release workflow did not make $archive"
        echo "Checked: the attestation of $archive, with gh."
    else
        echo "Not checked: who made it. That needs cosign, or a gh that knows gh attestation."
    fi
}

refuse_signature() {
    cat "$work/log" >&2
    die "$1" "$nothing If it only can't reach Sigstore from here, add --skip-signature."
}

# The program in the archive becomes $prefix/bin/kubectl-podrank.
install_program() {
    mkdir "$work/files"
    tar -xzf "$work/$archive" -C "$work/files"
    bin=$prefix/bin
    mkdir -p "$bin"
    # Beside the old one, so that either of them is there at any time, and one that does not run here replaces nothing.
    new=$bin/.$program.$$
    trap 'rm -rf "$work" "$new"' EXIT
    cp "$work/files/$program" "$new"
    chmod 755 "$new"
    installed=$("$new" version) || die "the program of $archive does not run on this machine" "$nothing"
    mv "$new" "$bin/$program"
    echo "Installed $installed as $bin/$program."
    # shellcheck disable=SC2016 # the reader's shell expands it
    case :$PATH: in
    *:"$bin":*) ;;
    *) printf 'kubectl finds it once this directory is in the PATH: export PATH="%s:$PATH"\n' "$bin" ;;
    esac
}

parse() {
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
        *) die "unknown flag $1" "--version, --prefix, --from and --skip-signature are known." ;;
        esac
        shift
    done
}

# Called in the last line, so that half a script does nothing.
main() {
    version=$release prefix=${HOME:+$HOME/.local} from='' skip_signature=''
    parse "$@"
    case $version in
    v[0-9]*) ;;
    '')
        die "this script is not from a release, so it has no checksums" "Add --version v1.2.3, or use the script of a release:" \
            "$repository/releases/latest/download/install.sh"
        ;;
    *) die "$version is not a version such as v1.2.3" ;;
    esac
    [ -n "$prefix" ] || die "HOME is not set" "Add --prefix DIRECTORY."
    [ -n "$from" ] || from=$repository/releases/download/$version
    archive=$(archive)
    has sha256sum || has shasum || die "neither sha256sum nor shasum is installed" "Install one of them."

    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    trap 'exit 1' HUP INT TERM
    expect
    download "$archive"
    actual=$(checksum "$work/$archive")
    [ "$actual" = "$expected" ] || die "$from/$archive has another checksum than $source says" \
        "SHA-256:  $actual" "expected: $expected" "$nothing Try again first." "$report"
    echo "Checked: the SHA-256 checksum of $archive, as $source says."
    check_signature
    install_program
}

main "$@"
