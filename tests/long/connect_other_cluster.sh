#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Another cluster behind the same URL, with resourceVersions that overlap: whether it came while the daemon was away, or while its
# watches were down, everything is listed anew and published as a difference, and no RV of the one is taken for one of the other. The
# same cluster, come back, is trusted, and so it is where nobody may see which one it is.
# Not upstream: informer-sim is another cluster after each start, and hides which one by a fault.
# Takes 16 s.
. "$(dirname "$0")/../support/script.sh"

keys() { curl -s "$url/api/v1/pods" | jq -S '[.items[].metadata | [.namespace, .name, .uid, .resourceVersion]] | sort' >"$T/server.json"; }
same() {
	"$B"/informerctl --socket "$S" get pods -A -o json | jq -S '[.items[].metadata | [.namespace, .name, .uid, .resourceVersion]] | sort' >"$T/ours.json"
	cmp -s "$T/server.json" "$T/ours.json"
}
expect_same() { keys; until_true same || fail "$1: $(diff "$T/server.json" "$T/ours.json" | head -20)"; }
listed() { stat '.resources[0] | .lists + .watch_lists'; }
one() { start_sim --nodes 3 --pods-per-node 10 --seed 1 "$@"; }
other() { start_sim --nodes 3 --pods-per-node 12 --seed 2; } # has all RVs that the first one has, and more
delete_one() {
	pod=$(curl -s "$url/api/v1/pods" | jq -r '.items[0].metadata | "\(.namespace)/pods/\(.name)"')
	curl -sf -X DELETE "$url/api/v1/namespaces/$pod" >/dev/null || fail "no delete"
}

# while it watches
one
start_daemon --resource pods
wait_ready
expect_same "at first"
first=$(stat .cluster)
[ "$first" = "$(curl -s "$url/api/v1/namespaces/kube-system" | jq -r .metadata.uid)" ] || fail "the cluster's id is $first"
"$B"/informerctl --socket "$S" changes pods -A >"$T/changes.out" 2>"$T/changes.log" &
heard() { jq -r .type "$T/changes.out" | sort | uniq -c | tr -s ' \n' ' '; }
heard_is() { [ "$(heard)" = "$1" ]; }
until_true heard_is ' 30 ADDED ' || fail "a reader heard$(heard) at first"
stop_sim
other
expect_same "another cluster while it watches"
[ "$(listed)" = 2 ] || fail "$(listed) lists instead of 2"
[ "$(stat .cluster)" != "$first" ] || fail "the id is the old one"
grep -q 'another cluster answers' "$T/daemon.log" || fail "no word"
# a reader with a queue heard of all that was there at first, that each of these is gone, and that each of the others came
until_true heard_is ' 66 ADDED 30 DELETED ' || fail "a reader heard$(heard)"
delete_one
expect_same "and on it goes"
[ "$(listed)" = 2 ] || fail "$(listed) lists after a change"

# while it is away: adopted, shown as what is not whole, and listed anew
stop_daemon KILL
stop_sim
one --start-rv 20
: >"$T/daemon.log"
start_daemon --resource pods
expect_same "another cluster while it was away"
grep -q 'adopted\|took over' "$T/daemon.log" || fail "nothing was adopted: $(cat "$T/daemon.log")"
grep -q 'not known to be of the cluster' "$T/daemon.log" || fail "no word"
[ "$(listed)" = 1 ] || fail "$(listed) lists"

# the same cluster is trusted
expect_stat '.resources[0].state' synced
stop_daemon KILL
start_daemon --resource pods
wait_ready
expect_same "the same cluster"
[ "$(listed)" = 0 ] || fail "the same cluster was listed again"

# where it is hidden, URL and CA must do; what was known stays known
stop_daemon KILL
curl -sf -X POST --data-binary 'when GET namespaces then 403' "$url/sim/faults" >/dev/null || fail "no fault"
: >"$T/daemon.log"
start_daemon --resource pods
wait_ready
[ "$(listed)" = 0 ] || fail "listed where the cluster is hidden"
grep -q 'cannot be told from another' "$T/daemon.log" || fail "no word about a hidden cluster"
stop_daemon KILL
curl -sf -X DELETE "$url/sim/faults" >/dev/null
start_daemon --resource pods
wait_ready
[ "$(listed)" = 0 ] || fail "what was known was forgotten"

# not this time: it waits, and asks again
stop_daemon KILL
curl -sf -X POST --data-binary 'when GET namespaces then 503 times 2' "$url/sim/faults" >/dev/null || fail "no fault"
start_daemon --resource pods
wait_ready
[ "$(listed)" = 0 ] || fail "listed after a 503"

# another user to impersonate may see another world
stop_daemon TERM
start_daemon --resource pods --as somebody
wait_ready
[ "$(listed)" = 1 ] || fail "trusted for another user"
stop_daemon TERM
[ "$code" = 0 ] || fail "exit code $code"
echo ok
