#!/usr/bin/env bash
# The image runs: its file tree is made of the same files, without a registry, and the program in it becomes ready on a real control
# plane, as an ordinary user and without writing to its root. Needs `make cluster`, root and Debian 12. MANIFESTS is a file to
# apply instead of the chart.
#
# distroless/static-debian12 is made of these Debian packages, and so is this tree. It does not have the image's own
# metadata, which hadolint reads if it is installed.
set -euo pipefail
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
stop() {
    [ -z "${copier-}" ] || kill "$copier" 2>/dev/null || true
    [ -z "${program-}" ] || kill "$program" 2>/dev/null || true
    ../judge/cluster/down "$dir/plane"
    rm -rf "$dir"
}
trap stop EXIT
die() {
    echo "container: $*" >&2
    tail -n 20 "$dir/log" >&2 2>/dev/null || true
    exit 1
}

if command -v hadolint >/dev/null; then
    hadolint Containerfile
else
    echo "container: note: no hadolint, so the Containerfile is not linted" >&2
fi

# The tree.
root=$dir/root
mkdir -p "$root" "$dir/packages"
(cd "$dir/packages" && apt-get download -q base-files ca-certificates netbase tzdata >/dev/null 2>&1) ||
    die "cannot download Debian's packages: run apt-get update"
for package in "$dir"/packages/*.deb; do dpkg -x "$package" "$root"; done
# As ca-certificates' own script does, and as distroless has it.
cat "$root"/usr/share/ca-certificates/mozilla/*.crt >"$root/etc/ssl/certs/ca-certificates.crt"
printf 'root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n' >"$root/etc/passwd"
rm -rf bin
make --no-print-directory -s build licenses ENGINE=libpodrank
! ldd bin/podrank-webhook >/dev/null 2>&1 || die "the program needs shared libraries, which the image does not have"
cp -r bin/. "$root"
for file in LICENSE NOTICE THIRD-PARTY.txt; do [ -s "$root/licenses/$file" ] || die "the image has no /licenses/$file"; done
mkdir -p "$root/certificates" "$root/var/run/secrets/kubernetes.io/serviceaccount"

# The cluster, and what kubelet mounts.
addresses=$(../judge/cluster/up "$dir/plane")
# shellcheck disable=SC2086 # one word for each variable
export $addresses
[ -n "${MANIFESTS-}" ] || check/render --set createNamespace=true >"$dir/manifests.yaml"
kubectl apply --server-side -f "${MANIFESTS-$dir/manifests.yaml}" >/dev/null
account=$root/var/run/secrets/kubernetes.io/serviceaccount
kubectl -n podrank-system create token podrank-webhook >"$account/token"
cp "$dir/plane/certificates/apiserver.crt" "$account/ca.crt"
echo -n podrank-system >"$account/namespace"
chmod -R a+rX "$account"
chmod a+rx "$dir" "$root"
mount_certificates() {
    local key certificate
    while sleep 0.2; do
        # Write both at the same time, as kubelet does.
        read -r key certificate < <(kubectl -n podrank-system get secret podrank-webhook-certificates \
            -o 'jsonpath={.data.tls\.key} {.data.tls\.crt}{"\n"}' 2>/dev/null) || true
        [ -n "${certificate-}" ] || continue
        base64 -d <<<"$key" >"$dir/tls.key"
        base64 -d <<<"$certificate" >"$dir/tls.crt"
        chmod 644 "$dir/tls.key" "$dir/tls.crt"
        mv "$dir/tls.key" "$dir/tls.crt" "$root/certificates/"
    done
}
mount_certificates &
copier=$!

server=$(kubectl config view -o 'jsonpath={.clusters[0].cluster.server}')
port() { (cd ../judge/cluster && . ./lib.sh && free_port); }
probes=$(port) requests=$(port)
# The root is mounted read-only in a mount namespace of its own.
cat >"$dir/run" <<END
set -e
mount --bind "$root" "$root"
mount -o remount,ro,bind "$root"
! touch "$root/x" 2>/dev/null
exec env -i KUBERNETES_SERVICE_HOST=127.0.0.1 KUBERNETES_SERVICE_PORT=${server##*:} POD_NAMESPACE=podrank-system \
    "$(PATH=$PATH:/usr/sbin command -v chroot)" --userspec=65532:65532 "$root" /podrank-webhook --bind-address :$requests --metrics-bind-address 127.0.0.1:0 --health-probe-bind-address 127.0.0.1:$probes
END
unshare --mount bash "$dir/run" >"$dir/log" 2>&1 &
program=$!
for _ in {1..300}; do
    kill -0 "$program" 2>/dev/null || die "it ended"
    [ "$(curl -s -o /dev/null -w '%{http_code}' "http://127.0.0.1:$probes/readyz")" != 200 ] || break
    sleep 0.2
done
[ "$(curl -s -o /dev/null -w '%{http_code}' "http://127.0.0.1:$probes/readyz")" = 200 ] || die "not ready after 60 s"
[ "$(sed -n 's/^Uid:\t\([0-9]*\).*/\1/p' "/proc/$program/status")" = 65532 ] || die "it does not run as 65532"
curl -s --cacert <(base64 -d < <(kubectl get validatingwebhookconfiguration podrank-webhook -o 'jsonpath={.webhooks[0].clientConfig.caBundle}')) \
    --resolve podrank-webhook.podrank-system.svc:"$requests":127.0.0.1 -o /dev/null \
    "https://podrank-webhook.podrank-system.svc:$requests/scale-down" || die "the API server would not trust its certificate"
kill "$program"
wait "$program" || die "exit status $? after SIGTERM"
program=

echo "container: $(du -sh "$root" | cut -f1) tree, $(stat -c %s bin/podrank-webhook) bytes of static program, user 65532, read-only: ok"
