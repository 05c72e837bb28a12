#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# In a pod: the server is in the environment, token, CA and namespace are where the kubelet puts them, and replaces them. It happens in
# a mount namespace of its own, where /run is empty.
# Takes 5 s.
if [ -z "${IN_NAMESPACE:-}" ]; then
	for way in "unshare --mount" "unshare --mount --map-root-user"; do
		$way --propagation private sh -c 'mount -t tmpfs none /run' 2>/dev/null && IN_NAMESPACE=1 exec $way --propagation private bash "$0"
	done
	echo "SKIP a mount namespace is not to be had here"
	exit 77
fi
. "$(dirname "$0")/../support/script.sh"
mount -t tmpfs none /run
[ -d /var/run ] && [ "$(realpath /var/run)" = /run ] || { echo "SKIP /var/run is not /run"; exit 77; }
unset KUBECONFIG KUBERNETES_SERVICE_HOST KUBERNETES_SERVICE_PORT
export HOME=$T/home
account=/var/run/secrets/kubernetes.io/serviceaccount
mkdir -p "$account" "$T/home"

# mounted TOKEN CA: as a kubelet does it, all files at once
mounts=0
mounted() {
	mounts=$((mounts + 1))
	mkdir "$account/..$mounts"
	printf %s "$1" >"$account/..$mounts/token"
	cp "$2" "$account/..$mounts/ca.crt"
	printf web >"$account/..$mounts/namespace"
	ln -s "..$mounts" "$account/..data.new"
	mv -T "$account/..data.new" "$account/..data"
	for file in token ca.crt namespace; do
		[ -L "$account/$file" ] || ln -s "..data/$file" "$account/$file"
	done
}
start_in_pod() {
	export KUBERNETES_SERVICE_HOST=127.0.0.1 KUBERNETES_SERVICE_PORT=$sim_port
	start_daemon_as --resource pods "$@"
}
no_secret() { ! grep -q hunter "$T"/daemon.log "$T"/notify.*.log "$T/stat.json" || fail "a token was told"; }

start_sim --nodes 1 --pods-per-node 3 --tls-dir "$T/one" --token hunter-one
# no service account is mounted
code=0
KUBERNETES_SERVICE_HOST=127.0.0.1 KUBERNETES_SERVICE_PORT=$sim_port "$B"/informerd --socket "$S" --arena-dir "$T" -r pods 2>"$T/none.log" || code=$?
[ "$code" = 1 ] || fail "exit code $code without a token"
grep -q "in a pod, but without its service account's token ($account/token: No such file.*automountServiceAccountToken: true" "$T/none.log" || fail "no word about it"

mounted hunter-one "$T/one/ca.crt"
start_in_pod
wait_ready
expect_stat '.resources[0].objects' 3
grep -q "https://127.0.0.1:$sim_port (in-cluster)" "$T/daemon.log" || fail "not in-cluster"
lists() { stat '.resources[0] | .lists + .watch_lists'; }
[ "$(lists)" = 1 ] || fail "$(lists) lists"

# the token is replaced, and the server takes the new one only: nobody hears of the 401
mounted hunter-two "$T/one/ca.crt"
stop_sim
start_sim --nodes 1 --pods-per-node 3 --tls-dir "$T/one" --token hunter-two
until_true grep -q 'watching again' "$T/daemon.log" || fail "it does not come back with the new token"
grep -q '(401\|Unauthorized' "$T/daemon.log" && fail "a 401 that was mended was told"

# the cluster's CA is replaced: the server first, the file a while later
stop_sim
start_sim --nodes 1 --pods-per-node 3 --tls-dir "$T/two" --token hunter-two
until_true grep -q "the server's certificate is not accepted" "$T/daemon.log" || fail "no word about the certificate"
: >"$T/daemon.log"
mounted hunter-two "$T/two/ca.crt"
until_true grep -q 'watching again' "$T/daemon.log" || fail "it does not come back with the new CA"
[ "$(lists)" = 1 ] || fail "listed again: $(lists)"

# nor is what is in memory thrown away by the next one, which finds another CA and the same cluster
stop_daemon KILL
start_in_pod
wait_ready
[ "$(lists)" = 0 ] || fail "listed anew by another CA: $(cat "$T/daemon.log")"

# flags go before the account
stat . >"$T/stat.json"
stop_daemon TERM
[ "$code" = 0 ] || fail "exit code $code"
: >"$T/daemon.log"
start_in_pod --token hunter-three
until_true grep -q 'does not accept the credentials (401)' "$T/daemon.log" || fail "the flag does not count"
stop_daemon TERM
no_secret
echo ok
