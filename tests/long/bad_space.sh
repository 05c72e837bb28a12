#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A full tmpfs: informerd says what to do, readers read on, nothing is lost, and it goes on by itself once objects are deleted on the server.
# The same for a first list that does not fit. A restart where two generations do not fit says so, and lists.
# Not upstream: it is about readers, limits or broken answers, which are the same there.
# Takes 14 s.
. "$(dirname "$0")/../support/script.sh"
. "$(dirname "$0")/../support/small.sh"

small_tmpfs 6m
# a change after the creation: what is heard last then, and does not fit, is no object but its next state
label() {
	curl -sf -X PATCH -H 'Content-Type: application/merge-patch+json' -d '{"metadata":{"labels":{"a":"b"}}}' \
		"$url$pods/$1" >"$T/label.out"
}
ctl() { "$B"/informerctl --socket "$S" "$@"; }
# said of the changes that wait, or of the stream whose next event does not fit
in_trouble() { stat '.trouble + .resources[0].last_error' | grep -q 'the arena is full.*raise arena.maxBytes, the size of its tmpfs, or the memory limit'; }

start_sim --nodes 1 --pods-per-node 5
start_daemon --arena-dir "$A" --resource pods --resource nodes
wait_ready
for i in $(seq 150); do
	create "big-$i"
	label "big-$i"
	! in_trouble || break
done
until_true in_trouble || fail "$i pods of 60 KB fit into 6 MiB: $(df "$A")"
logged 'the arena is full' || fail "nothing in the log"
logged "cannot grow the arena $A/informer[^ ]* beyond [0-9]* MiB: $A has 6 MiB, [0-9]* KiB of it free: mount it larger" || fail "it does not say what to do"
n=$(stat '.resources[0].objects')
[ "$n" -ge 40 ] || fail "only $n pods fit"

# readers read on
[ "$(ctl get pods -A -o name | wc -l)" = "$n" ] || fail "a reader does not get the $n pods that are there"
ctl get pod big-1 -n default -o json | jq -e '.metadata.annotations.x | length == 60000' >/dev/null || fail "big-1"
ctl verify >"$T/verify.log" 2>&1 || fail "$(cat "$T/verify.log")"
stat_is '.resources[1].state' synced || fail "nodes"

# room is made on the server
for j in $(seq $((i / 2))); do delete "big-$j"; done
until_true same || fail "$(stat '.resources[0].objects') pods, the server has $(on_server /api/v1/pods); trouble: $(stat .trouble)"
logged 'the changes that waited are applied\|pods: watching again' || fail "nobody was told"

# a restart: two generations do not fit
stop_daemon KILL
start_daemon --arena-dir "$A" --resource pods --resource nodes
wait_ready
logged 'arena generation 1 has [0-9]* KiB, and there is room for [0-9]* KiB beside it: enlarge its tmpfs' || fail "it is not said"
until_true same || fail "after the restart: $(stat '.resources[0].objects') pods; trouble: $(stat .trouble)"
alone() { [ "$(find "$A" -type f | wc -l)" = 1 ]; }
until_true alone || fail "$(ls "$A")"

# a first list that does not fit
for j in $(seq 150 240); do create "big-$j"; done
stop_daemon TERM
rm -f "$A"/*
start_daemon --arena-dir "$A" --resource pods --resource nodes
refused() { stat '.resources[0].last_error' | grep -q '\(WatchList\|LIST\) failed: the arena is full: raise'; }
until_true refused || fail "a list of 8 MB fits into 6 MiB: $(stat '.resources[0]')"
expect_stat '.resources[1].state' synced
for j in $(seq 150 240); do delete "big-$j"; done
until_true same || fail "the list does not come: $(stat '.resources[0]')"
stop_daemon TERM
[ "$code" = 0 ] || fail "exit code $code"

# no room to begin with: for the arena, and for what stands beside the socket
[ -z "$daemon_pid" ] || stop_daemon TERM
small_tmpfs 64k
# begins_not PATTERN FLAGS...
begins_not() {
	code=0
	timeout "$PATIENCE" "$B"/informerd --kubeconfig "$T/kubeconfig" --resource pods "${@:2}" >"$T/out.log" 2>&1 || code=$?
	[ "$code" = 1 ] && grep -q -- "$1" "$T/out.log" || fail "informerd ${*:2}: exit code $code, no '$1'"
}
begins_not "cannot create the arena $A/informer[^ ]*[.]1 with 520 KiB: No space left on device; $A has 64 KiB, 6[04] KiB of it free: mount it larger" \
	--arena-dir "$A" --socket "$S"
head -c 64k /dev/zero >"$A/fill" 2>/dev/null || true
begins_not "cannot write to the lock file $A/s.sock.lock: No space left on device; free some space there, or choose another place with --socket" \
	--arena-dir "$T" --socket "$A/s.sock"
echo ok
