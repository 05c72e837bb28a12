#!/usr/bin/env bash
# Killed again and again under churn, informerd goes on from the stored RV: one LIST in all, one arena file, nothing lost.
. "$(dirname "$0")/../support/daemon.sh"

start_sim --nodes 20 --pods-per-node 20 --churn 400
start_daemon --resource pods --resource services
wait_ready
before=$(lists pods)
for i in $(seq "${KILLS:-12}"); do
	sleep "0.$((RANDOM % 4))$((RANDOM % 10))"
	stop_daemon KILL
	start_daemon --resource pods --resource services
	# every third one dies before it is ready
	[ $((i % 3)) = 0 ] || wait_ready
done
wait_ready
[ "$(lists pods)" = "$before" ] || fail "$(lists pods) LISTs instead of $before"
g=$(stat .generation) # one that died before it had an arena made no generation
[ "$g" -le $((${KILLS:-12} + 1)) ] && [ "$g" -gt $((${KILLS:-12} / 2)) ] || fail "generation $g"
[ "$(find "$T" -type f -name 'informer*.[0-9]*' | wc -l)" = 1 ] || fail "$(ls "$T")"

# under churn the numbers meet now and then, unless something was lost
same() { [ "$(stat '.resources[0].objects')" = "$(on_server /api/v1/pods)" ]; }
until_true 20 same || fail "$(stat '.resources[0].objects') pods, the server has $(on_server /api/v1/pods)"
echo "ok"
