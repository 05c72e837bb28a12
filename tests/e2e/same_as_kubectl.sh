#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# informerctl prints what kubectl prints, document by document: of $REAL_PODS and replicas of them (else of the pods that make has generated),
# after the first list, and after 10,000 changes amid which informerd was killed with -9 three times. Without kubectl the server is asked directly.
# REPLICAS of each pod (5), CHANGES (10000), RATE a second (8000). LONG=1: 60 replicas and 100,000 changes.
# Takes 23 s.
. "$(dirname "$0")/../support/script.sh"
if [ -n "${LONG:-}" ]; then : "${REPLICAS:=60}" "${CHANGES:=100000}"; fi
: "${REPLICAS:=5}" "${CHANGES:=10000}" "${RATE:=8000}"

start_sim --load "${REAL_PODS:-$B/pods}" --replicas "$REPLICAS"
start_daemon --resource pods
wait_ready

server() {
	if command -v kubectl >/dev/null; then
		kubectl --kubeconfig "$T/kubeconfig" get pods -A -o json
	else
		curl -s "$url/api/v1/pods" | jq '{apiVersion: "v1", kind: "List", metadata: {resourceVersion: ""},
			items: [.items[] | {apiVersion: "v1", kind: "Pod"} + .]}'
	fi
}
normal() { jq -S 'del(.items[].metadata.managedFields) | .items |= sort_by(.metadata.namespace, .metadata.name)'; }
expect_same() {
	server | normal >"$T/server.json"
	"$B"/informerctl --socket "$S" get pods -A -o json | normal >"$T/arena.json"
	cmp "$T/server.json" "$T/arena.json" || { diff "$T/server.json" "$T/arena.json" | head -n 20; fail "$1: they differ"; }
	echo "the same, $1: $(jq '.items | length' "$T/arena.json") pods"
}

expect_same "after the list"
changes=$CHANGES
events() { curl -s "$url/sim/stats" | jq .churn.done; }
curl -sf -X POST "$url/sim/churn?rate=$RATE&count=$changes" >/dev/null || fail "no churn"
for part in 1 2 3; do
	past() { [ "$(events)" -ge $((changes * part / 4)) ]; }
	until_true past || fail "churn does not go on: $(curl -s "$url/sim/stats")"
	stop_daemon KILL
	start_daemon --resource pods
done
past() { [ "$(events)" -ge "$changes" ]; }
until_true past || fail "churn does not end: $(curl -s "$url/sim/stats")"
wait_ready
newest=$(curl -s "$url/api/v1/pods" | jq -r '[.items[].metadata.resourceVersion | tonumber] | max')
caught_up() { [ "$(stat '.resources[0].rv')" -ge "$newest" ]; }
until_true caught_up || fail "RV $(stat '.resources[0].rv') instead of $newest"
expect_same "after $changes changes and three kills"
"$B"/informerctl --socket "$S" verify || fail "verify"
echo ok
