#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Everything goes wrong that can, at random, while 100,000 changes are made: connections refused, cut within frames, slow and frozen, answers
# of 410, 429 and 500, certificates that change, clocks that jump, history that is forgotten, servers killed, begun anew, and restored to
# an older state, informerd and its readers killed. Each snapshot that a reader takes shows what the server had at that resourceVersion, nothing
# comes again, goes or is older than it was told before, and at the end the cache is the server's state. And there is no LIST that
# the reference would not have made.
#
# The faults come in fits, with quiet between them that is long enough for the cache to be up to date again and backoffs to begin anew:
# informerd's clock runs SPEED (25) times as fast, so that its minutes are over in seconds.
#
# SEED repeats a run's dice and its plan (not its timing), CHANGES how many changes (100000; 12000 with sanitizers; 30000 before
# upstream's server, for which 100000 take five minutes), RATE how many a second. KEEP: a folder where what was told, the history, the
# conversation on the wire and all logs stay.
# Takes 73 s.
. "$(dirname "$0")/../support/script.sh"
. "$(dirname "$0")/../support/chaos.sh"
case $SERVER-$B in
*address* | *thread*) changes=12000 pace=250 speed=15 ;;
sim-*) changes=100000 pace=1300 speed=25 ;;
*) changes=30000 pace=500 speed=25 ;;
esac
changes=${CHANGES:-$changes} pace=${RATE:-$pace} speed=${SPEED:-$speed}
seed=${SEED:-$(date +%s)}
RANDOM=$((seed % 32768))
echo "SEED=$seed CHANGES=$changes SERVER=$SERVER"

# ---- the plan: every kind of fault as often as any other, in an order and with figures by chance
pick() { shift $((RANDOM % $#)); echo "$1"; }
between() { echo $(($1 + RANDOM % ($2 - $1))); }
deck() {
	echo "refused $(between 100 1500)"
	echo cut
	echo mid_frame
	echo mid_frame
	echo truncated
	echo invalid
	echo "storm_410 $(between 1 6) $(between 0 4)"
	echo "throttled $(between 100 1500)"
	echo throttled_stream
	echo "failing $(pick 500 500 503 504) $(between 100 1500)"
	echo "error_500 $(between 1 5)"
	echo "bad_list $(between 1 4) $(between 0 100000) $(pick cut mid-frame truncate invalid 'answer 500' 'answer 429')"
	echo "bad_list $(between 1 4) $(between 0 30000) $(pick cut mid-frame truncate invalid)"
	echo "certificates $(between 0 1200)"
	echo "slow $(between 200 2000)"
	echo "frozen $(between 200 3000)"
	echo "clock_step $(pick -1800 86400 -200000 40000000) $(between 50 1000)"
	echo compacted
	echo "server_killed $(between 0 800)"
	[ "$SERVER" != sim ] || echo "server_lost $(between 0 800) $(between 50 500)"
	echo "restored $(between 100 900)"
	echo "informerd_killed $(between 0 800)"
	echo "informerd_killed $(between 0 800) compact"
	echo handler_killed
	echo snapshots_killed
}
# a fit is of two to six; the two minutes after which a backoff is forgotten pass before the next
fits=$((changes * speed / pace / 180 + 1)) fit=$((changes * 24 / 25 / fits))
moments=() cards=() plan=()
for i in $(seq 0 $((fits - 1))); do
	moment=$((changes / 50 + i * fit + RANDOM % (fit / 20 + 1)))
	for _ in $(seq "$(between 2 7)"); do
		if [ "${#cards[@]}" = 0 ]; then
			mapfile -t cards < <(deck)
		fi
		j=$((RANDOM % ${#cards[@]}))
		plan+=("${cards[j]}") moments+=("$moment")
		unset "cards[j]"
		cards=("${cards[@]}")
		moment=$((moment + 10 + RANDOM % (pace / 2)))
	done
done
faults=${#plan[@]}
for i in "${!plan[@]}"; do echo "plan: at change ${moments[i]}: ${plan[i]}"; done

# ---- as long as nothing goes wrong
case $SERVER in
sim) start_proxy; server ;;
*) start_proxy test-token; server; login="test-token $T/server.ca" ;;
esac
clock 0
start_changes "$seed" "$pace" ${login:-}
proxy note begin
informerd
wait_ready
start_snapshots
start_handler

# ---- everything
change to "$changes"
for i in "${!plan[@]}"; do
	ask tell "${moments[i]}"
	for p in $change_pid $proxy_pid $sim_pid $daemon_pid $snapshot_pid $handler_pid; do
		kill -0 "$p" 2>/dev/null || fail "SEED=$seed: process $p ended by itself (informerd is $daemon_pid, the changes $change_pid)"
	done
	say "change $made: ${plan[i]}"
	proxy note "${plan[i]}"
	${plan[i]}
done

# ---- and then nothing any more
ask wait
say "change $made: quiet"
proxy note quiet
proxy answer 0 0
proxy list 0 0 cut
check() {
	code=0
	"$B"/tests/chaos_check "$T/history" "$T"/told/* >"$T/result" 2>"$T/check.log" || code=$?
	[ "$code" != 1 ]
}
until_true check || true
[ "$code" = 0 ] || fail "SEED=$seed: $(cat "$T/result")"
allowed=$(awk -v speed="$speed" -f "$(dirname "$0")/../support/lists_allowed.awk" "$T/wire") || fail "SEED=$seed: $allowed"
# the same once more, by other means: the tool's words and the server's
items() { jq -S '[.items[] | del(.metadata.managedFields, .kind, .apiVersion)] | sort_by(.metadata.namespace, .metadata.name)'; }
curl -sf "$url/api/v1/pods" | items >"$T/server.json"
"$B"/informerctl --socket "$S" get pods -A -o json | items >"$T/ours.json"
cmp -s "$T/server.json" "$T/ours.json" || fail "SEED=$seed: $(diff "$T/server.json" "$T/ours.json" | head -20)"
"$B"/informerctl --socket "$S" verify >"$T/verify.log" 2>&1 || fail "SEED=$seed: the arena is damaged: $(cat "$T/verify.log")"
[ ! -s "$T/reader.log" ] || fail "SEED=$seed: readers complain"
stop_daemon TERM
[ "$code" = 0 ] || fail "SEED=$seed: informerd: exit $code"
say "ok: $made changes, $faults faults, $starts daemons, $handlers handlers; $(cat "$T/result"); $allowed"
