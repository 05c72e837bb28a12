#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# kill -9 of each part at a moment that dice choose, amid changes and reloads: informerd (in its first LIST, in adoption, in a reload, with a
# standby or as one), readers, informer-run and its handlers. At the end each reader and handler has what the server has. None was told of an
# older state than before. The server was asked for no other LIST than the first. Nothing of the dead is left: there is one arena file, and no
# socket and no process too many.
#
# Of KILLS, 10 go round the parts in order. LONG=1: 50, and dice choose the part; KILLS=1000 is for a run by hand. SEED repeats a run's dice (not its
# timing). KEEP is a folder where what was told and all logs stay.
# Takes 21 s.
. "$(dirname "$0")/../support/script.sh"
. "$(dirname "$0")/../support/run.sh"
. "$(dirname "$0")/../support/told.sh"
kills=${KILLS:-${LONG:+50}} kills=${kills:-10}
seed=${SEED:-1}
RANDOM=$((seed % 32768))
echo "SEED=$seed KILLS=$kills"

[ -z "${KEEP:-}" ] || at_end+=('cp -r "$T"/told "$T"/out "$T"/*.log "$KEEP"/ 2>/dev/null')
. "$(dirname "$0")/../support/deaths.sh"
killed+=([informer-run]=0 [handler]=0)

# ---- who is killed besides
kill_and_start() { kill_reader "$1"; start_reader "$1"; } # NAME
start_handlers() {
	start_run --resource pods --consumer k --workers 2 --window 8 --max-crashes 1000 --dead-letters "$T/dead" -- "$B"/tests/run_handler
}
handler_pids() { "$B"/informer-run status k -o json 2>/dev/null | jq -r '.handlers[0].pids[]'; }
has_ended() { ! grep -qs '^State:[[:space:]]*[^ZX[:space:]]' "/proc/$1/status"; } # whoever inherits it may not have looked yet
kill_run() {
	kill -0 "$run_pid" 2>/dev/null || fail "SEED=$seed: informer-run ended by itself"
	old=$(handler_pids)
	stop_run KILL
	for p in $old; do until_true has_ended "$p" || fail "SEED=$seed: handler $p outlives informer-run"; done
	killed[informer-run]=$((killed[informer-run] + 1))
	start_handlers
}
kill_handler() {
	victim=$(handler_pids | shuf -n 1)
	[ -n "$victim" ] && kill -9 "$victim" 2>/dev/null || return 1
	killed[handler]=$((killed[handler] + 1))
}
# kill_somebody N: the Nth
victims=(4 14 0 20 12 18 8 10 5 21)
kill_somebody() {
	local who=${victims[$1 % ${#victims[@]}]}
	[ -z "${LONG:-}" ] || who=$((RANDOM % 24))
	case $who in
	2[0-3]) replace_informerd ;;
	[0-7]) kill_informerd ;;
	[89]) kill_and_start m1 ;;
	1[01]) kill_and_start m2 ;;
	1[23]) kill_and_start s ;;
	1[4567]) kill_handler || kill_and_start m1 ;; # none is up
	*) kill_run ;;
	esac
}

# what there is of files and sockets; numbers, and all that could be digits of one, do not count
traces() { (cd "$T" && find . -name 'informer*' -o -name 's.sock*' -o -path './run/*') | sed 's/[0-9a-f]\{1,\}/N/g' | LC_ALL=C sort; }

# ---- in the first LIST
start_sim --nodes 20 --pods-per-node $((${LONG:+30} + 20))
configure
for i in 1 2 3 ${LONG:+4 5 6}; do
	start_informerd
	sleep "0.0$((RANDOM % 9))"
	stop_daemon KILL
done
start_informerd
wait_ready
before=$(lists pods)

# ---- at any moment
for r in m1 m2 s; do start_reader "$r"; done
start_handlers
until_true run_is k state running || fail "informer-run does not run"
until_true is_in_force || fail "what is configured is not in force: $(stat .resources)"
traces >"$T/traces.before"
curl -sf -X POST "$url/sim/churn?rate=${RATE:-300}&count=1000000" >/dev/null || fail "no churn"
for i in $(seq "$kills"); do
	sleep "0.$((RANDOM % 4))$((RANDOM % 10))"
	[ $((RANDOM % 2)) = 0 ] || reload
	[ $((RANDOM % 2)) = 0 ] || sleep "0.0$((RANDOM % 10))"
	kill_somebody "$i"
done

# ---- and then none any more. A reader has the file of the generation before open until it is told of a
# change, 60 s at most: changes go on until all readers have gone over.
wait_ready
until_true is_in_force || fail "SEED=$seed: what is configured is not in force: $(stat .resources)"
traces_are() { traces >"$T/traces.after"; cmp -s "$T/traces.before" "$T/traces.after"; }
until_true traces_are || fail "SEED=$seed: what is left: $(diff "$T/traces.before" "$T/traces.after")"
curl -sf -X POST "$url/sim/churn?rate=0" >/dev/null
until_true churn_over || fail "the churn does not end"
lists=$(($(lists pods) - before)) # what is compared below is listed, too
[ "$lists" = 0 ] || fail "SEED=$seed: $lists LISTs of pods after the first"

for r in m1 m2 s; do
	until_true is_told "$(told_to "$r")" || fail "SEED=$seed: reader $r has: $(diff "$T/want" "$T/got" | head -20)"
done
none_went_back "$T"/told/* || fail "SEED=$seed: readers were told of an older state"
until_true same last || fail "SEED=$seed: handlers were told: $(diff "$T/want" "$T/got" | head -20)"
until_true run_is k lagEvents 0 || fail "SEED=$seed: $(run_stat k lagEvents) events are not done"
[ ! -s "$T/dead" ] || fail "SEED=$seed: dead letters: $(head -c 300 "$T/dead")"
items() { jq -S '[.items[] | del(.metadata.managedFields, .kind, .apiVersion)] | sort_by(.metadata.namespace, .metadata.name)'; }
curl -sf "$url/api/v1/pods" | items >"$T/server.json"
same_documents() {
	"$B"/informerctl --socket "$S" get pods -A -o json | items >"$T/ours.json"
	cmp -s "$T/server.json" "$T/ours.json"
}
until_true same_documents || fail "SEED=$seed: $(diff "$T/server.json" "$T/ours.json" | head -20)"
"$B"/informerctl --socket "$S" verify >"$T/verify.log" 2>&1 || fail "SEED=$seed: the arena is damaged"
[ ! -s "$T/reader.log" ] || fail "SEED=$seed: readers complain"

# ---- nothing is left of the dead
until_true traces_are || fail "SEED=$seed: what is left: $(diff "$T/traces.before" "$T/traces.after")"
[ "$(arenas)" = 1 ] || fail "SEED=$seed: arenas: $(ls "$T")"
g=$(stat .generation)
[ "$(left | sort -u | wc -l)" = 5 ] || fail "only these are seen: $(left)"
for r in m1 m2 s; do end_reader "$r"; done
stop_run TERM
[ "$code" = 0 ] || fail "SEED=$seed: informer-run: exit $code"
stop_daemon TERM
[ "$code" = 0 ] || fail "SEED=$seed: informerd: exit $code"
stop_sim
until_true alone || fail "SEED=$seed: still there: $(left)"
echo "ok: $standbys standbys, killed ${killed[informerd]} informerd, ${killed[reader]} readers, ${killed[informer-run]} informer-run, ${killed[handler]} handlers; $reloads reloads;" \
	"generation $g"
