#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# informerd compares its cache with the API server when it is told to: what a lying watch made of it is named, counted and mended by one list;
# while all is the same nothing is listed. A reload turns it off.
# Takes 12 s.
. "$(dirname "$0")/../support/script.sh"
WIRE=json # what it lets the server say is text
M=$T/metrics.sock
metric() { curl -s --unix-socket "$M" http://informer/metrics | awk -v s="$1" 'index($0, s " ") == 1 {print $NF}'; }
is() { [ "$(metric "$1")" = "$2" ]; }
checked() { [ "$(stat '.resources[0].consistency | .checks - .inconclusive')" -gt "$1" ]; }
cached() { INFORMER_SOCKET=$S "$B"/informerctl get pods -A -o json | jq -r '.items[].metadata | "\(.namespace)/\(.name) \(.uid) \(.resourceVersion)"' | LC_ALL=C sort; }
served() { curl -s "$url/api/v1/pods" | jq -r '.items[].metadata | "\(.namespace)/\(.name) \(.uid) \(.resourceVersion)"' | LC_ALL=C sort; }
same() { [ "$(cached)" = "$(served)" ]; }
# lie EVENT: one that the server's state does not make, in the watch that is open
lie() { curl -sf -X POST --data-binary "when WATCH pods idle then say $1 once" "$url/sim/faults" >/dev/null || fail "faults"; }

start_sim --nodes 20 --pods-per-node 30
cat >"$T/config.yaml" <<END
checkEvery: 1s
resources:
- resource: pods
END
start_daemon --config "$T/config.yaml" --metrics-address "unix:$M"
wait_ready
until_true checked 1 || fail "nothing is compared: $(stat '.resources[0].consistency')"
stat_is '.resources[0].consistency | .missing + .extra + .different' 0 || fail "differences: $(stat '.resources[0].consistency')"
stat_is '.resources[0] | .lists + .watch_lists' 1 || fail "it was listed again for nothing"

# ---- changes meanwhile are no differences
churn() { curl -sf -X POST "$url/sim/churn?rate=$1" >/dev/null || fail "no churn"; }
churn 200
last=$(stat '.resources[0].consistency | .checks - .inconclusive') events=$(stat '.resources[0].events')
until_true checked $((last + 3)) || fail "no check says anything: $(stat '.resources[0].consistency')"
churn 0
[ "$(stat '.resources[0].events')" -gt "$events" ] || fail "nothing changed: this proves nothing"
last=$(stat '.resources[0].consistency | .checks - .inconclusive')
until_true checked "$last" || fail "no more checks"
stat_is '.resources[0].consistency | .inconclusive + .missing + .extra + .different' 0 || fail "not all the same: $(stat '.resources[0].consistency')"
stat_is '.resources[0] | .lists + .watch_lists' 1 || fail "it was listed again for nothing"

# what a server must be told to do wrong, informer-sim alone does
if [ "$SERVER" = sim ]; then
	# ---- three lies: one pod is gone, one is another, one was never there
	now=$(curl -s "$url/api/v1/pods" | jq -r .metadata.resourceVersion)
	read -r gone_ns gone other_ns other <<<"$(curl -s "$url/api/v1/pods" | jq -r '[.items[0, 1].metadata | .namespace, .name] | join(" ")')"
	before=$(stat '.resources[0].consistency.checks')
	lie '{"type":"DELETED","object":{"metadata":{"namespace":"'"$gone_ns"'","name":"'"$gone"'","uid":"u","resourceVersion":"'"$now"'"}}}'
	lie '{"type":"MODIFIED","object":{"metadata":{"namespace":"'"$other_ns"'","name":"'"$other"'","uid":"v","resourceVersion":"'"$now"'"}}}'
	lie '{"type":"ADDED","object":{"metadata":{"namespace":"n","name":"ghost","uid":"w","resourceVersion":"'"$now"'"}}}'
	logged "pods: n/ghost is too much: the server does not have it" || fail "what is too much is not named"
	logged "pods: $gone_ns/$gone is missing: the server has it" || fail "what is missing is not named"
	logged "pods: $other_ns/$other is another state" || fail "what is another is not named"
	until_true same || fail "the cache is $(cached), the server $(served)"
	until_true is 'informer_consistency_differences_total{resource="pods",kind="missing"}' 1 || fail "missing: $(stat '.resources[0].consistency')"
	is 'informer_consistency_differences_total{resource="pods",kind="extra"}' 1 || fail "extra: $(stat '.resources[0].consistency')"
	is 'informer_consistency_differences_total{resource="pods",kind="different"}' 1 || fail "different: $(stat '.resources[0].consistency')"
	[ "$(metric 'informer_relists_total{resource="pods",reason="differs"}')" -ge 1 ] || fail "it was not listed for that"
	# mended: the next ones find nothing, and it is listed no more
	lists=$(stat '.resources[0] | .lists + .watch_lists')
	last=$(stat '.resources[0].consistency | .checks - .inconclusive')
	until_true checked $((last + 1)) || fail "no more checks: $(stat '.resources[0].consistency') after $before"
	stat_is '.resources[0] | .lists + .watch_lists' "$lists" || fail "it is listed again and again"
	stat_is '.resources[0].consistency | .missing + .extra + .different' 3 || fail "more differences: $(stat '.resources[0].consistency')"

	# ---- a server that does not have this version any more is no difference
	curl -sf -X POST --data-binary 'when LIST pods then 410' "$url/sim/faults" >/dev/null
	inconclusive() { [ "$(stat '.resources[0].consistency.inconclusive')" -gt 0 ]; }
	until_true inconclusive || fail "an expired version: $(stat '.resources[0].consistency')"
	logged 'pods: cannot be compared with the server at resourceVersion' || fail "why is not told"
	curl -sf -X DELETE "$url/sim/faults" >/dev/null
	last=$(stat '.resources[0].consistency | .checks - .inconclusive')
	until_true checked "$last" || fail "no more checks"
	stat_is '.resources[0].consistency | .missing + .extra + .different' 3 || fail "differences by an expired version: $(stat '.resources[0].consistency')"
fi

# ---- the reload turns it off
sed -i '/checkEvery/d' "$T/config.yaml"
kill -HUP "$daemon_pid"
expect_stat .reload.state ok
