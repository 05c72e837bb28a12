#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Random changes of pods, random handlers in processes that are stopped, killed and begin again, a daemon that is killed, moves on, or finds
# its arena gone, watches that break and lists that expire: every state that a handler is told is one that the object really had, never an
# older one after a newer, and at the end each handler's view is the server's state. A reader that keeps up sees every single change, in the
# order in which the server made them, also when much of it came at once.
# SEED repeats a run's dice (not its timing), SECONDS_EACH (8) is the length of each of its three parts, KEEP a folder where all that was told,
# and the server's history, stays.
# Takes 26 s.
. "$(dirname "$0")/../support/script.sh"
. "$(dirname "$0")/../support/told.sh"
server_is_plain=yes # events_change speaks HTTP
seed=${SEED:-$(date +%s)}
part=${SECONDS_EACH:-8}
RANDOM=$((seed % 32768))
echo "SEED=$seed"
held=
declare -A pid kind
[ -z "${KEEP:-}" ] || at_end+=('cp -r "$T/told" "$T/history" "$T"/*.log "$KEEP/"')
mkdir "$T/told"

lives=0
start_reader() { # NAME KIND
	lives=$((lives + 1))
	"$B"/tests/events_reader "$S" "$T/told" "$1" $((seed + lives)) "$2" 2>>"$T/reader.log" &
	pid[$1]=$!
	kind[$1]=$2
}
kill_reader() {
	kill -9 "${pid[$1]}" 2>/dev/null || fail "reader $1 is gone"
	wait "${pid[$1]}" 2>/dev/null || true
}
wilds="r1 r2 r3 r4"
any_wild() { set -- $wilds; shift $((RANDOM % $#)); echo "$1"; }
trouble_readers() {
	r=r$((RANDOM % 4 + 1))
	case $((RANDOM % 5)) in
	0 | 1) kill_reader "$r"; start_reader "$r" wild ;;
	2 | 3) [ -n "$held" ] || { held=$r; kill -STOP "${pid[$r]}"; return; } ;;
	esac
	# who was stopped goes on at the next turn, or dies as it stands
	[ -z "$held" ] || { kill -CONT "${pid[$held]}" 2>/dev/null || true; held=; }
}
flags="--config $T/config.yaml --resource pods"
trouble_daemon() {
	kill -0 "$daemon_pid" 2>/dev/null || fail "informerd ended by itself"
	case $((RANDOM % 6)) in
	0 | 1) stop_daemon KILL; start_daemon $flags ;;
	2)	# it comes back after its place in the history is gone
		stop_daemon KILL
		sleep "0.$((RANDOM % 5))"
		curl -s -X POST "$url/sim/compact" >/dev/null
		start_daemon $flags ;;
	3)	stop_daemon KILL
		rm -f "$T"/informer*.[0-9]*
		start_daemon $flags ;;
	4) curl -s -X POST --data "when WATCH pods after $((RANDOM % 9)) events then $(set -- 410 close 'close mid-frame'; shift $((RANDOM % 3)); echo "$1") once" "$url/sim/faults" >/dev/null ;;
	5) [ $((RANDOM % 3)) != 0 ] || { stop_daemon TERM; start_daemon $flags; } ;;
	esac
}
trouble_for() { # SECONDS WHAT
	end=$(($(date +%s%N) + $1 * 1000000000))
	while [ "$(date +%s%N)" -lt "$end" ]; do
		"$2"
		sleep "0.$((RANDOM % 7))$((RANDOM % 10))"
		kill -0 "$change_pid" 2>/dev/null || fail "the changes ended"
	done
}
trouble_backlog() { # the daemon finds much at once, of many keys
	kill -STOP "$daemon_pid"
	sleep 0.4
	kill -CONT "$daemon_pid"
	trouble_readers
}
trouble_all() {
	trouble_readers
	[ $((RANDOM % 3)) != 0 ] || trouble_daemon
}
# tombstones are few, so that who was away long gets a RESYNC
cat >"$T/config.yaml" <<END
arena: {holdBytes: 128Ki, holdSeconds: 1}
tombstones: {count: 150}
END
start_sim
start_daemon $flags
wait_ready
"$B"/tests/events_change "$url" "$T/history" "$seed" "${RATE:-250}" 2>"$T/change.log" &
change_pid=$!
until_true test -s "$T/history" || fail "no changes"
start_reader s1 steady
start_reader s2 steady
for r in $wilds; do start_reader "$r" wild; done

# ---- readers are in trouble, and the daemon now and then behind: those who keep up see nothing of it
trouble_for "$part" trouble_backlog
bound=$(tail -n 1 "$T/history" | cut -d ' ' -f 1)
# who keeps up (their queues are the large ones) has been told of it before anything else happens
kept_up() { stat "(.resources[0].rv | tonumber) >= $bound and ([.readers[].queues[] | select(.capacity >= 32768) | .unread] | add) == 0" | grep -qx true; }
until_true kept_up || fail "the steady readers lag behind: $(stat '[.readers[].queues[]]')"
# ---- everybody is
touch "$T/told.hold"
trouble_for $((part * 2)) trouble_all

# ---- and then nobody
kill "$change_pid"
wait "$change_pid" || fail "the changes failed"
change_pid=
[ -z "$held" ] || kill -CONT "${pid[$held]}"
curl -s -X DELETE "$url/sim/faults" >/dev/null
wait_ready
for r in "${!pid[@]}"; do
	until_true catches "${pid[$r]}" USR1 || fail "reader $r does not begin"
	kill -USR1 "${pid[$r]}" || fail "reader $r is gone"
done
events_agree "$bound"
[ "$code" = 0 ] || fail "SEED=$seed: $(cat "$T/result")"
# nobody is told any more what is not so
readers_end "${pid[@]}"
echo "ok: $(cat "$T/result"), $(wc -l <"$T/history") changes, $lives readers, $starts daemons, generation $(stat .generation), bound $bound"
