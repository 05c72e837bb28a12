#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The small machine: /dev/shm of 64 MiB, as containers get it, and 128 MiB of memory, by defaults alone. 5,000 pods that change, eight readers,
# one of them stopped for good while it holds a snapshot; ten kill -9 of informerd, a reload, a standby. At the end each reader has what the server
# has, nothing was listed twice, nobody was killed but by us.
#
# SEED repeats a run's dice (not its timing).
# Not upstream: it needs thousands of changes a second.
# Takes 56 s.
. "$(dirname "$0")/../support/script.sh"
. "$(dirname "$0")/../support/small.sh"
. "$(dirname "$0")/../support/told.sh"
! sanitized || { echo "SKIP: a sanitizer needs more memory than that"; exit 77; }
seed=${SEED:-$(date +%s)}
RANDOM=$((seed % 32768))
echo "SEED=$seed"

small_tmpfs 64m
small_memory $((128 << 20))
declare -A pid
mkdir "$T/told"
# informerd, from its first page on in the group
cat >"$T/small" <<END
#!/bin/sh
echo \$\$ >"$G/cgroup.procs"
exec "$B/informerd" "\$@"
END
chmod +x "$T/small"
C=$T/config.yaml
echo 'resources: [pods, services]' >"$C"
start() { INFORMERD=$T/small start_daemon --arena-dir "$A" --config "$C" "$@"; }

start_sim --nodes 50 --pods-per-node 100 --history 1000000
start
wait_ready
[ "$(stat '.resources[] | select(.resource == "pods") | .objects')" -ge 5000 ] || fail "not 5,000 pods: $(stat .resources)"
lists=$(lists pods)
for r in m1 m2 m3 m4; do
	"$B"/tests/events_reader "$S" "$T/told" "$r" 1 plain 2>>"$T/reader.log" &
	pid[$r]=$!
done
for r in s1 s2 s3; do
	"$B"/tests/chaos_reader "$S" "$T/told/$r" 2>>"$T/reader.log" &
	pid[$r]=$!
done
"$B"/tests/hold_snapshot "$S" >"$T/hold.out" 2>"$T/hold.err" &
pid[hold]=$!
until_true grep -q HELD "$T/hold.out" || fail "no snapshot is held"
kill -STOP "${pid[hold]}"
curl -sf -X POST "$url/sim/churn?rate=1000&count=1000000" >/dev/null || fail "no churn"

# the stopped reader is let go of
until_true stat_is .revoked 1 || fail "the stopped reader is still waited for: $(stat '.arena, .readers')"
for i in $(seq 10); do
	sleep "0.$((RANDOM % 10))"
	kill -0 "$daemon_pid" 2>/dev/null || fail "informerd ended by itself"
	stop_daemon KILL
	start
	wait_ready
done
echo 'resources: [pods, services, nodes]' >"$C"
kill -HUP "$daemon_pid"
until_true stat_is '[.resources[] | select(.resource == "nodes" and .state == "synced")] | length' 1 || fail "the reload: $(stat .reload)"
before=$daemon_pid
start --standby
wait_ready
kill "$before"
code=0
wait "$before" || code=$?
[ "$code" = 0 ] || fail "the one before ended with $code"
until_true stat_is .pid "$daemon_pid" || fail "the standby does not serve"

curl -sf -X POST "$url/sim/churn?rate=0" >/dev/null
until_true churn_over || fail "the churn does not end"
listed=$(lists pods)
[ "$listed" = "$lists" ] || fail "pods were listed $((listed - lists)) times more"
for r in m1 m2 m3 m4; do
	until_true is_told "$T/told/$r.${pid[$r]}.0" || fail "SEED=$seed: reader $r has: $(diff "$T/want" "$T/got" | head -20)"
done
for r in s1 s2 s3; do
	until_true is_told "$T/told/$r" || fail "SEED=$seed: reader $r has: $(diff "$T/want" "$T/got" | head -20)"
done
none_went_back "$T"/told/* || fail "SEED=$seed: readers were told of an older state"
stat_is .trouble '' || fail "$(stat .trouble)"
"$B"/informerctl --socket "$S" verify >"$T/verify.log" 2>&1 || fail "SEED=$seed: the arena is damaged"

# it goes on
kill -CONT "${pid[hold]}"
until_true grep -q BACK "$T/hold.out" || fail "SEED=$seed: the reader that had been stopped does not come back: $(cat "$T/hold.out" "$T/hold.err")"
kill -TERM "${pid[hold]}"
code=0
wait "${pid[hold]}" || code=$?
unset "pid[hold]"
[ "$code" = 0 ] || fail "the reader that had been stopped: exit $code: $(cat "$T/hold.err")"
stop_daemon TERM
[ "$code" = 0 ] || fail "SEED=$seed: informerd: exit $code"
echo "ok: generation $(sed -n 's/.*adopted the arena of generation [0-9]* as \([0-9]*\):.*/\1/p' "$T/daemon.log" | tail -n 1), $(df -k --output=used "$A" | tail -n 1) KiB in /dev/shm"
