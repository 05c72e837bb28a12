#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Killed again and again under churn, in its first LIST, in adoption and between them, informerd goes on: one LIST once the
# first is whole, one arena file, and at the end every document is the server's.
. "$(dirname "$0")/../support/daemon.sh"
kills=${KILLS:-12}
pause() { sleep "0.$((RANDOM % 3))$((RANDOM % 10))"; }

start_sim --nodes 40 --pods-per-node 50 --churn 400 --churn-count "${CHANGES:-3000}"
for i in $(seq 6); do
	start_daemon --resource pods --resource services
	sleep "0.0$((RANDOM % 9))"
	stop_daemon KILL
done
start_daemon --resource pods --resource services
wait_ready
before=$(lists pods)
for i in $(seq "$kills"); do
	pause
	stop_daemon KILL
	start_daemon --resource pods --resource services
	# every third one dies before it is ready
	[ $((i % 3)) = 0 ] || wait_ready
done
wait_ready
[ "$(lists pods)" = "$before" ] || fail "$(lists pods) LISTs instead of $before"
g=$(stat .generation) # one that died before it had an arena made no generation
[ "$g" -gt $((kills / 2)) ] || fail "generation $g"
[ "$(find "$T" -type f -name 'informer*.[0-9]*' | wc -l)" = 1 ] || fail "$(ls "$T")"

# when the server rests, what is published is what it has
until_true churn_over || fail "the churn does not end"
same() {
	curl -s "$url$1" | jq -S --arg kind "$3" '[.items[] | del(.metadata.managedFields) | .apiVersion = "v1" | .kind = $kind] | sort_by(.metadata.namespace, .metadata.name)' >"$T/server.json"
	"$B"/informerctl --socket "$S" get "$2" -A -o json | jq -S '.items | sort_by(.metadata.namespace, .metadata.name)' >"$T/ours.json"
	cmp -s "$T/server.json" "$T/ours.json"
}
until_true same /api/v1/pods pods Pod || fail "pods differ: $(diff "$T/server.json" "$T/ours.json" | head -20)"
until_true same /api/v1/services services Service || fail "services differ: $(diff "$T/server.json" "$T/ours.json" | head -20)"
[ "$(jq length "$T/ours.json")" -gt 0 ] || fail "nothing was compared"
echo "ok: $(lists pods) LISTs of pods, generation $g"
