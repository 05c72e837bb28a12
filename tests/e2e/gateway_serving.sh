#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# informer-gateway answers from the arena what the API server answers: objects, lists in pages and by selectors, tables, metadata, watches
# from now, from an RV, and with the initial events. What it cannot answer it refuses in the API server's words. After SIGTERM its watches end
# cleanly within drain.
# Takes 7 s.
. "$(dirname "$0")/../support/script.sh"

start_sim --nodes 5 --pods-per-node 20 --drop-fields
start_daemon --resource pods --resource services --resource nodes
wait_ready
start_open_gateway '' 'drain: 300ms'
# An RV that is to come: 504 with its cause, after the three seconds that an API server waits. It is asked beside what follows.
curl -s "$gateway_url/api/v1/pods?resourceVersion=99999999&resourceVersionMatch=NotOlderThan" >"$T/future.json" &
future_pid=$!
until_true reached "$(newest_rv)" || fail "it does not come up to the server"

# both PATH FILTER: the two say the same
plain='application/json;drop=metadata.managedFields'
both() {
	local there here
	there=$(curl -s -H "Accept: ${3:-$plain}" "$url$1" | jq -cS "$2")
	here=$(curl -s -H "Accept: ${3:-$plain}" "$gateway_url$1" | jq -cS "$2")
	[ -n "$there" ] && [ "$there" = "$here" ] || fail "$1: $(diff <(echo "$there" | head -c 2000) <(echo "$here" | head -c 2000))"
}
pod=$(curl -s "$url/api/v1/pods?limit=1" | jq -r '.items[0].metadata | "\(.namespace)/pods/\(.name)"')
node=$(curl -s "$url/api/v1/nodes?limit=1" | jq -r '.items[0].metadata.name')
label=$(curl -s "$url/api/v1/pods?limit=1" | jq -r '.items[0].metadata.labels | to_entries[0] | "\(.key)=\(.value)"')
both "/api/v1/namespaces/$pod" .
both /api/v1/pods '.items | length, .[]'
both /api/v1/services '.kind, .apiVersion, (.items | length)'
both "/api/v1/namespaces/${pod%%/*}/pods" .items
both "/api/v1/pods?fieldSelector=spec.nodeName%3D$node" .items
both "/api/v1/pods?labelSelector=${label/=/%3D}" .items
both "/api/v1/nodes/$node" .
both "/api/v1/nodes/$node" . 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1;drop=metadata.managedFields'
both "/api/v1/pods?fieldSelector=spec.nope%3D1" '.message, .code, .reason'
both "/api/v1/pods?resourceVersionMatch=Exact" '.message, .code'
both "/api/v1/namespaces/default/pods/nobody" .
both /api/v1/nodes '[.rows[].cells[0]], [.columnDefinitions[].name]' 'application/json;as=Table;g=meta.k8s.io;v=v1'

# in pages, at one RV
pages() {
	local at= rv= n=0 page
	while :; do
		page=$(of_gateway "/api/v1/pods?limit=7${at:+&continue=$at}" |
			jq -r '"\(.metadata.resourceVersion) \(.items | length) \(.metadata.continue // "")"')
		[ -z "$rv" ] || [ "$rv" = "${page%% *}" ] || fail "a page of another RV"
		rv=${page%% *} at=${page##* } page=${page#* }
		n=$((n + ${page%% *}))
		[ -n "$at" ] || break
	done
	echo $n
}
[ "$(pages)" = "$(on_server /api/v1/pods)" ] || fail "pages have $(pages) pods"

# watches: all that changes from an RV on, at both
from=$(newest_rv)
curl -sN "$gateway_url/api/v1/pods?watch=1&resourceVersion=$from&allowWatchBookmarks=true" >"$T/here.json" &
here_pid=$!
curl -sN "$url/api/v1/pods?watch=1&resourceVersion=$from" >"$T/there.json" &
curl -sN "$gateway_url/api/v1/pods?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true" >"$T/initial.json" &
initial_pid=$!
ended_initial() { grep -q 'k8s.io/initial-events-end' "$T/initial.json"; }
until_true ended_initial || fail "no end of the initial events"
initial=$(grep -c '"type":"ADDED"' "$T/initial.json")
[ "$initial" = "$(on_server /api/v1/pods)" ] || fail "$initial initial events"
curl -sf -X POST "$url/sim/churn?rate=200&count=400" >/dev/null
until_true churn_over || fail "churn goes on"
last=$(newest_rv)
came() { [ "$(tail -n 1 "$1" | jq -r .object.metadata.resourceVersion)" = "$(tail -n 1 "$T/there.json" | jq -r .object.metadata.resourceVersion)" ]; }
whole() { reached "$last" && came "$T/here.json" && came "$T/initial.json"; }
until_true whole || fail "changes are missing: $(tail -n 1 "$T/here.json" | head -c 300)"
told() { jq -c '[.type, .object.metadata.namespace, .object.metadata.name, .object.metadata.uid, .object.metadata.resourceVersion]' "$1"; }
diff <(told "$T/there.json") <(told "$T/here.json") >"$T/diff" || fail "the watches differ: $(head -n 5 "$T/diff")"
[ "$(told "$T/there.json" | wc -l)" -ge 300 ] || fail "only $(told "$T/there.json" | wc -l) changes"
diff <(told "$T/there.json") <(told "$T/initial.json" | tail -n +$((initial + 2))) >"$T/diff" || fail "behind the initial events: $(head -n 5 "$T/diff")"

# an RV that is to come: 504; one of long ago: 410
wait "$future_pid" || fail "no answer for an RV of the future"
future=$(jq -r '"\(.code) \(.details.causes[0].reason) \(.details.retryAfterSeconds)"' "$T/future.json")
[ "$future" = "504 ResourceVersionTooLarge 1" ] || fail "an RV of the future: $future"
past=$(curl -sN "$gateway_url/api/v1/pods?watch=1&resourceVersion=1" | jq -r '"\(.type) \(.object.code) \(.object.reason)"')
[ "$past" = "ERROR 410 Expired" ] || fail "an RV of the past: $past"

# what is not cached is no resource, secrets are nobody's whom the scope does not name, and nothing is written
for at in configmaps namespaces/default/nodes; do
	[ "$(curl -s -o /dev/null -w '%{http_code}' "$gateway_url/api/v1/$at")" = 404 ] || fail "$at"
done
[ "$(curl -s -o /dev/null -w '%{http_code}' "$gateway_url/api/v1/secrets")" = 403 ] || fail "secrets"
[ "$(curl -s -o /dev/null -w '%{http_code}' -X DELETE "$gateway_url/api/v1/namespaces/$pod")" = 403 ] || fail "a DELETE"
[ "$(metric 'informer_gateway_memory_refused_total{of="lists"}')" = 0 ] || fail "lists were refused"
stop_gateway TERM
[ "$code" = 0 ] || fail "exit code $code: $(cat "$gateway_log")"
for p in "$here_pid" "$initial_pid"; do wait "$p" || fail "a watch ends with curl's exit code $?"; done
echo ok
