#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# informerctl says what is wrong and what to do: exit codes and messages without a daemon, without permission, with typos,
# for what does not exist; stat, verify and wait tell how the daemon is.
# Takes 11 s.
. "$(dirname "$0")/../support/script.sh"
set +e -o pipefail
fail() {
	echo "FAIL: $*"
	echo "stdout: $(head -c 2000 "$T/out")"
	echo "stderr: $(cat "$T/err")"
	tail -n 5 "$T"/*.log 2>/dev/null
	exit 1
}
ctl="$B/informerctl"
# expect EXIT_CODE PATTERN ARGUMENT...: the pattern is looked for in what was printed
expect() {
	local want=$1 pattern=$2 got
	shift 2
	"$ctl" "$@" >"$T/out" 2>"$T/err"
	got=$?
	[ "$got" = "$want" ] || fail "informerctl $*: exit $got, expected $want"
	# grep -q would end before cat has written all, and pipefail call that a failure
	[ -z "$pattern" ] || cat "$T/out" "$T/err" | grep -E -- "$pattern" >/dev/null || fail "informerctl $*: no '$pattern'"
}
export INFORMER_SOCKET=$S

# A wait begins before its daemon is there, and tells of it after two seconds: it runs beside the next parts.
"$ctl" wait --for=synced --timeout="${PATIENCE}s" >"$T/wait.out" 2>"$T/wait.err" &
waiter=$!

# usage
expect 0 'usage: informerctl' --help
expect 0 '^informerctl [0-9]+\.[0-9]+' --version
expect 2 'usage: informerctl'
expect 2 'unknown command gte; did you mean get\?' gte
expect 2 'here it is informerctl get RESOURCE --watch' watch pods
expect 2 'no command logs here; that is for kubectl' logs po/x
expect 2 'no flag --context here; that is informerd' --context x get po
expect 2 'no flag -f here; objects come from informerd' get -f x.yaml
expect 2 'use -o json with jq' get po -o 'jsonpath={.items[*].metadata.name}'
expect 2 'use -o json with jq' get po -o custom-columns=NAME:.metadata.name
expect 2 'leave out -n, -A' wait --for=synced -n x pods
expect 2 'which pods' wait --for=condition=Ready pods
expect 2 'do not go with a name' wait --for=delete pods x --all
expect 2 'what to wait for' wait --for=delete
expect 2 'a condition has a type' wait --for=condition= po/x
expect 2 "'all' stands alone" get all,po
expect 2 "'all' stands alone.*--watch follows one" get all -w
expect 2 'does not go with --watch' get po -w --sort-by .metadata.name
expect 0 'usage: informerctl stat' help stat
expect 2 'no command logs' help logs
expect 2 'n needs a value' -n
expect 2 'objects are shown by informerctl get pods' pods
expect 2 'changes of one resource; run one' changes po,no
expect 2 '--field-selector metadata.name=x' changes po/x
expect 2 'unknown flag --selctor; did you mean --selector\?' get po --selctor x
expect 2 'unknown flag -z' get po -z
expect 2 '--selector needs a value' get po -l
expect 2 "-o toml is not known" get po -o toml
expect 2 'get what\?' get
expect 2 '--index nodeName: write' get po --index nodeName
expect 2 'name it with -n instead of -A' get po x -A
expect 2 '--workload web: write --workload KIND/NAME' get po --workload web
expect 2 '--workload does not go with a name' get po x --workload deploy/web
expect 2 'must have this form' get po/x y
expect 2 'what to wait for' wait
expect 2 '--for=ready is not known' wait --for=ready
expect 2 'a number above 0, and one resource' wait --for=resourceVersion=x pods
expect 2 'a number above 0, and one resource' wait --for=resourceVersion=0 pods
expect 2 'a number above 0, and one resource' wait --for=resourceVersion=1
expect 2 'is no time' wait --for=synced --timeout=soon
for command in get stat wait verify; do expect 0 "usage: informerctl $command" "$command" --help; done

# no daemon
for command in 'get po' stat verify; do
	expect 2 "cannot connect to $S.*is informerd running" $command --start-timeout 0
	expect 2 "start it: +informerd --resource pods --socket $S" $command --start-timeout 0
done
expect 2 "cannot connect to $T/other" get po --start-timeout 0 --socket "$T/other"
expect 2 "cannot connect to $T/other" --socket "$T/other" get po --start-timeout 0
expect 2 'too long' get po --socket "/$(printf 'x%.0s' $(seq 200))"
expect 1 'timed out waiting for all resources' wait --for=synced --timeout=100ms

# the wait from the beginning
until_true grep -q '^informerctl: waiting: ' "$T/wait.err" || fail "no progress from wait"
start_sim --nodes 2 --pods-per-node 5
start_daemon --resource 'pods?namespace=kube-system' --resource nodes
wait "$waiter" || fail "wait did not see the daemon come: $(cat "$T/wait.err")"
expect 0 '' wait --for=synced po nodes --timeout="${PATIENCE}s"
expect 1 "^informerctl: waiting: informerd does not cache 'ns' \(add it: informerd --resource namespaces \.\.\.\)" wait --for=synced ns --timeout=100ms
expect 1 "does not cache 'secrets' \(add it: allowSecrets: true in" wait --for=synced secrets --timeout=100ms

# what was written is waited for by its version; what never was times out
rv=$(curl -s -X POST -H 'Content-Type: application/json' "$url/api/v1/nodes" -d '{"kind":"Node","apiVersion":"v1","metadata":{"name":"fresh"}}' | jq -r .metadata.resourceVersion)
expect 0 '' wait --for="resourceVersion=$rv" nodes --timeout="${PATIENCE}s"
expect 0 '^fresh ' get nodes
expect 1 "timed out waiting for nodes: it has not got to resourceVersion 9$rv" wait --for="resourceVersion=9$rv" nodes --timeout=100ms

# typos and what does not exist
expect 2 "does not cache 'podz'; did you mean pods\?" get podz
expect 2 "to add it: informerd --resource configmaps" get configmaps
for command in get changes; do
	expect 2 "does not cache 'ns' \(namespaces\); it caches: pods, nodes$" $command ns
	expect 2 "^to add it: informerd --resource namespaces" $command ns
	expect 2 "does not cache 'widgets'; it caches: pods, nodes$" $command widgets
done
expect 2 "^to add it: informerd --resource deployments.apps" get deploy
expect 2 "^to add it: informerd --resource services" get service
expect 2 "^to add it: allowSecrets: true in a configuration file, then informerd --config FILE --resource secrets" get secrets
expect 2 "no index 'nodename'; they have: .*nodeName" get po --index nodename=x
expect 2 "^informerctl: -l a in \(" get po -l 'a in ('
expect 1 '^Error from server \(NotFound\): pods "nope" not found$' get po nope -n kube-system
expect 0 '^No resources found in default namespace\.$' get po
expect 0 'does not cache namespace default' get po
expect 0 '^No resources found$' get nodes -l no=such
expect 0 '^No resources found in kube-system namespace' get po -n kube-system --workload deploy/web
expect 0 "--workload deploy/web: informerd does not cache 'deploy'" get po -n kube-system --workload deploy/web
expect 0 '--workload pod/nope: the cache has no such object' get po -n kube-system --workload pod/nope
expect 0 '"items": \[\]' get po -o json

expect 0 '^kube-proxy-' -n kube-system get po
expect 0 '^kube-proxy-' --socket "$INFORMER_SOCKET" -nkube-system get po
expect 0 '^pod/kube-proxy-' get all -n kube-system
expect 2 "--sort-by a\[: path 'a\['" get po --sort-by 'a['

# A watch ends at its time. A watch of what is empty says so after a while, and where it looks: these two run beside the next part.
expect 0 '' get nodes -l no=such -w --timeout=100ms
"$ctl" get nodes -l no=such -w --timeout="${PATIENCE}s" >"$T/nodes.out" 2>"$T/nodes.err" &
nodes_pid=$!
"$ctl" changes po --timeout="${PATIENCE}s" >"$T/po.out" 2>"$T/po.err" &
po_pid=$!

# stat and verify
expect 0 '^pods namespace=kube-system +synced +watching' stat
expect 0 '^informerctl +[0-9]+' stat
expect 0 '"schema": ?1' stat -o json
jq -e '.synced and (.resources | length == 2)' "$T/out" >/dev/null || fail "stat -o json"
expect 0 '^ok: generation [0-9]+, epoch [0-9]+: [1-9][0-9]* blocks, [1-9][0-9]* tags, .* 0 faults' verify

until_true grep -qx 'informerctl: no nodes that match yet, waiting for changes' "$T/nodes.err" || fail "get -w of nothing: $(cat "$T/nodes.err")"
until_true grep -qx 'informerctl: no po in namespace default yet, waiting for changes (-A: of all namespaces)' "$T/po.err" || fail "changes of nothing: $(cat "$T/po.err")"
for p in "$nodes_pid" "$po_pid"; do
	kill -0 "$p" || fail "a watch of nothing ended by itself"
	kill "$p"
done

# at the end of descriptors: whichever of them is the one that is missing, the message names the limit
limit=64 said=0
while (ulimit -n "$limit" && exec "$ctl" get nodes >"$T/out" 2>"$T/err"); do limit=$((limit - 1)); done
while [ "$limit" -gt 7 ]; do
	(ulimit -n "$limit" && exec "$ctl" get nodes >"$T/out" 2>"$T/err")
	[ $? = 2 ] && grep -q 'too many open files: raise its limit (ulimit -n' "$T/err" || fail "with $limit descriptors"
	limit=$((limit - 1)) said=$((said + 1))
done
[ "$said" -ge 3 ] || fail "only $said limits were too low"

# without permission
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	chmod 711 "$T"
	cp "$ctl" "$T/informerctl"
	chmod 755 "$T/informerctl"
	setpriv --reuid 65534 --regid 65534 --clear-groups "$T/informerctl" get po >"$T/out" 2>"$T/err"
	[ $? = 2 ] && grep -Eq 'permission|refused|allow' "$T/err" || fail "message without permission"
else
	echo "SKIP (one part): needs root to try without permission"
fi
# a damaged block is found: one byte in the middle of what is used is changed behind informerd's back
arena=$T/$("$ctl" stat -o json | jq -r .arena.file)
used=$("$ctl" stat -o json | jq -r .arena.used_bytes)
if [ -w "$arena" ]; then
	# Twenty places, for some may lie in a block that no version reaches any more.
	for i in $(seq 20); do printf 'X' | dd of="$arena" bs=1 seek=$((used / 2 + i * 64)) conv=notrunc status=none; done
	expect 1 '^damaged: block at offset 0x[0-9a-f]+: ' verify
	expect 1 'restart informerd, which sets it aside' verify
else
	echo "SKIP (one part): no arena at $arena to damage"
fi

echo "messages are clear"
