# Functions for the scripts in this directory, which source this file. It uses the cache and the directories that `up` made.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
self=${0##*/}

# The release of Kubernetes: go.mod names it, and no other file of this directory does. With PODRANK_CLUSTER_RELEASE, get and up use
# that one instead. Nothing else here does: the other programs are built with the modules of go.mod.
pinned=$(sed -n 's|^.*k8s\.io/kubernetes \(v[^ ]*\).*|\1|p' "$here/go.mod")
version=${PODRANK_CLUSTER_RELEASE:-$pinned}
cache=${PODRANK_CLUSTER_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/podrank/cluster}/$version

# What `up` runs as kube-controller-manager: that of the cache, unless another was built, such as by `patched`.
manager=${CONTROLLER_MANAGER:-$cache/kube-controller-manager}

die() {
    printf '%s: %s\n' "$self" "$*" >&2
    exit 1
}

# Whether something listens on a port of 127.0.0.1.
listens() { (: </dev/tcp/127.0.0.1/"$1") 2>/dev/null; }

# A port that nobody listens on, below those that Linux gives to outgoing connections.
free_port() {
    local port
    while :; do
        port=$((20000 + SRANDOM % 12000))
        listens $port || break
    done
    echo $port
}

# start DIR PART: runs DIR/PART.sh in the background, into DIR/PART.log and DIR/PART.pid.
start() {
    setsid "$1/$2.sh" </dev/null >>"$1/$2.log" 2>&1 &
    echo $! >"$1/$2.pid"
}

# Whether the process that `start` started still runs. Each has DIR in its command line, which tells it from another
# process that has got its number since.
runs() {
    local pid
    pid=$(cat "$1/$2.pid" 2>/dev/null) && grep -qF -- "$1/" "/proc/$pid/cmdline" 2>/dev/null
}

# stop DIR PART: asks it to end, and after 10 s makes it.
stop() {
    local pid
    if runs "$1" "$2"; then
        pid=$(cat "$1/$2.pid")
        kill "$pid" 2>/dev/null || true
        for _ in {1..200}; do
            runs "$1" "$2" || break
            sleep 0.05
        done
        ! runs "$1" "$2" || kill -KILL "$pid" 2>/dev/null || true
    fi
    rm -f "$1/$2.pid"
}

# build PART FILE [MODULE]: builds a part of Kubernetes, with the go.mod of this directory or of another one.
build() {
    local info=k8s.io/component-base/version minor=${version#v1.}
    (cd "${3:-$here}" && go build -p 2 -o "$2" -ldflags "-s -w -X $info.gitVersion=$version -X $info.gitMajor=1 \
        -X $info.gitMinor=${minor%%.*} -X $info.gitTreeState=clean" "k8s.io/kubernetes/cmd/$1")
}

# Builds the preview, and sets podrank to its path.
build_podrank() {
    (cd "$here/../.." && cargo build --quiet --release -p kubectl-podrank)
    podrank=$(cd "$here/../.." && cd "${CARGO_TARGET_DIR:-target}" && pwd)/release/kubectl-podrank
}

# with_cluster FLAG...: starts a control plane that ends with this script. Sets KUBECONFIG and ETCD.
with_cluster() {
    dir=$(mktemp -d)
    trap '"$here/down" "$dir"; rm -rf "$programs"' EXIT
    programs=$(mktemp -d)
    local addresses
    addresses=$("$here/up" "$dir" "$@")
    # shellcheck disable=SC2046,SC2086 # one word for each variable
    export $addresses
}

# read_rounds N SEED [FROM] [FLAG...]: reads what all scripts that play rounds are given. Sets flags and
# numbers, which are for the program. It keeps its log and what it finds wrong in ${PODRANK_STATE:-~/.local/state/podrank}.
read_rounds() {
    local n=${1:?$usage} seed=${2:?$usage} from=1
    shift 2
    if [[ ${1-} =~ ^[0-9]+$ ]]; then
        from=$1
        shift
    fi
    local state=${PODRANK_STATE:-${XDG_STATE_HOME:-$HOME/.local/state}/podrank}
    mkdir -p "$state"
    flags=(-keep "$state" -from "$from" "$@")
    numbers=("$n" "$seed")
}

# go_run NAME ARGUMENT...: runs a program of cmd/. Not by `go run`, which does not pass its exit status on.
go_run() {
    (cd "$here" && CGO_ENABLED=0 go build -o "$programs/$1" "./cmd/$1")
    "$programs/$1" "${@:2}"
}
