#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A gateway that is there before informerd, or whose informerd has not listed yet, says "in a moment": 429 and Retry-After, for objects and for
# discovery, no 404 and no empty list, which clients would keep.
# Not upstream: informer-sim keeps the list back.
# Takes 5 s.
. "$(dirname "$0")/../support/script.sh"

start_sim --nodes 2 --pods-per-node 5
gateway_file "listen: '127.0.0.1:0', profile: insecure-loopback, scope: ['*'], deletedFor: 60s"
"$B"/tests/notify_listen "$T/notify.gateway" >"$T/told" &
notify_pid=$!
until_true grep -q LISTENING "$T/told" || fail "notify_listen does not start"
NOTIFY_SOCKET=$T/notify.gateway WATCHDOG_USEC=300000 start_gateway --config "$T/gateway.yaml"
until_true grep -q READY=1 "$T/told" || fail "systemd does not hear that it is ready"
until_true grep -q WATCHDOG=1 "$T/told" || fail "no word to the watchdog"
early() { # PATH
	curl -s -D "$T/head" -o "$T/body" "$gateway_url$1"
	grep -q '^HTTP/1.1 429' "$T/head" && grep -qi '^Retry-After: 1' "$T/head" || fail "$1 without informerd: $(cat "$T/head" "$T/body")"
}
early /api/v1/pods
early /api/v1/namespaces/default/pods/p
early /apis
early '/api/v1/pods?watch=1'
[ "$(curl -s -o /dev/null -w '%{http_code}' "$gateway_url/readyz")" = 503 ] || fail "it says that it is ready"
[ "$(curl -s "$gateway_url/livez")" = ok ] || fail "it does not live"

# the server keeps the list back
curl -sf -X POST "$url/sim/faults" --data 'when LIST pods then hold
when WATCHLIST pods then hold' >/dev/null || fail "no faults"
start_daemon --resource pods --resource nodes
nodes_come() { [ "$(of_gateway '/api/v1/nodes' | jq '.items | length')" = 2 ]; }
until_true nodes_come || fail "no nodes"
early /api/v1/pods
early '/api/v1/pods?watch=1'
curl -sf -X DELETE "$url/sim/faults" >/dev/null || fail "faults stay"
until_true curl -sf -X POST "$url/sim/held" || fail "no list waits"
wait_ready
pods_come() { [ "$(of_gateway '/api/v1/pods' | jq '.items | length')" = "$(on_server /api/v1/pods)" ]; }
until_true pods_come || fail "no pods"
[ "$(curl -s -o /dev/null -w '%{http_code}' "$gateway_url/api/v1/configmaps")" = 404 ] || fail "what is not cached is 404 now"

# what is gone is found by its name for a while, and in no list
key=$(of_gateway '/api/v1/pods?limit=1' | jq -r '.items[0].metadata | "\(.namespace)/pods/\(.name)"')
curl -sf -X DELETE "$url/api/v1/namespaces/$key?gracePeriodSeconds=0" >/dev/null || fail "not deleted"
unlisted() { ! of_gateway "/api/v1/namespaces/${key%%/*}/pods" | jq -e --arg n "${key##*/}" '.items[] | select(.metadata.name == $n)'; }
until_true unlisted || fail "it stays in lists"
[ "$(of_gateway "/api/v1/namespaces/$key" | jq -r .metadata.name)" = "${key##*/}" ] || fail "what is gone is not found by its name"

# what nobody keeps up to date is no longer ready, though it is served
[ "$(curl -s "$gateway_url/api/v1/configmaps" | jq -r .message)" = 'the server could not find the requested resource: configmaps are not cached here' ] ||
	fail "what is not cached is told without a word about the cache"
stop_daemon KILL
unready() { curl -s "$gateway_url/readyz" | grep -q -- '-\]informerd: '; }
until_true unready || fail "it says that it is ready: $(curl -s "$gateway_url/readyz")"
pods_come || fail "the pods are gone"

stop_gateway TERM
[ "$code" = 0 ] || fail "exit code $code"
echo ok
