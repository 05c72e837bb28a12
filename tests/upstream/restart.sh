#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A real server goes and comes back with what it had: informerd watches on, without a LIST. What it missed because the history was
# compacted meanwhile it gets by one more list: changes, creations and deletions, and nothing else is lost.
# Takes 60 s.
SERVER=apiserver
. "$(dirname "$0")/../support/script.sh"

pods=/api/v1/namespaces/default/pods
create() {
	printf '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"%s"},"spec":{"containers":[{"name":"c","image":"i"}]}}' "$1" |
		curl -sf -X POST -H 'Content-Type: application/json' --data-binary @- "$url$pods" >/dev/null || fail "no pod $1"
}
label() { curl -sf -X PATCH -H 'Content-Type: application/merge-patch+json' -d '{"metadata":{"labels":{"e2e":"'"$2"'"}}}' "$url$pods/$1" >/dev/null || fail "no label"; }
delete() { curl -sf -X DELETE "$url$pods/$1" >/dev/null || fail "not deleted: $1"; }
relisted() { stat '.resources[0] | .lists + .watch_lists'; }
same() {
	curl -s "$url/api/v1/pods" | jq -S '[.items[] | [.metadata.namespace, .metadata.name, .metadata.uid, .metadata.resourceVersion, .metadata.labels]]' >"$T/server.json"
	"$B"/informerctl --socket "$S" get pods -A -o json |
		jq -S '[.items[] | [.metadata.namespace, .metadata.name, .metadata.uid, .metadata.resourceVersion, .metadata.labels]] | sort' >"$T/ours.json"
	jq -S sort "$T/server.json" | cmp -s - "$T/ours.json"
}
expect_same() { until_true same || fail "$1: $(diff "$T/server.json" "$T/ours.json" | head -20)"; }

start_sim --nodes 2 --pods-per-node 10
for p in kept changed deleted; do create $p; done
start_daemon --resource pods
wait_ready
expect_same "after the list"
[ "$(relisted)" = 1 ] || fail "$(relisted) lists at first"

# the same port, the same data: the watch goes on
stop_sim
expect_stat '.resources[0].activity' backing-off
start_sim
create after-restart
expect_same "after a restart"
[ "$(relisted)" = 1 ] || fail "a restarted server was listed again"

# while it cannot be reached its history goes on, and is forgotten: on another port, so that informerd does not hear of it
stop_sim
home=$sim_port sim_port=0
cp "$T/kubeconfig" "$T/kubeconfig.home"
start_sim
label changed twice
delete deleted
create while-away
curl -sf -X POST "$url/sim/compact" >/dev/null || fail "not compacted"
stop_sim
sim_port=$home
start_sim
until_true grep -q 'listing again.*too old\|listing again.*Expired' "$T/daemon.log" || fail "no 410"
expect_same "after a compaction"
[ "$(relisted)" = 2 ] || fail "$(relisted) lists instead of 2"
create at-last
expect_same "and on it goes"
[ "$(relisted)" = 2 ] || fail "$(relisted) lists at the end"
echo ok
