#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# informerd --standby: waits while another one serves the socket, and goes on in its place when that one ends or is killed, time after time while pods
# change: readers go on, handlers are told everything, whoever attaches finds what is published, the server is asked for no list, and nothing
# piles up. Without --standby who holds the socket is named.
#
# ROUNDS in a row: 6, with LONG=1 20. SEED repeats a run's dice (not its timing).
# Takes 8 s.
. "$(dirname "$0")/../support/script.sh"
. "$(dirname "$0")/../support/told.sh"
server_is_plain=yes # events_change speaks HTTP
seed=${SEED:-1}
rounds=${ROUNDS:-${LONG:+20}} rounds=${rounds:-6}
echo "SEED=$seed"
export INFORMER_SOCKET=$S
declare -A reader
mkdir "$T/told"
M=$T/standby.sock

no_lists() {
	[ "$(lists pods)" -le "$first" ] || fail "$(($(lists pods) - first)) more LISTs"
	! grep -q 'listing anew' "$T/daemon.log" || fail "listed again: $(grep 'listing anew' "$T/daemon.log")"
}
descriptors() { ls "/proc/$daemon_pid/fd" | wc -l; }
# stand_by FLAGS...: another one, which is as ready as it can be; sets serving to the one that serves
stand_by() {
	serving=$daemon_pid
	kill "$notify_pid"
	notify_pid=
	start_daemon --resource pods --standby "$@"
	wait_ready
	grep -q '^READY=1 STATUS=standing by' "$notify_log" || fail "systemd is told: $(cat "$notify_log")"
}
# ends SIGNAL: the one that serves; the other one serves then
ends() {
	kill "-$1" "$serving"
	wait "$serving" 2>/dev/null || true
	until_true stat_is .pid "$daemon_pid" || fail "it does not serve: $(stat .)"
	expect_stat '.resources[0].state' synced
}

start_sim
start_daemon --resource pods --standby # where nobody is, it is a start as any other
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
while "$B"/informerctl get pod anchor -n ns0 >"$T/get.out" 2>&1; do echo >>"$T/gets"; done &
get_pid=$!
until_true test -s "$T/gets" || fail "nobody gets: $(cat "$T/get.out")"
attached() { stat_is '[.readers[] | select(.name != "informerctl")] | length' 3; }
until_true attached || fail "$(stat .readers)"

for i in $(seq "$rounds"); do
	stand_by
	[ $((i % 2)) = 0 ] && ends TERM || ends KILL
	until_true attached || fail "$i: $(stat .readers)"
	n=$(wc -l <"$T/gets")
	got_more() { [ "$(wc -l <"$T/gets")" -gt "$n" ]; }
	until_true got_more || fail "$i: nobody is let in: $(cat "$T/get.out")"
	[ "$i" != 1 ] || fds=$(descriptors) # with that of the generation before
done
no_lists
flat() { [ "$(descriptors)" -le "$fds" ]; } # between two gets
until_true flat || fail "$(descriptors) descriptors, $fds at first: $(ls -l "/proc/$daemon_pid/fd")"
[ "$(find "$T" -maxdepth 1 -name 'informer*.[0-9]*' | wc -l)" -le 2 ] || fail "arenas: $(ls "$T")"

# ---- what it is while it waits: alive, and ready when it knows what its names mean; SIGHUP begins it anew, SIGTERM ends it
endpoint() { curl -s --unix-socket "$M" "http://informer$1"; }
stand_by --metrics-address "unix:$M"
[ "$(endpoint /livez)" = ok ] || fail "livez: $(endpoint /livez)"
is_ready() { [ "$(endpoint /readyz)" = ok ]; }
until_true is_ready || fail "readyz: $(endpoint /readyz)"
endpoint /metrics | grep -q '^informer_standby 1$' || fail "metrics: $(endpoint /metrics)"
stat_is .pid "$serving" || fail "it serves"
n=$(grep -c 'standing by until pid' "$T/daemon.log")
kill -HUP "$daemon_pid"
begun_anew() { [ "$(grep -c 'standing by until pid' "$T/daemon.log")" -gt "$n" ]; }
until_true begun_anew || fail "SIGHUP did nothing"
stop_daemon TERM
[ "$code" = 0 ] || fail "a standby that is told to end ends with $code"
daemon_pid=$serving
# a name that the server does not know ends it; one more without the flag is told who serves
code=0
"$B"/informerd --socket "$S" --arena-dir "$T" --kubeconfig "$T/kubeconfig" --resource podz --standby 2>"$T/podz.log" || code=$?
[ "$code" = 2 ] || fail "podz: exit code $code: $(cat "$T/podz.log")"
code=0
"$B"/informerd --socket "$S" --arena-dir "$T" --kubeconfig "$T/kubeconfig" --resource pods 2>"$T/second.log" || code=$?
[ "$code" = 1 ] || fail "a second one: exit code $code: $(cat "$T/second.log")"
grep -q "another informerd (pid $serving) serves this socket.*--standby" "$T/second.log" || fail "$(cat "$T/second.log")"
# two of them: one after the other
stand_by
middle=$daemon_pid
first_serving=$serving
stand_by
kill -9 "$first_serving"
until_true eval 'serving=$(stat .pid) && [ "$serving" = "$middle" ] || [ "$serving" = "$daemon_pid" ]' || fail "neither serves: $(stat .)"
[ "$serving" = "$middle" ] || { serving=$daemon_pid daemon_pid=$middle; }
ends TERM
until_true attached || fail "$(stat .readers)"

# ---- and then nothing more: all is as the server has it
kill "$get_pid" || fail "a get failed: $(cat "$T/get.out")"
kill "$change_pid"
wait "$change_pid" || fail "the changes failed: $(cat "$T/change.log")"
change_pid=
for r in "${!reader[@]}"; do kill -USR1 "${reader[$r]}" || fail "reader $r is gone"; done
events_agree 0
[ "$code" = 0 ] || fail "SEED=$seed: $(cat "$T/result")"
kill -0 "$look_pid" || fail "$(cat "$T/look.log")"
readers_end "${reader[@]}"
no_lists
stop_daemon TERM
[ "$code" = 0 ] || fail "exit code $code"
[ ! -e "$S" ] || fail "the socket is left"
echo "ok: $(cat "$T/result"), $(wc -l <"$T/history") changes, $starts daemons, $(wc -l <"$T/gets") gets"
