#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# informerd --takeover, several times in a row while pods change: readers go on, handlers are told everything, new readers are let in each time, the
# server is asked for no list, and nothing piles up. Then either side is killed at each point of a takeover, and a successor of another release
# takes over: nothing is lost, and the next plain start works.
#
# TAKEOVERS in a row: 5, with LONG=1 20. SEED repeats a run's dice (not its timing), MEASURE=1 says for how long no reader was let in.
# Takes 12 s.
. "$(dirname "$0")/../support/script.sh"
. "$(dirname "$0")/../support/told.sh"
server_is_plain=yes # events_change speaks HTTP
seed=${SEED:-1}
takeovers=${TAKEOVERS:-${LONG:+20}} takeovers=${takeovers:-5}
echo "SEED=$seed"
export INFORMER_SOCKET=$S
declare -A reader
mkdir "$T/told"

# take_over [PROGRAM]: the next informerd; its predecessor has ended by itself
take_over() {
	local before=$daemon_pid log=$notify_log old=$notify_pid
	notify_pid=
	INFORMERD=${1:-$B/informerd} start_daemon --resource pods --takeover
	wait_ready
	code=0
	wait "$before" || code=$?
	[ "$code" = 0 ] || fail "the predecessor ended with $code"
	# its main process is another before it ends, and it does not say that it stops: else systemd would end both
	grep -q "^MAINPID=$daemon_pid$" "$notify_log" || fail "systemd is not told of the new one"
	! grep -q STOPPING "$log" || fail "the predecessor says that it stops"
	kill "$old"
}
# what the server counts, of which its log forgets what is old, and what the daemons say of themselves
no_lists() {
	[ "$(lists pods)" -le "$first" ] || fail "$(($(lists pods) - first)) more LISTs"
	[ "$(grep -c 'pods: listed\|pods: listing again' "$T/daemon.log")" = 1 ] || fail "listed again: $(grep 'pods: list' "$T/daemon.log")"
}
descriptors() { ls "/proc/$daemon_pid/fd" | wc -l; }

start_sim
start_daemon --resource pods --takeover # where nobody is, it is a start as any other
wait_ready
first=$(lists pods)
"$B"/tests/events_change "$url" "$T/history" "$seed" 200 2>"$T/change.log" &
change_pid=$!
until_true grep -q anchor "$T/history" || fail "no changes"
for r in steady plain; do
	"$B"/tests/events_reader "$S" "$T/told" "$r" "$seed" "$r" 2>>"$T/reader.log" &
	reader[$r]=$!
done
uid=$(curl -s "$url/api/v1/namespaces/ns0/pods/anchor" | jq -r .metadata.uid)
"$B"/tests/look_always "$uid" none none short >"$T/look.log" &
look_pid=$!
until_true grep -q LOOKING "$T/look.log" || fail "nobody looks"
# one new reader after the other; which take how long is measured
while :; do
	begun=$(date +%s%N)
	"$B"/informerctl get pod anchor -n ns0 >"$T/get.out" 2>&1 || cat "$T/get.out" >>"$T/get.failed.log"
	echo $((($(date +%s%N) - begun) / 1000)) >>"$T/get.us"
done &
get_pid=$!
until_true test -s "$T/get.us" || fail "nobody gets"

attached() { stat_is '[.readers[] | select(.name != "informerctl")] | length' 3; }
until_true attached || fail "$(stat .readers)"
for i in $(seq "$takeovers"); do
	take_over
	until_true attached || fail "$i: $(stat .readers)"
	n=$(wc -l <"$T/get.us")
	got_more() { [ "$(wc -l <"$T/get.us")" -gt "$n" ]; }
	until_true got_more || fail "$i: nobody is let in"
	[ "$i" != 1 ] || fds=$(descriptors) # with that of the generation before
done
no_lists
[ "$(grep -c 'going on from resourceVersion' "$T/daemon.log")" = "$takeovers" ] || fail "not each went on"
flat() { [ "$(descriptors)" -le "$fds" ]; } # between two gets
until_true flat || fail "$(descriptors) descriptors, $fds at first: $(ls -l "/proc/$daemon_pid/fd")"
[ "$(find "$T" -maxdepth 1 -name 'informer*.[0-9]*' | wc -l)" -le 2 ] || fail "arenas: $(ls "$T")"

# another release: its name is in the log of both
take_over "$B"/tests/informerd_next
[ "$(stat .version)" = 9999.0.0 ] || fail "$(stat .version)"
logged 'informerd 9999.0.0 takes over' || fail "no word of it"
take_over
logged 'informerd 9999.0.0 (pid [0-9]*) handed over' || fail "no word of it"
no_lists

# ---- a successor that dies
successor() {
	: >"$T/successor.out"
	"$B"/tests/successor "$S" "$1" >"$T/successor.out" &
	successor_pid=$!
}
lives() {
	until_true attached || fail "$1: $(stat .readers)"
	kill -0 "$daemon_pid" || fail "$1: the daemon ended"
}
# before it is heard: nothing happens at all
g=$(stat .generation)
kill -STOP "$daemon_pid"
successor asked
wait "$successor_pid" || fail "the successor failed: $(cat "$T/successor.out")"
kill -CONT "$daemon_pid"
lives left
stat_is .generation "$g" || fail "it handed over to nobody"
# while it waits for the answer; when the descriptors are on their way; when they have come, and it has not said so: the daemon goes on
successor asked
wait "$successor_pid" || fail "the successor failed: $(cat "$T/successor.out")"
lives asked
for at in still given; do
	g=$(stat .generation) n=$(grep -c 'is gone: going on' "$T/daemon.log" || true)
	successor $at
	if [ $at = still ]; then
		until_true grep -q SENT "$T/successor.out" || fail "nothing is sent"
		kill -9 "$successor_pid"
		wait "$successor_pid" 2>/dev/null || true
	else
		wait "$successor_pid" || fail "the successor failed: $(cat "$T/successor.out")"
	fi
	goes_on() { [ "$(grep -c 'is gone: going on' "$T/daemon.log")" -gt "$n" ]; }
	until_true goes_on || fail "$at: it does not go on: $(stat .)"
	lives $at
	[ "$(stat .generation)" -gt "$g" ] || fail "$at: it had not ended"
done
# up to here nobody was ever turned away
kill "$get_pid"
wait "$get_pid" 2>/dev/null || true
get_pid=
[ ! -e "$T/get.failed.log" ] || fail "$(wc -l <"$T/get.failed.log") of $(wc -l <"$T/get.us") gets failed: $(sort "$T/get.failed.log" | uniq -c | head -5)"
# after that: it is gone, as after a crash, and a plain start goes on
successor taken
wait "$successor_pid" || fail "taken: the successor failed: $(cat "$T/successor.out")"
code=0
wait "$daemon_pid" || code=$?
[ "$code" = 0 ] || fail "taken: the daemon ended with $code"
start_daemon --resource pods
wait_ready
until_true attached || fail "taken: $(stat .readers)"

# ---- a predecessor that dies when it was asked, and has not answered: it is stopped before it hears of it
kill -STOP "$daemon_pid"
before=$daemon_pid
start_daemon --resource pods --takeover
logged "waiting for informerd.*(pid $before), which does not answer" || fail "no word about it"
kill -9 "$before"
wait "$before" 2>/dev/null || true
wait_ready
until_true attached || fail "killed: $(stat .readers)"

# ---- it never takes over without knowing that it can go on
code=0
"$B"/informerd --socket "$S" --arena-dir "$T" --kubeconfig "$T/kubeconfig" --resource podz --takeover 2>"$T/podz.log" || code=$?
[ "$code" = 2 ] || fail "podz: exit code $code: $(cat "$T/podz.log")"
code=0
"$B"/informerd --socket "$S" --arena-dir "$T/none" --kubeconfig "$T/kubeconfig" --resource pods --takeover 2>"$T/none.log" || code=$?
[ "$code" = 1 ] || fail "none: exit code $code: $(cat "$T/none.log")"
kill -0 "$daemon_pid" || fail "the daemon ended"

# ---- and then nothing more: all is as the server has it
kill "$change_pid"
wait "$change_pid" || fail "the changes failed: $(cat "$T/change.log")"
change_pid=
for r in "${!reader[@]}"; do kill -USR1 "${reader[$r]}" || fail "reader $r is gone"; done
events_agree 0
[ "$code" = 0 ] || fail "SEED=$seed: $(cat "$T/result")"
kill -0 "$look_pid" || fail "$(cat "$T/look.log")"
for r in "${!reader[@]}"; do
	kill "${reader[$r]}"
	code=0
	wait "${reader[$r]}" || code=$?
	[ "$code" = 0 ] || fail "reader $r: exit $code"
done
[ ! -s "$T/reader.log" ] || fail "readers complain: $(cat "$T/reader.log")"
no_lists
# who inherited the socket removes it
stop_daemon TERM
[ "$code" = 0 ] || fail "exit code $code"
[ ! -e "$S" ] || fail "the socket is left"
[ -z "${MEASURE:-}" ] || sort -n "$T/get.us" | awk '{v[NR] = $1} END {print "get: " NR ", median " v[int((NR + 1) / 2)] / 1000 " ms, longest " v[NR] / 1000 " ms"}'
echo "ok: $(cat "$T/result"), $(wc -l <"$T/history") changes, $starts daemons, $(wc -l <"$T/get.us") gets"
