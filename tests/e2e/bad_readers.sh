#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Hostile readers (garbage on the socket, garbage in their slot pages, connections that are never closed) are refused in words, do not fill
# the log, and nobody else notices: the store follows the server, other readers read, all tags are right.
# Not upstream: it is about readers, limits or broken answers, which are the same there.
# Takes 5 s.
. "$(dirname "$0")/../support/script.sh"

ctl() { "$B"/informerctl --socket "$S" "$@"; }
start_sim --nodes 5 --pods-per-node 20 --churn 200
start_daemon --resource pods
wait_ready
before=$(lists pods)
descriptors() { ls "/proc/$daemon_pid/fd" | wc -l; }
"$B"/informerctl --socket "$S" stat >"$T/stat.out" # what the first report opens stays
open_before=$(descriptors)
noises=
for seed in 1 2 3; do
	"$B"/tests/socket_noise "$S" 1000 "$seed" 2>"$T/noise.$seed.log" &
	noises="$noises $!"
done
while kill -0 ${noises##* } 2>/dev/null; do
	[ "$(ctl get pods -A -o name 2>"$T/ctl.log" | wc -l)" -ge 50 ] || fail "a reader gets nothing"
done
for pid in $noises; do
	wait "$pid" || fail "socket_noise ended with $?"
done
grep -q 'refused: that is not informer.s protocol' "$T/daemon.log" || fail "nobody is told of garbage"
# 20 lines in 10 s about those who are refused, and one about the rest
[ "$(wc -l <"$T/daemon.log")" -le $((30 + 21 * (SECONDS / 10 + 1))) ] || fail "$(wc -l <"$T/daemon.log") lines in the log after $SECONDS s"
expect_stat '.readers | length' 0
none_left() { [ "$(descriptors)" -le "$open_before" ]; }
until_true none_left || fail "$(descriptors) descriptors are open, $open_before were: $(ls -l "/proc/$daemon_pid/fd")"
same() { [ "$(stat '.resources[0].objects')" = "$(on_server /api/v1/pods)" ]; }
until_true same || fail "$(stat '.resources[0].objects') pods, the server has $(on_server /api/v1/pods)"
stat_is '.resources[0] | .lists + .watch_lists' 1 || fail "$(stat '.resources[0] | .lists + .watch_lists') lists"
# what hostile pins held back is free again
bounded() { [ "$(stat '.arena.retired_bytes')" -lt 1000000 ]; }
until_true bounded || fail "$(stat '.arena.retired_bytes') bytes are still held"
ctl verify >"$T/verify.log" 2>&1 || fail "$(cat "$T/verify.log")"
echo ok
