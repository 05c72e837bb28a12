#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A handler that does not answer for thousands of changes: informer-run takes no more than it has room for, keeps no snapshot open, and its
# memory stays; then the handler is told that it fell behind, and gets the newest states. A store that is rebuilt is told by what changed.
# Takes 5 s.
. "$(dirname "$0")/../support/script.sh"
. "$(dirname "$0")/../support/run.sh"
rss() { awk '/^VmRSS/ {print $2}' "/proc/$run_pid/status"; }
export HOLD=$T/hold
start_sim --nodes 4 --pods-per-node 10
start_daemon --resource pods
wait_ready
# ---- killed amid the initial events: all of them come again, since none of them is done before all are
flags="--resource pods --consumer slow --queue 256 --window 4 --deadline 5m --dead-letters $T/dead"
hangs=$(curl -s "$url/api/v1/pods" | jq -r '.items[20].metadata.name')
start_run $flags --workers 2 -- env HANG="$hangs" "$B"/tests/run_handler
nearly_all_done() { [ "$(run_stat slow processed)" -ge 30 ]; }
until_true nearly_all_done || fail "initial events beside one that hangs: $(run_stat slow processed)"
stop_run KILL
start_run $flags -- "$B"/tests/run_handler
until_true run_is slow processed 40 || fail "initial events after a kill amid them: $(run_stat slow processed)"
stop_run TERM

# ---- slow
start_run $flags -- "$B"/tests/run_handler
until_true run_is slow state running || fail "initial events: $(run_stat slow processed)"
before=$(rss)
touch "$HOLD"
curl -s -X POST "$url/sim/churn?rate=4000&count=6000" >/dev/null
until_true churn_over || fail "the churn does not end"
some_under_way() { under_way=$(run_stat slow underWay) && [ "$under_way" -ge 1 ]; }
until_true some_under_way || fail "$under_way events are under way"
[ "$under_way" -le 4 ] || fail "$under_way events are under way"
[ "$(run_stat slow lagEvents)" -le $((8 + 256)) ] || fail "it holds $(run_stat slow lagEvents) events"
[ "$(stat '[.readers[] | select(.name == "informer-run")][0].pins')" = 0 ] || fail "it keeps a snapshot open: $(stat .readers)"
case $B in *address*) ;; *) [ $(($(rss) - before)) -lt 4096 ] || fail "its memory grew from $before to $(rss) KiB" ;; esac
run_is slow coalesced 0 || fail "COALESCED is told too early"
rm "$HOLD"
until_true same || fail "told: $(diff "$T/want" "$T/got" | head -20)"
in_order || fail "out of order"
grep -q ' COALESCED$' "$OUT" || fail "COALESCED is not told"
until_true run_is slow coalesced 1 || fail "COALESCED is counted $(run_stat slow coalesced) times"
[ "$(wc -l <"$OUT")" -lt 3000 ] || fail "$(wc -l <"$OUT") events: what was missed was not merged"

# ---- rebuilt: what is there is compared with the keys that were told, so the handler hears of what changed alone
rebuild() {
	stop_daemon KILL
	rm -f "$T"/informer*.[0-9]*
	: >"$OUT"
	"$@"
	start_daemon --resource pods
	wait_ready
}
delete_one() { curl -sf -X DELETE "$url/api/v1/namespaces/${gone%/*}/pods/${gone#*/}" >/dev/null; }
gone=$(curl -s "$url/api/v1/pods" | jq -r '.items[7].metadata | .namespace + "/" + .name')
rebuild delete_one
until_true grep -q " DELETED .*${gone#*/}" "$OUT" || fail "a deletion while informerd was away: $(head -5 "$OUT")"
consumer_is_done() { [ "$(stat '.consumers[0].lag')" = 0 ]; }
until_true consumer_is_done || fail "the cursor lags: $(stat .consumers)"
[ "$(grep -c / "$OUT")" = 1 ] || fail "more than the deletion is told: $(head -5 "$OUT")"
stop_run TERM
[ "$code" = 0 ] || fail "SIGTERM: exit $code"

# ---- killed amid the initial events, and what was told is gone since: no event tells it, the RESYNC is another
OUT=$T/amid
flags="--resource pods --consumer amid --dead-letters $T/dead"
present=$(curl -s "$url/api/v1/pods" | jq '.items | length')
hangs=$(curl -s "$url/api/v1/pods" | jq -r '.items[20].metadata.name')
start_run $flags --workers 2 -- env HANG="$hangs" "$B"/tests/run_handler
half_done() { [ "$(run_stat amid processed)" -ge $((present / 2)) ]; }
until_true half_done || fail "initial events beside one that hangs: $(run_stat amid processed)"
stop_run KILL
gone=$(awk '$4 ~ /\// {print $4; exit}' "$OUT")
delete_one || fail "cannot delete $gone"
is_deleted() { ! "$B"/informerctl get pods -n "${gone%/*}" "${gone#*/}"; }
until_true is_deleted || fail "$gone stays"
start_run $flags -- "$B"/tests/run_handler
until_true run_is amid processed $((present - 1)) || fail "initial events after a kill amid them: $(run_stat amid processed)"
until_true same last || fail "told, in two RESYNCs: $(diff "$T/want" "$T/got" | head -20)"
stop_run TERM
echo ok
