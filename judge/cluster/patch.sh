# Functions for what builds Kubernetes with patches. It is sourced after lib.sh.

# with_patches DIR MODULE PATCH...: from here on, every go command of this script sees Kubernetes' sources with these patches, and the
# packages that they import of podrank's Go module, which is in the directory MODULE. DIR gets what is needed for that; the cache of
# modules does not change, because the compiler gets patched copies in place of the files.
with_patches() {
    local work=$1 podrank=$2 patch file sources
    shift 2
    command -v patch >/dev/null || die "no patch in PATH"
    (cd "$here" && go mod download k8s.io/kubernetes) || die "cannot download Kubernetes $version"
    # Go replaces no file below its cache of modules, but it follows a link to there. The link is always the same one, because its
    # name is part of what go remembers of a package that it has compiled.
    mkdir -p "$cache"
    kubernetes=$cache/kubernetes
    sources=$(cd "$here" && go list -m -f '{{.Dir}}' k8s.io/kubernetes)
    [ "$(readlink "$kubernetes")" = "$sources" ] || ln -sfn "$sources" "$kubernetes" # another build may be reading it

    cp "$here/go.mod" "$here/go.sum" "$work"
    (cd "$work" && go mod edit -replace="k8s.io/kubernetes=$kubernetes" -require=github.com/podrank/podrank/go@v0.0.0 \
        -replace="github.com/podrank/podrank/go=$podrank" go.mod)
    mkdir -p "$work/files"
    for patch; do
        while read -r file; do
            if [ -e "$kubernetes/$file" ] && [ ! -e "$work/files/$file" ]; then
                install -D -m 644 "$kubernetes/$file" "$work/files/$file"
            fi
        done < <(sed -n 's|^+++ b/\([^\t]*\).*|\1|p' "$patch")
        patch -p1 -s -d "$work/files" <"$patch" >"$work/patch.log" 2>&1 || die "$patch does not fit Kubernetes $version: $(paste -sd' ' "$work/patch.log")"
    done
    (cd "$work/files" && find . -type f -printf '%P\n') |
        sed "s|.*|\"$kubernetes/&\": \"$work/files/&\"|" | paste -sd, | sed 's|.*|{"Replace": {&}}|' >"$work/overlay.json"
    export GOFLAGS="${GOFLAGS-} -mod=mod -modfile=$work/go.mod -overlay=$work/overlay.json"
}
