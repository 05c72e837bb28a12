#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What is said about single resources is done: on demand, metadata alone, several namespaces, a node's own part, pages, LIST instead of WatchList;
# and how long a watch lasts, and how failures are waited after.
# Takes 5 s.
. "$(dirname "$0")/../support/script.sh"

asked() { curl -s "$url/sim/log" | grep -c "$1" || true; }
of() { stat ".resources[] | select(.resource == \"$1\") | $2"; }

start_sim --nodes 3 --pods-per-node 10
cat >"$T/config.yaml" <<'END'
resources:
- {resource: pods, fieldSelector: 'spec.nodeName=${E2E_NODE}', metadataOnly: true}
- {resource: services, onDemand: true}
- {resource: configmaps, namespaces: [default, kube-system], watchList: false, pageSize: 7}
- {resource: nodes, watchList: false, resourceVersion: latest}
END
node=$(curl -s "$url/api/v1/nodes" | jq -r '.items[1].metadata.name')
E2E_NODE=$node start_daemon --config "$T/config.yaml" --metrics-address "unix:$T/http.sock"
wait_ready

# a node's own pods, and of them no more than metadata
mine=$(curl -s "$url/api/v1/pods?fieldSelector=spec.nodeName=$node" | jq '.items | length')
[ "$mine" -gt 0 ] || fail "no pods on $node"
[ "$(of pods .objects)" = "$mine" ] || fail "$(of pods .objects) pods instead of $mine"
[ "$(of pods .fieldSelector)" = "spec.nodeName=$node" ] || fail "$(of pods .fieldSelector)"
INFORMER_SOCKET=$S "$B"/informerctl get pods -A -o json >"$T/pods.json"
[ "$(jq '.items | length' "$T/pods.json")" = "$mine" ] || fail "informerctl shows $(jq '.items | length' "$T/pods.json") pods"
[ "$(jq -c '[.items[] | keys[]] | unique' "$T/pods.json")" = '["apiVersion","kind","metadata"]' ] ||
	fail "more than metadata: $(jq -c '[.items[] | keys[]] | unique' "$T/pods.json")"
on_another=$(curl -s "$url/api/v1/pods?fieldSelector=spec.nodeName=$node" | jq -r '.items[0].metadata | "\(.namespace)/pods/\(.name)"')
curl -sf -X PATCH -H 'Content-Type: application/merge-patch+json' -d '{"metadata":{"labels":{"e2e":"yes"}}}' \
	"$url/api/v1/namespaces/$on_another" >/dev/null || fail "no patch"
labelled() { [ "$(INFORMER_SOCKET=$S "$B"/informerctl get pods -A -l e2e=yes -o name | wc -l)" = 1 ]; }
until_true labelled || fail "the change is not seen"

# several namespaces, in pages, by LIST; the latest state at RV ""
[ "$(asked '^WATCHLIST configmaps')$(asked '^WATCHLIST nodes')" = 00 ] || fail "WatchLists, though not wanted"
[ "$(asked '^LIST configmaps in default .*limit=7')" -ge 1 ] || fail "no page of 7: $(curl -s "$url/sim/log")"
[ "$(asked '^LIST configmaps in kube-system .*limit=7')" -ge 1 ] || fail "no second namespace"
[ "$(asked '^LIST nodes limit=500 ')" -ge 1 ] || fail "no LIST of nodes: $(curl -s "$url/sim/log")"
[ "$(asked '^LIST nodes .*rv=0 ')" = 0 ] || fail "nodes at RV 0"

# on demand: nothing is asked for, nobody waits for it, until somebody looks
[ "$(of services .state)" = idle ] || fail "services are $(of services .state)"
[ "$(asked ' services')" = 0 ] || fail "services were asked for: $(curl -s "$url/sim/log")"
stat_is .synced true || fail "not synced"
[ "$(curl -s --unix-socket "$T/http.sock" http://x/readyz)" = ok ] || fail "not ready: $(curl -s --unix-socket "$T/http.sock" 'http://x/readyz?verbose')"
INFORMER_SOCKET=$S "$B"/informerctl wait --for=synced services --timeout="${PATIENCE}s" >"$T/wait.out" 2>&1 || fail "informerctl wait: $(cat "$T/wait.out")"
[ "$(of services .state)" = synced ] || fail "services are $(of services .state)"
[ "$(of services .objects)" = "$(on_server /api/v1/services)" ] || fail "$(of services .objects) services"
grep -q 'services: asked for by a reader' "$T/daemon.log" || fail "nothing in the log"

# a resource that is not configured is an error that names the flag
! INFORMER_SOCKET=$S "$B"/informerctl get deployments >"$T/none.out" 2>&1 || fail "deployments"
grep -q -- --resource "$T/none.out" || fail "no flag: $(cat "$T/none.out")"

# what was once asked for goes on after a restart, without a LIST
stop_daemon TERM
before=$(lists services)
E2E_NODE=$node start_daemon --config "$T/config.yaml"
wait_ready
expect_stat '.resources[1].activity' watching
[ "$(lists services)" = "$before" ] || fail "services were listed again"

# metadata alone is other content than the whole
stop_daemon TERM
sed -i 's/, metadataOnly: true//' "$T/config.yaml"
E2E_NODE=$node start_daemon --config "$T/config.yaml"
wait_ready
whole() { INFORMER_SOCKET=$S "$B"/informerctl get pods -A -o json | jq -e '[.items[] | has("spec")] | all and length > 0'; }
until_true whole || fail "still no more than metadata"

# how long a watch is to last, and how failures are waited after: said at the start, and anew with a reload
stop_daemon TERM
printf 'watchTimeout: 20m\nbackoff: {initial: 40s, max: 50s}\n' >>"$T/config.yaml"
E2E_NODE=$node start_daemon --config "$T/config.yaml"
wait_ready
lasts() { # LEAST: the newest watch of pods, this long to twice as long
	newest=$(curl -s "$url/sim/log" | grep '^WATCH.* pods .*-> 200' | tail -n 1 | sed -n 's/.* timeout=\([0-9]*\) .*/\1/p')
	[ "$newest" -ge "$1" ] && [ "$newest" -lt $(($1 * 2)) ]
}
until_true lasts 1200 || fail "a watch of $newest s instead of 1200 to 2399"
sed -i 's/20m/1h/' "$T/config.yaml"
kill -HUP "$daemon_pid"
until_true lasts 3600 || fail "a watch of $newest s instead of 3600 to 7199"
# informer-sim ends a single watch when it is told to; upstream's server would have to go, and the failures would add up
if [ "$SERVER" = sim ]; then
	curl -sf -X POST --data 'when WATCH pods idle then 410 once' "$url/sim/faults" >/dev/null || fail "no fault"
	waits() { [ "$(of pods .activity)" = backing-off ] && [ "$(of pods .retry_in_ms)" -gt 2000 ]; }
	until_true waits || fail "pods: $(of pods '"\(.activity), again in \(.retry_in_ms) ms"')"
fi

# a variable that is not set
stop_daemon TERM
code=0
"$B"/informerd --kubeconfig "$T/kubeconfig" --socket "$S" --config "$T/config.yaml" 2>"$T/unset.out" || code=$?
[ "$code" = 2 ] || fail "exit code $code"
grep -q 'config.yaml:2:3: the environment variable E2E_NODE is not set' "$T/unset.out" || fail "$(cat "$T/unset.out")"
echo ok
