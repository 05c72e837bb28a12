#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A real server answers in protobuf, or in JSON what has none. By a table without a field that the server sends (as an informerd meets a
# newer server) a list, and a watch, go on in JSON: nothing is lost, it is counted, and said which field it is. From one syntax to the
# other, over restarts, no object changes for anybody.
# Takes 60 s.
SERVER=apiserver
. "$(dirname "$0")/../support/script.sh"
. "$(dirname "$0")/../support/gadgets.sh"

pods=/api/v1/namespaces/default/pods
label() { curl -sf -X PATCH -H 'Content-Type: application/merge-patch+json' -d '{"metadata":{"labels":{"e2e":"'"$2"'"}}}' "$url$pods/$1" >/dev/null || fail "no label"; }
create() { post $pods '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"'"$1"'"},"spec":{"priority":'"$2"',"containers":[{"name":"c","image":"i"}]}}'; }
server_has() { curl -s "$url/api/v1/$1" | jq -S '[.items[] | del(.metadata.managedFields)] | sort_by(.metadata.uid)' >"$T/server.json"; }
same() {
	server_has "$1"
	get "$1" -A -o json | jq -S '[.items[] | del(.kind, .apiVersion)] | sort_by(.metadata.uid)' >"$T/ours.json"
	cmp -s "$T/server.json" "$T/ours.json"
}
expect_same() { until_true same "$1" || fail "$2: $(diff "$T/server.json" "$T/ours.json" | head -20)"; }
wires() { stat '[.resources[] | .wire + ":" + (.wire_fallbacks | tostring)] | join(" ")'; }
wires_are() { [ "$(wires)" = "$1" ]; }
expect_wires() { until_true wires_are "$1" || fail "$2: $(wires)"; }
metric() { curl -s --unix-socket "$T/metrics" http://informerd/metrics | grep -F "$1" | grep -F 'resource="pods"' | sed 's/.* //'; }

# metadata alone, of which the server makes documents of their own
same_metadata() {
	curl -s -H 'Accept: application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1' "$url/api/v1/$1" |
		jq -S '[.items[].metadata | del(.managedFields)] | sort_by(.uid)' >"$T/server.json"
	[ "$(jq length "$T/server.json")" -gt 0 ] || fail "no $1"
	get "$1" -A -o json | jq -S '[.items[].metadata | del(.managedFields)] | sort_by(.uid)' >"$T/ours.json"
	cmp -s "$T/server.json" "$T/ours.json"
}

start_sim --nodes 4 --pods-per-node 25
define v1 Namespaced Gadget
gadget v1 Gadget one default
create kept 0
cached=(--resource pods --resource configmaps --resource gadgets.example.com --resource 'services?metadataOnly=true' --resource 'nodes?wire=json')

# ---- all of it known
start_daemon "${cached[@]}"
wait_ready
expect_wires "protobuf:0 protobuf:0 json:0 protobuf:0 json:0" "in what they come"
for r in pods configmaps nodes; do expect_same $r "$r from protobuf"; done
until_true same_metadata services || fail "metadata from protobuf: $(diff "$T/server.json" "$T/ours.json" | head -20)"
shows default/one v1 Gadget || fail "the gadget: $(cat "$T/get.log")"
create another 5
label kept once
expect_same pods "changes in protobuf"
expect_wires "protobuf:0 protobuf:0 json:0 protobuf:0 json:0" "in what they come"
logged 'pods: listed.* KB of protobuf)' || fail "the log does not say in what pods came"
stop_daemon TERM

# ---- a field less: the watch that goes on from what is known meets it with the next pod that has it
sed '/^message core\/v1.PodSpec$/,/^message/{/^25 priority /d}' tools/schema/kubernetes.schema >"$T/older.schema"
! cmp -s "$T/older.schema" tools/schema/kubernetes.schema || fail "PodSpec has no field 25"
start_daemon "${cached[@]}" --schema "$T/older.schema"
wait_ready
label kept twice
expect_same pods "a watch that goes on in JSON"
expect_wires "json:1 protobuf:0 json:0 protobuf:0 json:0" "after a watch with a field more"
stat_is '.resources[0].wire_why' 'field 25 of core/v1.PodSpec is not known' || fail "why: $(stat '.resources[0].wire_why')"
stat_is '.resources[0] | .lists + .watch_lists' 0 || fail "it was listed for it: $(stat '.resources[0]')"
"$B"/informerctl --socket "$S" stat | grep -qF 'pods: protobuf was given up for JSON 1 time: field 25 of core/v1.PodSpec is not known' ||
	fail "informerctl stat does not say why"
logged 'pods: asking for JSON from now on: field 25 of core/v1.PodSpec is not known' || fail "the log does not say why"
create third 7
expect_same pods "JSON"
stop_daemon TERM

# ---- the same with a list at first
rm -f "$T"/informer*.[0-9]*
start_daemon "${cached[@]}" --schema "$T/older.schema"
wait_ready
expect_wires "json:1 protobuf:0 json:0 protobuf:0 json:0" "after a list with a field more"
expect_same pods "a list that goes on in JSON"
stop_daemon TERM

# ---- and back: what came in JSON is what comes in protobuf, and nobody is told of anything
start_daemon "${cached[@]}" --metrics-address "unix:$T/metrics"
wait_ready
expect_wires "protobuf:0 protobuf:0 json:0 protobuf:0 json:0" "with the whole table"
stat_is '.resources[0] | .lists + .watch_lists + .events' 0 || fail "it was told anew: $(stat '.resources[0]')"
[ "$(metric 'informer_resource_wire{' | paste -sd' ')" = "0 1" ] || fail "metrics: $(metric informer_resource_wire)"
[ "$(metric informer_wire_fallbacks_total)" = 0 ] || fail "metrics: $(metric informer_wire_fallbacks_total)"
label kept thrice
expect_same pods "protobuf again"
stop_daemon TERM

# ---- packed, as for a slow link: what the server packs when it is asked to
[ "$(curl -s -o /dev/null -w '%header{content-encoding}' -H 'Accept-Encoding: gzip' -H 'Accept: application/vnd.kubernetes.protobuf' "$url/api/v1/pods")" = gzip ] ||
	fail "the server does not pack a list of pods"
rm -f "$T"/informer*.[0-9]*
start_daemon "${cached[@]}" --compression gzip --no-watch-list
wait_ready
expect_wires "protobuf:0 protobuf:0 json:0 protobuf:0 json:0" "packed"
expect_same pods "a packed list"
label kept packed
expect_same pods "a watch behind it"
echo ok
