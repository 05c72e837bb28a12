#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# make demo: real pods' way from an API server through the arena to readers and handlers, and what happens when things are killed.
#   demo.sh BUILD_DIR         KEEP=1 leaves everything running and prints commands to try
#                             AGENT_MS=N: the agent prints a line every N ms (1000)
# Each step checks what it shows: the demo fails rather than tell a tale. It waits for the fact that it needs, never for a time, and as
# long as a busy machine may take.
set -eu
B=$(cd "${1:-build}" && pwd)
KEEP=${KEEP:-}
dir=$(mktemp -d "${TMPDIR:-/tmp}/informer-demo.XXXXXX")
shm=$(mktemp -d /dev/shm/informer-demo.XXXXXX)
export INFORMER_SOCKET=$dir/informer.sock INFORMER_RUN_DIR=$dir/run TOLD=$dir/told
sim=; daemon=; agent=; run=

cleanup() {
	status=$?
	trap - EXIT
	trap '' INT TERM
	if [ -z "$KEEP" ] || [ "$status" != 0 ]; then
		for p in $agent $run $daemon $sim; do kill "$p" 2>/dev/null || true; done
		wait 2>/dev/null || true
		rm -rf "$dir" "$shm"
	fi
	exit "$status"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

bold= plain=
[ ! -t 1 ] || { bold=$(printf '\033[1m') plain=$(printf '\033[0m'); }
say() { printf '\n%s\n' "$bold$*$plain"; }
fail() { echo "demo: $*" >&2; for f in "$dir"/*.log; do echo "--- $f" >&2; tail -n 20 "$f" >&2; done; exit 1; }
indent() { sed 's/^/   /'; }
# until_true WHAT COMMAND...: at most five minutes, and while all that was started runs
until_true() {
	what=$1 end=$(($(date +%s) + 300)); shift
	until "$@" >/dev/null 2>&1; do
		for p in $sim $daemon $agent $run; do kill -0 "$p" 2>/dev/null || fail "$what: process $p has ended"; done
		[ "$(date +%s)" -lt "$end" ] || fail "$what"
		sleep 0.1
	done
}
# show N FILE: its first lines, of which there must be so many, their columns of one width
show() {
	[ "$(lines "$2")" -ge "$1" ] || fail "too little to show: $(cat "$2")"
	head -n "$1" "$2" | awk -F '   +' '
		{ for (i = 1; i <= NF; i++) { cell[NR, i] = $i; if (length($i) > width[i]) width[i] = length($i) }; if (NF > columns) columns = NF }
		END { for (n = 1; n <= NR; n++) { line = " "; for (i = 1; i <= columns; i++) line = line sprintf("  %-" width[i] "s", cell[n, i]); sub(/ +$/, "", line); print line } }'
}
start_daemon() {
	"$B/informerd" --kubeconfig "$dir/kubeconfig" --arena-dir "$shm" \
		--resource pods --resource services --resource nodes --resource deployments.apps >>"$dir/informerd.log" 2>&1 &
	daemon=$!
	"$B/informerctl" wait --for=synced --timeout=300s 2>>"$dir/wait.log" || fail "informerd did not sync"
}
log() { grep -h "$1" "$dir/informerd.log" | sed 's/^[^ ]* info /   /'; }
# LIST and WatchList requests for pods that the API server has answered; and whether it was asked to watch them from where somebody stopped
lists() { curl -s "$url/sim/log" | grep -c '^\(LIST\|WATCHLIST\) pods .*-> 200'; }
watched() { curl -s "$url/sim/log" | grep '^WATCH pods rv=.*-> 200'; }
churn() { curl -sf -X POST "$url/sim/churn?rate=$1" >"$dir/churn.log" || fail "the API server does not change its churn"; }
lines() { wc -l <"$1" | tr -d ' '; }
more_lines() { [ "$(lines "$1")" -ge "$2" ]; }
agent_says() { n=$(lines "$dir/agent.log"); until_true "the agent says nothing" more_lines "$dir/agent.log" $((n + 2)); tail -n 1 "$dir/agent.log" | sed 's/  */ /g; s/^ */   /'; }
handler() { "$B/informer-run" status demo -o json | jq -r ".handlers[0].$1"; }
handler_is() { [ "$(handler "$1")" = "$2" ]; }
# handler_runs: as a process, $pid, that is not the one $killed; $acked events are done. handler_acked N: so many are
handler_runs() {
	pid=$("$B/informer-run" status demo -o json | jq -r '.handlers[0] | "\(.pids[0] // 0) \(.processed)"')
	acked=${pid#* } pid=${pid% *}
	[ "$pid" -gt 0 ] && [ "$pid" != "$killed" ]
}
handler_acked() { handler_runs && [ "$acked" -ge "$1" ]; }
# name and version of each pod: as the handler was told, and as the API server has it
told() { awk '{ if ($1 == "DELETED") delete at[$2]; else at[$2] = $3 } END { for (k in at) print k, at[k] }' "$TOLD" | LC_ALL=C sort; }
served() {
	curl -s -H 'Accept: application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1' "$url/api/v1/pods" |
		jq -r '.items[].metadata | "\(.namespace)/\(.name) \(.resourceVersion)"' | LC_ALL=C sort
}
same() { served >"$dir/served"; told >"$dir/known"; cmp -s "$dir/served" "$dir/known"; }

say "1. An API server without a cluster: 40 nodes, 50 pods each, 200 changes a second"
"$B/informer-sim" --port 0 --nodes 40 --pods-per-node 50 --churn 200 --write-kubeconfig "$dir/kubeconfig" >"$dir/sim.log" 2>&1 &
sim=$!
until_true "informer-sim does not start" grep -q '^READY' "$dir/sim.log"
indent <"$dir/sim.log"
url=$(sed -n 's/^READY url=\([^ ]*\).*/\1/p' "$dir/sim.log")

say "2. informerd lists and watches it, once for this node"
start_daemon
log ': listed'

say "3. What kubectl would show, without asking the API server"
"$B/informerctl" get pods -A >"$dir/pods"
show 4 "$dir/pods"
"$B/informerctl" get nodes -o name >"$dir/nodes"
node=$(head -n 1 "$dir/nodes"); node=${node#node/}
echo "   … and by index: --index nodeName=$node"
"$B/informerctl" get pods -A --index nodeName="$node" >"$dir/on-node"
show 3 "$dir/on-node"

say "4. An agent looks pods up, by key and by index, in a fraction of a microsecond"
: >"$dir/agent.log"
"$B/demo-reader" agent "$INFORMER_SOCKET" "${AGENT_MS:-1000}" >"$dir/agent.log" 2>&1 &
agent=$!
agent_says

say "5. Events as they happen: informerctl get pods -A --watch-only --output-watch-events"
"$B/informerctl" get pods -A --watch-only --output-watch-events --timeout 300s 2>"$dir/watch.log" | head -n 6 >"$dir/events"
show 6 "$dir/events"

say "6. A handler in a process of its own, by informer-run; it is killed with -9, three times"
cat >"$dir/handler" <<'END'
#!/bin/sh
# Keeps a line of each event, then acknowledges it.
jq --unbuffered -r 'select(.object) | [.seq, .type, "\(.object.metadata.namespace)/\(.object.metadata.name)", .object.metadata.resourceVersion] | @tsv' |
while read -r seq type pod version; do
	echo "$type $pod $version" >>"$TOLD" && echo "ack $seq"
done
END
chmod +x "$dir/handler"
: >"$TOLD"
"$B/informer-run" --resource pods --consumer demo --dead-letters "$dir/dead" -- "$dir/handler" >"$dir/run.log" 2>&1 &
run=$!
until_true "the handler is not told of all pods" more_lines "$TOLD" 2000
killed=0
for i in 1 2 3; do
	until_true "the handler does not run" handler_runs
	kill -9 "$pid"
	killed=$pid
	until_true "the handler does not come back" handler_runs
	# more than were under way when it was killed: an event that is there at each of the kills would be set aside
	until_true "the handler does not go on" handler_acked $((acked + 40))
done
until_true "there were not three restarts" handler_is restarts 3
echo "   $(lines "$TOLD") events so far, $(handler restarts) restarts; what was not acknowledged came again"

say "7. informerd is killed with -9; the agent reads on"
before=$(lists)
kill -9 "$daemon"; wait "$daemon" 2>/dev/null || true
daemon=
agent_says

say "8. It comes back, adopts the arena, and goes on watching without a LIST"
start_daemon
until_true "it does not watch" watched
log ' adopted ' | grep . || fail "it did not adopt the arena"
agent_says
echo "   times that the API server was asked to list pods: before the kill $before, now $(lists)"
[ "$before" = 1 ] && [ "$(lists)" = 1 ] || fail "there was another LIST"
! grep -v ' 0 failed' "$dir/agent.log" || fail "the agent saw a failed lookup"

say "9. Was anything lost? What the handler was told, beside what the API server has"
churn 0
until_true "the handler was not told the server's state" same
until_true "events are not done" handler_is lagEvents 0
handler_is deadLetters 0 || fail "$(handler deadLetters) events were set aside"
echo "   $(lines "$dir/served") pods, each at the same resourceVersion; $(lines "$TOLD") events in all"

say "10. Memory"
json=$(curl -sf "$url/api/v1/pods" | wc -c)
used=$("$B/informerctl" stat -o json | jq .arena.used_bytes)
awk -v pods="$(lines "$dir/served")" -v json="$json" -v used="$used" 'BEGIN {
	printf "   %5.1f MiB  %d pods as JSON\n", json / 1048576, pods
	printf "   %5.1f MiB  a client-go informer of them, in each agent (16.9 KB a pod, as make bench measures it)\n", pods * 16893 / 1048576
	printf "   %5.1f MiB  the arena, once for all agents, with services, nodes, deployments and all indexes\n", used / 1048576 }'

if [ -z "$KEEP" ]; then
	say "Next"
	echo "   make demo KEEP=1                       # leaves it running, and prints commands to try"
	echo "   sudo make install                      # then informerd on a cluster of yours: README, Your own cluster"
else
	churn 200
	say "Left running (pids $sim $daemon $agent $run). Try:"
	echo "   export PATH=$B:\$PATH INFORMER_SOCKET=$INFORMER_SOCKET INFORMER_RUN_DIR=$INFORMER_RUN_DIR KUBECONFIG=$dir/kubeconfig"
	echo "   informerctl get pods -A -l app.kubernetes.io/name --index nodeName=$node -o wide"
	echo "   informerctl get pods -A -w               # or: informerctl changes pods -A | jq -c '[.type, .object.metadata.name]'"
	echo "   informerctl stat; informerctl verify; informer-run status"
	echo "   agent $node"
	[ -z "$(command -v kubectl)" ] || echo "   kubectl get pods -A -o name | head       # the same, over the network"
	echo "   kill -9 $daemon        # then look at: informerctl get nodes"
	echo "When done: kill $agent $run $daemon $sim; rm -rf $dir $shm"
fi
