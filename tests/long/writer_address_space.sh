#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The last resort: informerd is given address space for what it may use and no more (ulimit -v), and a reader that is stopped for good is revoked
# while it sees nearly all of it. There is memory then and no place to put anything: informerd ends in good order and begins over with a new
# generation, in the same process, without a LIST; other readers go over by themselves and miss nothing; the stopped one is told once it goes on.
# Not upstream: it needs thousands of changes a second.
# Takes 30 s.
. "$(dirname "$0")/../support/script.sh"

A=$T/shm
mkdir "$A"
if ! mount -t tmpfs -o size=128m,mode=0700 informer-test "$A" 2>"$T/mount.log"; then
	echo "SKIP: a small tmpfs cannot be mounted: $(cat "$T/mount.log")"
	exit 77
fi
readers=
unmount_and_clean_up() {
	for pid in $daemon_pid $readers; do kill -9 "$pid" 2>/dev/null || true; done
	umount -l "$A" || true
	clean_up
}
trap unmount_and_clean_up EXIT

# try_with KILOBYTES: start it with so much address space; few threads' stacks and one heap, so that most of it is the arena's
ended() { ! kill -0 "$daemon_pid" 2>/dev/null; }
is_ready() { grep -q '^READY=1' "$notify_log"; }
is_decided() { is_ready || ended; }
try_with() {
	: >"$T/daemon.log"
	printf '#!/bin/bash\nulimit -s 512\nulimit -v %s\nMALLOC_ARENA_MAX=1 exec "%s" "$@"\n' "$1" "$(realpath "$B/informerd")" >"$T/limited"
	chmod +x "$T/limited"
	INFORMERD=$T/limited start_daemon --config "$T/informerd.yaml" --arena-dir "$A" --arena-max 48Mi --resource pods
	until_true is_decided || fail "with $1 KB it says nothing: $(cat "$T/daemon.log")"
	is_ready && return
	wait "$daemon_pid" 2>/dev/null || true
	daemon_pid=
	return 1
}
# bytes of addresses that the arena's file has in the daemon
mapped() {
	local range rest n=0
	while read -r range rest; do
		case $rest in *" $A/"*) n=$((n + 16#${range#*-} - 16#${range%-*})) ;; esac
	done <"/proc/$daemon_pid/maps"
	echo "$n"
}
seq_is_past() { [ "$(stat .seq)" -gt "$1" ]; }
no_trouble() { stat_is .trouble ''; }
events() {
	local lines
	lines=$(grep -c ^EVENTS "$T/honest.log" || true)
	kill -USR1 "$honest"
	answered() { [ "$(grep -c ^EVENTS "$T/honest.log")" -gt "$lines" ]; }
	until_true answered || fail "no answer: $(cat "$T/honest.log")"
	sed -n 's/^EVENTS \([0-9]*\).*/\1/p' "$T/honest.log" | tail -n 1
}
told_more() { [ "$(events)" -gt 1000 ]; }
same() { [ "$(stat '.resources[0].objects')" = "$(on_server /api/v1/pods)" ]; }

# it is room that revokes the reader here, not time, however slow the changes come
echo 'arena: {holdSeconds: 3600}' >"$T/informerd.yaml"
start_sim --nodes 20 --pods-per-node 20
if ! try_with $((4 << 20)); then
	echo "SKIP: informerd does not begin with 4 GiB of address space, as a sanitizer's build: $(head -n 3 "$T/daemon.log")"
	exit 77
fi
stop_daemon TERM
# the least that it begins with leaves it the smallest range that it takes; and some for its own use
least=$((32 << 10))
until try_with "$least"; do
	[ "$least" -lt $((1 << 20)) ] || fail "it does not begin with 1 GiB: $(cat "$T/daemon.log")"
	least=$((least + (8 << 10)))
done
stop_daemon TERM
rm -f "$A"/*
try_with $((least + (30 << 10))) || fail "it does not begin: $(cat "$T/daemon.log")"
[ "$(mapped)" = $((48 << 20)) ] || fail "$(mapped) bytes of addresses, and not just its budget"

"$B"/tests/event_lag "$S" run pods "" >"$T/honest.log" 2>&1 &
honest=$!
readers=$honest
until_true grep -q READY "$T/honest.log" || fail "no reader"
"$B"/tests/hold_snapshot "$S" >"$T/hold.log" 2>"$T/hold.err.log" &
holder=$!
readers="$readers $holder"
until_true grep -q HELD "$T/hold.log" || fail "nobody holds a snapshot"
kill -STOP "$holder"
lists=$(lists pods) pid=$daemon_pid
curl -sf -X POST "$url/sim/churn?rate=2000" >/dev/null
logged 'reader hold_snapshot .* revoked: .* the arena is full' || fail "nobody is revoked: $(stat .arena)"
logged 'leave no address space: moving to a new generation' || fail "it stays where there is no place: $(stat .arena) $(stat .trouble)"
replaced() { [ "$(stat .generation)" -gt 1 ]; }
until_true replaced || fail "generation $(stat .generation)"
kill -0 "$pid" || fail "it is another process"
[ "$(lists pods)" = "$lists" ] || fail "$(lists pods) LISTs instead of $lists"

# it goes on there: as much again as the range holds, and the stopped reader is in nobody's way
seq=$(stat .seq)
events >/dev/null
until_true seq_is_past $((seq + 20000)) || fail "nothing changes any more: $(stat .trouble) $(stat .arena)"
curl -sf -X POST "$url/sim/churn?rate=0" >/dev/null
until_true churn_over || fail "churn goes on"
until_true no_trouble || fail "$(stat .trouble)"

kill -CONT "$holder"
until_true grep -q REVOKED "$T/hold.log" || fail "$(cat "$T/hold.log" "$T/hold.err.log")"
until_true grep -q BACK "$T/hold.log" || fail "it does not come back: $(cat "$T/hold.err.log")"
until_true told_more || fail "the other reader is told nothing"
until_true same || fail "$(stat '.resources[0].objects') pods, and the server has $(on_server /api/v1/pods)"
[ "$("$B"/informerctl --socket "$S" get pods -A -o name | wc -l)" = "$(stat '.resources[0].objects')" ] || fail "readers see something else"
stop_daemon TERM
[ "$code" = 0 ] || fail "exit code $code"
echo ok
