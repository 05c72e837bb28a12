#!/bin/sh
# make demo: real pods' way from an API server through the arena to readers, and what happens when things are killed.
#   demo.sh BUILD_DIR         KEEP=1 leaves everything running and prints commands to try
set -eu
B=$(cd "${1:-build}" && pwd)
KEEP=${KEEP:-}
dir=$(mktemp -d "${TMPDIR:-/tmp}/informer-demo.XXXXXX")
shm=$(mktemp -d /dev/shm/informer-demo.XXXXXX)
sim=; daemon=; one=; two=

cleanup() {
	status=$?
	trap - EXIT INT TERM
	if [ -z "$KEEP" ] || [ "$status" != 0 ]; then
		for p in $one $two $daemon $sim; do kill "$p" 2>/dev/null || true; done
		wait 2>/dev/null || true
		rm -rf "$dir" "$shm"
	fi
	exit "$status"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
fail() { echo "demo: $*" >&2; for f in "$dir"/*.log; do echo "--- $f" >&2; tail -n 20 "$f" >&2; done; exit 1; }
lists() { curl -s "$url/metrics" | sed -n 's/^apiserver_request_total{verb="LIST",resource="pods".*} //p'; }

start_daemon() {
	"$B/informerd" --kubeconfig "$dir/kubeconfig" --socket "$dir/informer.sock" --arena-dir "$shm" \
		--resource pods --resource services --resource nodes --resource deployments.apps >>"$dir/informerd.log" 2>&1 &
	daemon=$!
}

say "1. An API server without a cluster: 40 nodes, 50 pods each, 200 changes a second"
"$B/informer-sim" --port 0 --nodes 40 --pods-per-node 50 --churn 200 --write-kubeconfig "$dir/kubeconfig" >"$dir/sim.log" 2>&1 &
sim=$!
tries=0
until grep -q '^READY' "$dir/sim.log"; do
	kill -0 "$sim" 2>/dev/null || fail "informer-sim did not start"
	tries=$((tries + 1)); [ "$tries" -lt 600 ] || fail "informer-sim is not ready after a minute"
	sleep 0.1
done
sed 's/^/   /' "$dir/sim.log"
url=$(sed -n 's/^READY url=\([^ ]*\).*/\1/p' "$dir/sim.log")

say "2. informerd lists and watches it, once for this node"
start_daemon
"$B/informerctl" --socket "$dir/informer.sock" wait --for=synced --timeout=30s || fail "informerd did not sync"
sed 's/^/   /' "$dir/informerd.log"

say "3. What kubectl would show, without asking the API server"
"$B/informerctl" --socket "$dir/informer.sock" get pods -A | head -n 8
node=$("$B/informerctl" --socket "$dir/informer.sock" get nodes -o name | head -n 1); node=${node#node/}
echo "   … and the pods of $node, by index:"
"$B/informerctl" --socket "$dir/informer.sock" get pods -A --index nodeName="$node" | head -n 5

say "4. Two agents read at once, a lookup in a fraction of a microsecond"
"$B/demo-reader" agent-1 "$dir/informer.sock" 600 >"$dir/agent-1.log" 2>&1 & one=$!
"$B/demo-reader" agent-2 "$dir/informer.sock" 600 >"$dir/agent-2.log" 2>&1 & two=$!
lines() { wc -l <"$dir/agent-$1.log"; }
until_lines() { t=0; while [ "$(lines "$1")" -lt "$2" ]; do t=$((t + 1)); [ "$t" -lt 300 ] || fail "agent-$1 says nothing"; sleep 0.1; done; }
until_lines 1 3; until_lines 2 3
tail -n 2 "$dir/agent-1.log"; tail -n 2 "$dir/agent-2.log"

say "5. agent-1 is killed with -9; nobody notices"
kill -9 "$one"; wait "$one" 2>/dev/null || true; one=
n=$(lines 2); until_lines 2 $((n + 2)); tail -n 1 "$dir/agent-2.log"

say "6. informerd is killed with -9; agent-2 reads on"
kill -9 "$daemon"; wait "$daemon" 2>/dev/null || true
n=$(lines 2); until_lines 2 $((n + 2)); tail -n 1 "$dir/agent-2.log"

say "7. informerd comes back: it adopts the arena, goes on watching, and makes no second LIST"
before=$(lists)
start_daemon
"$B/informerctl" --socket "$dir/informer.sock" wait --for=synced --timeout=30s || fail "informerd did not come back"
n=$(lines 2); until_lines 2 $((n + 3)); tail -n 2 "$dir/agent-2.log"
grep -h 'adopted' "$dir/informerd.log" | tail -n 1 | sed 's/^/   /'
after=$(lists)
echo "   LIST requests for pods that the API server has counted: before the kill $before, now $after"
[ -n "$after" ] && [ "$before" = "$after" ] || fail "there was another LIST"
if grep -qv ' 0 failed' "$dir/agent-2.log"; then fail "agent-2 saw a failed lookup"; fi
awk '{ for (i = 1; i < NF; i++) if ($(i + 1) == "lookups") n += $i } END { printf "   agent-2 made %d lookups in all; none failed\n", n }' "$dir/agent-2.log"

if [ -n "$KEEP" ]; then
	say "Left running (pids $sim $daemon $two). Try:"
	echo "   export PATH=$B:\$PATH INFORMER_SOCKET=$dir/informer.sock KUBECONFIG=$dir/kubeconfig"
	echo "   informerctl get pods -A -l app --index nodeName=$node -o wide"
	echo "   informerctl stat"
	echo "   informerctl verify"
	echo "   agent $node"
	echo "   kill -9 $daemon        # then look at: informerctl get nodes"
	echo "   kubectl get pods -A -o name | head       # the same, over the network"
	echo "When done: kill $sim $daemon $two; rm -r $dir $shm"
fi
