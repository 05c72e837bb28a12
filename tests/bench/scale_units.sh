#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The measured figures of informer-scale(7), of upstream's API server (tests/apiserver, `make apiserver` builds it): bytes of a pod in a list and
# of a change in a watch, as JSON and protobuf, and the server's CPU for them, TLS included. CPU time, so that others on the machine matter little.
# Takes PODS (1000), WATCHERS (40) and EVENTS (2000) from the environment.
SERVER=apiserver
. "$(dirname "$0")/../support/script.sh"
: "${PODS:=1000}" "${WATCHERS:=40}" "${EVENTS:=2000}"
json=application/json
protobuf=application/vnd.kubernetes.protobuf
start_sim --nodes 20 --pods-per-node $((PODS / 20))

# cpu: the server's so far, in microseconds
cpu() { awk -v tick="$(getconf CLK_TCK)" '{sub(/.*\) /, ""); print int(($12 + $13) * 1e6 / tick)}' "/proc/$sim_pid/stat"; }
per() { awk -v a="$1" -v n="$2" -v f="${3:-%.2f}" 'BEGIN {printf f, a / n}'; }

list() { # FORM
	local times=20 before bytes i
	bytes=$(curl -s -H "Accept: $1" -o /dev/null -w '%{size_download}' "$url/api/v1/pods?resourceVersion=0")
	before=$(cpu)
	for ((i = 0; i < times; i++)); do curl -s -H "Accept: $1" -o /dev/null "$url/api/v1/pods?resourceVersion=0"; done
	echo "LIST of $pods pods as $1: $(per "$bytes" "$pods" %.0f) bytes a pod, $(per $(($(cpu) - before)) $((times * pods))) us of CPU a pod"
}
# watch FORM WATCHERS SELECTOR: CPU of as many changes with so many watchers
watch() {
	local i before pids=() rv
	rv=$(curl -s "$url/api/v1/pods?limit=1" | jq -r .metadata.resourceVersion)
	for ((i = 0; i < $2; i++)); do
		curl -sN -H "Accept: $1${1:+;stream=watch}" "$url/api/v1/pods?watch=1&resourceVersion=$rv$3" >"$T/watched.$i" &
		pids+=($!)
	done
	sleep 3 # CPU of their beginning is not theirs; nothing can be waited for that would not be sent
	before=$(cpu)
	curl -sf -X POST "$url/sim/churn?rate=500&count=$EVENTS" >/dev/null
	until_true churn_over
	sleep 2 # for what is on its way
	used=$(($(cpu) - before))
	bytes=0
	[ "$2" -gt 0 ] || return 0 # wait without a pid would be for all
	bytes=$(wc -c <"$T/watched.0")
	kill "${pids[@]}"
	wait "${pids[@]}" 2>/dev/null || true
}

pods=$(curl -s "$url/api/v1/pods" | jq '.items | length')
list $json
list $protobuf
watch $json 0 ''
alone=$used
echo "a change that nobody watches: $(per "$alone" "$EVENTS") us of CPU"
for form in $json $protobuf; do
	watch $form 1 ''
	one=$used event=$(per "$bytes" "$EVENTS" %.0f)
	watch $form "$WATCHERS" ''
	echo "a change as $form: $event bytes, $(per $((one - alone)) "$EVENTS") us for the first watcher, $(per $((used - one)) $((EVENTS * (WATCHERS - 1)))) us for each more"
done
node=$(curl -s "$url/api/v1/nodes" | jq -r '.items[0].metadata.name')
watch $protobuf "$WATCHERS" "&fieldSelector=spec.nodeName%3D$node"
echo "a change that is of another node, or nearly always: $(per $((used - alone)) $((EVENTS * WATCHERS))) us for each watcher of one node ($(per "$bytes" 1 %.0f) bytes to each)"
