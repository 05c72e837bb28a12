#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The examples for events build as their first lines say, and do what they are for: pod-logger says client-go's three sentences, event-loop
# follows one node's pods and ends with its input; go-agent, where there is Go, tells of each pod's workload. pod-logger, agent and go-agent say at
# once that informerd does not cache pods.
# Takes 5 s.
. "$(dirname "$0")/../support/script.sh"
sodium=$(pkg-config --libs libsodium)
for example in pod-logger event-loop agent; do
	# a build with sanitizers has them built by make alone
	case $B in
	*address* | *thread* | *undefined*) cp "$B/$example" "$T/$example" ;;
	*) ${CC:-cc} "tools/examples/$example.c" -Wall -Wextra -Werror -Ireader-lib "$B"/libinformer.a $sodium -lpthread -o "$T/$example" 2>"$T/cc.log" ||
		fail "$example does not build" ;;
	esac
done
PATH=$PATH:/usr/local/go/bin
go_agent= # it is left out where it cannot be built
if ! command -v go >/dev/null; then
	echo "SKIP: go-agent: there is no Go here"
elif ! (cd tools/examples/go-agent && GOTOOLCHAIN=local go mod download) 2>"$T/go.log"; then
	echo "SKIP: go-agent: $(tail -n 1 "$T/go.log")"
else
	(cd tools/examples/go-agent && [ -z "$(gofmt -l .)" ] && GOTOOLCHAIN=local go vet . && GOTOOLCHAIN=local go build -buildvcs=false -o "$T/go-agent") || fail "go-agent does not build"
	go_agent=$T/go-agent
fi
pod() { curl -sf -X POST -H 'Content-Type: application/json' "$url/api/v1/namespaces/shop/pods" -d "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"$1\",\"namespace\":\"shop\"},\"spec\":{\"nodeName\":\"$2\",\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}" >/dev/null; }

start_sim --nodes 2 --pods-per-node 3
pod at-first node-x
start_daemon --resource pods
wait_ready
export INFORMER_SOCKET=$S
"$T/pod-logger" >"$T/logger" 2>"$T/logger.log" &
logger=$!
"${go_agent:-true}" node-x >"$T/go-agent.out" 2>"$T/go-agent.log" &
go_agent_pid=$!
mkfifo "$T/input"
"$T/event-loop" node-x <"$T/input" >"$T/loop" 2>"$T/loop.log" &
loop=$!
exec 9>"$T/input"

all_there() { [ "$(grep -c '^New Pod Added to Store: ' "$T/logger")" = 7 ]; }
until_true all_there || fail "pod-logger: $(cat "$T/logger")"
until_true grep -q at-first "$T/loop" || fail "event-loop: $(cat "$T/loop")"
pod web-0 node-x
pod db-0 node-y
curl -sf -X PATCH -H 'Content-Type: application/merge-patch+json' "$url/api/v1/namespaces/shop/pods/web-0" -d '{"metadata":{"labels":{"a":"b"}}}' >/dev/null
curl -sf -X DELETE "$url/api/v1/namespaces/shop/pods/web-0" >/dev/null
until_true grep -q '^Pod Deleted from Store: web-0$' "$T/logger" || fail "pod-logger: $(cat "$T/logger")"
[ "$(grep 'web-0\|db-0' "$T/logger" | tr '\n' ';')" = \
	"New Pod Added to Store: web-0;New Pod Added to Store: db-0;web-0 Pod Updated to web-0;Pod Deleted from Store: web-0;" ] ||
	fail "pod-logger: $(cat "$T/logger")"
until_true grep -q went "$T/loop" || fail "event-loop: $(cat "$T/loop")"
[ "$(tr '\n' ';' <"$T/loop")" = "is shop/at-first, 1 here;came shop/web-0, 2 here;went shop/web-0, 1 here;" ] || fail "event-loop: $(cat "$T/loop")"

if [ -n "$go_agent" ]; then
	went() { grep -q went "$T/go-agent.out"; }
	until_true went || fail "go-agent: $(cat "$T/go-agent.out" "$T/go-agent.log")"
	[ "$(tr '\n' ';' <"$T/go-agent.out")" = "came shop/at-first of Pod at-first;came shop/web-0 of Pod web-0;went shop/web-0;" ] ||
		fail "go-agent: $(cat "$T/go-agent.out")"
	kill -TERM "$go_agent_pid"
fi
code=0; wait "$go_agent_pid" || code=$?
[ $code = 0 ] || fail "go-agent ends with $code"
kill -TERM "$logger"
code=0; wait "$logger" || code=$?
[ $code = 0 ] || fail "pod-logger ends with $code"
exec 9>&-
code=0; wait "$loop" || code=$?
[ $code = 0 ] || fail "event-loop ends with $code"

stop_daemon TERM
start_daemon --resource nodes
wait_ready
lacking='informerd does not cache this resource; it caches: nodes$'
"$T/agent" node-x 2>"$T/agent.log" && fail "agent without pods succeeds"
grep -q "^agent: $lacking" "$T/agent.log" || fail "agent without pods: $(cat "$T/agent.log")"
if [ -n "$go_agent" ]; then
	"$go_agent" node-x 2>"$T/go-agent.log" && fail "go-agent without pods succeeds"
	grep -q 'informerd does not cache this resource; it caches nodes$' "$T/go-agent.log" || fail "go-agent without pods: $(cat "$T/go-agent.log")"
fi
"$T/pod-logger" >"$T/logger" 2>"$T/logger.log" &
until_true grep -q "^pod-logger: not synced: $lacking" "$T/logger.log" || fail "pod-logger without pods: $(cat "$T/logger.log")"
echo ok
