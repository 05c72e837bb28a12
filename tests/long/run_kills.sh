#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Handler processes are killed at random under churn, and informer-run and informerd too: every event is acknowledged at least once, each
# object's in order, and at the end handlers were told the server's state.
# Takes 12 s.
. "$(dirname "$0")/../support/script.sh"
. "$(dirname "$0")/../support/run.sh"
kills=${KILLS:-40}
pids() { "$B"/informer-run status k -o json 2>/dev/null | jq -r '.handlers[0].pids[]'; }
flags="--resource pods --consumer k --workers 3 --window 8 --max-crashes 1000 --dead-letters $T/dead"

start_sim --nodes 4 --pods-per-node 10
start_daemon --resource pods
wait_ready
"$B"/informerctl changes pods -A >"$T/changes" 2>"$T/changes.log" &
changes=$!
start_run $flags -- "$B"/tests/run_handler
until_true run_is k processed 40 || fail "initial events: $(run_stat k processed)"

# ---- handlers alone: each change reaches one
curl -s -X POST "$url/sim/churn?rate=500&count=1500" >/dev/null
: >"$T/victims"
for i in $(seq "$kills"); do
	victim=$(pids | shuf -n 1)
	[ -z "$victim" ] || ! kill -9 "$victim" 2>/dev/null || echo "$victim" >>"$T/victims"
	sleep "0.0$((RANDOM % 8))"
done
until_true churn_over || fail "the churn does not end"
until_true same || fail "told: $(diff "$T/want" "$T/got" | head -20)"
until_true run_is k lagEvents 0 || fail "$(run_stat k lagEvents) events are not done"
killed=$(sort -u "$T/victims" | wc -l)
[ "$killed" -ge $((kills / 2)) ] || fail "only $killed handlers were killed"
all_restarted() { restarts=$(run_stat k restarts) && [ "$restarts" -ge "$killed" ]; }
until_true all_restarted || fail "only $restarts restarts for $killed kills"
in_order || fail "out of order"
told_all() { [ "$(tail -n 1 "$T/changes" | jq .seq)" = "$(stat .seq)" ]; }
until_true told_all || fail "informerctl changes is not told all"
kill "$changes"
jq -r 'select(.object) | .seq' "$T/changes" | sort -u >"$T/all-seqs"
awk '{print $2}' "$OUT" | sort -u >"$T/told-seqs"
[ "$(wc -l <"$T/all-seqs")" -ge 1000 ] || fail "$(wc -l <"$T/all-seqs") changes"
! grep -q COALESCED "$T/changes" "$OUT" || fail "it fell behind: the next comparison would mean nothing"
missed=$(comm -23 "$T/all-seqs" "$T/told-seqs" | wc -l)
[ "$missed" = 0 ] || fail "$missed events never reached a handler"
run_is k deadLetters 0 || fail "dead letters"
[ ! -s "$T/dead" ] || fail "dead letters: $(head -c 300 "$T/dead")"

# ---- informer-run and informerd as well
curl -s -X POST "$url/sim/churn?rate=500&count=1500" >/dev/null
for i in 1 2 3 4; do
	sleep "0.$((RANDOM % 4 + 1))"
	old=$(pids)
	stop_run KILL
	for p in $old; do until_true sh -c "! kill -0 $p" || fail "a handler outlives informer-run"; done
	if [ $((i % 2)) = 0 ]; then
		stop_daemon KILL
		start_daemon --resource pods
	fi
	start_run $flags -- "$B"/tests/run_handler
done
until_true churn_over || fail "the churn does not end"
until_true same || fail "told after kills of all: $(diff "$T/want" "$T/got" | head -20)"
in_order || fail "out of order after kills of all"
consumer_is_done() { [ "$(stat '.consumers[0].lag')" = 0 ]; }
until_true consumer_is_done || fail "the cursor lags: $(stat .consumers)"
[ "$(find "$T/run" -name '*.sock' | wc -l)" = 1 ] || fail "sockets of the dead stay: $(ls "$T/run")"

# ---- nothing comes again that was acknowledged, and the server is not asked
stop_run TERM
[ "$code" = 0 ] || fail "SIGTERM: exit $code"
requests() { curl -s "$url/metrics" | sed -n 's/^apiserver_request_total{.*} //p' | awk '{n += $1} END {print n + 0}'; }
before=$(requests)
: >"$OUT"
start_run $flags -- "$B"/tests/run_handler
until_true run_is k state running || fail "not running again"
until_true run_is k workersUp 3 || fail "no workers"
[ "$(requests)" = "$before" ] || fail "a restart made $(($(requests) - before)) requests"
stop_run TERM
[ "$(grep -c / "$OUT" || true)" = 0 ] || fail "acknowledged events come again: $(head -3 "$OUT")"
echo "ok: $restarts restarts of handlers"
