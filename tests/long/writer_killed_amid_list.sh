#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# kill -9 while the first list of many pods is put into the arena, where thousands of them share a commit: what is left is whole as far as it
# goes, and the next informerd takes it over and ends with what the server has.
# Not upstream: it has 30,000 pods, which that server takes minutes to be given.
# Takes 8 s.
. "$(dirname "$0")/../support/script.sh"

python3 -c '' 2>/dev/null || { echo "SKIP: needs python3"; exit 77; }
pods=30000
ctl() { "$B"/informerctl --socket "$S" "$@"; }
objects() { stat '.resources[0].objects'; }
# how long informerd has computed, in ticks of 10 ms
computed() { sed 's/.*) //' "/proc/$daemon_pid/stat" | awk '{print $12 + $13}'; }
has_computed() { [ "$(computed)" -ge "$1" ] || grep -q '^READY=1' "$notify_log"; }
# blocks of the arena that an informerd that was killed left
left() {
	ctl verify >"$T/verify.out" 2>"$T/verify.log" || fail "$1: $(cat "$T/verify.out" "$T/verify.log")"
	sed -n 's/^ok: .* \([0-9]*\) blocks, .* 0 faults.*/\1/p' "$T/verify.out"
}
start_sim --nodes 300 --pods-per-node 100

# how much there is to do
start_daemon --resource pods --arena-dir "$T"
wait_ready
whole=$(computed)
stop_daemon KILL
all=$(left "the whole list")
[ "$all" -gt $pods ] || fail "$all blocks of $pods pods: $(cat "$T/verify.out")"
rm "$T"/informer*.[0-9]*

# at any moment of it
for i in 1 2 3 4 5; do
	start_daemon --resource pods --arena-dir "$T"
	until_true has_computed $((whole * (25 + 14 * i) / 100)) || fail "informerd computes nothing: $(computed) of $whole"
	stop_daemon KILL
	echo "kill $i: $(left "kill $i") of $all blocks are left"
	[ $((i % 2)) != 0 ] || rm -f "$T"/informer*.[0-9]* # and from nothing again
done

# and surely amid it: as soon as the first of the commits that many share is there
for i in 1 2 3; do
	rm -f "$T"/informer*.[0-9]*
	start_daemon --resource pods --arena-dir "$T"
	python3 tests/support/kill_amid_list.py "$daemon_pid" "$T" || fail "no kill was amid the list"
	wait "$daemon_pid" 2>/dev/null || :
	daemon_pid=
	blocks=$(left "kill amid the list")
	echo "kill amid the list: $blocks of $all blocks are left"
	[ "$blocks" -gt 1000 ] && [ "$blocks" -lt $((all * 9 / 10)) ] || fail "that is not amid it"
done
start_daemon --resource pods --arena-dir "$T"
wait_ready
stat_is '.resources[0].objects' $pods || fail "$(objects) pods"
ctl verify >"$T/verify.out" || fail "$(cat "$T/verify.out")"
[ "$(ctl get pods -A -o name | sort -u | wc -l)" = $pods ] || fail "other pods are read"
echo ok
