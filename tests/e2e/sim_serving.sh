#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# informer-sim starts, tells so in one line, lists and pages consistently, refuses
# what a real API server refuses, and ends cleanly.
# Not upstream: it tries informer-sim's own flags and faults.
# Takes 5 s.
. "$(dirname "$0")/../support/script.sh"
set +e # codes are compared
export KUBECONFIG=$T/kubeconfig

# ---- flags
"$B/informer-sim" --help | grep -q -- '--pods-per-node M' || fail "--help shows the flags"
"$B/informer-sim" --prot 1 >"$T/o" 2>"$T/e"
same "an unknown flag ends with code 2" 2 $?
same "and a hint" "informer-sim: unknown flag --prot; did you mean --port? (informer-sim --help lists all flags)" "$(cat "$T/e")"
"$B/informer-sim" --pods 3 >"$T/o" 2>"$T/e"
same "half of a flag's name is none" "2 informer-sim: unknown flag --pods; did you mean --pods-per-node? (informer-sim --help lists all flags)" "$? $(cat "$T/e")"
"$B/informer-sim" --port 70000 2>"$T/e"
same "a bad value ends with code 2" 2 $?
"$B/informer-sim" --load "$T/nothing" 2>"$T/e"
same "what cannot be loaded ends with code 1" 1 $?
grep -q 'nothing: No such file' "$T/e" || fail "and names the file: $(cat "$T/e")"

# ---- a small world: 5 pods in one namespace, 1 in another
for n in a0 a1 a2 a3 a4; do
	echo '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"'$n'","namespace":"wire","labels":{"app":"w","n":"'$n'"}},"spec":{"containers":[]},"status":{"phase":"Running"}}'
done >"$T/pods.json"
echo '{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"b","namespace":"wire2"},"spec":{"containers":[],"hostname":"\u0000"}}]}' >>"$T/pods.json"
echo '{"kind":"Widget","apiVersion":"example.com/v1","metadata":{"name":"z","namespace":"wire2"},"spec":{"x":9007199254740993,"y":1.50,"z":"\u0000"}}' >>"$T/pods.json"
start_sim --load "$T/pods.json" --crd widgets.v1.example.com
same "one line on stdout" 1 "$(wc -l <"$T/sim.out")"
same "of the promised form" "READY url=$url kubeconfig=$T/kubeconfig pid=$sim_pid" "$(cat "$T/sim.out")"
RV=$(api GET /api/v1/pods | jq -r .metadata.resourceVersion)

# ---- LIST
same "objects in order, without kind" "a0 a1 a2 a3 a4 b" "$(api GET /api/v1/pods | jq -r '[.items[]|select(has("kind")|not)|.metadata.name]|join(" ")')"
same "kind of the list" "PodList v1" "$(api GET /api/v1/namespaces/wire/pods | jq -r '"\(.kind) \(.apiVersion)"')"
same "an empty list is the real server's to the byte" '{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"'$RV'"},"items":[]}' "$(api GET /api/v1/namespaces/none/pods)"
api GET /apis/example.com/v1/namespaces/wire2/widgets | grep -q '"x":9007199254740993,"y":1.50,"z":"\\u0000"' || fail "numbers and U+0000 go out as they came"
api GET /api/v1/namespaces/wire2/pods | grep -q '"spec":{"containers":null,"hostname":"\\u0000"},"status":{}}\]' || fail "an object of a type is not as its type prints it"
same "items of a custom resource carry kind and apiVersion" "example.com/v1 Widget" "$(api POST /apis/example.com/v1/namespaces/wire/widgets -d '{"metadata":{"name":"w"}}' >/dev/null; api GET /apis/example.com/v1/widgets | jq -r '.items[0]|"\(.apiVersion) \(.kind)"')"
same "label selector" "a1 a2" "$(api GET '/api/v1/pods?labelSelector=n+in+(a1,a2),app!=x' | jq -r '[.items[].metadata.name]|join(" ")')"
same "field selector" "b" "$(api GET '/api/v1/pods?fieldSelector=status.phase!=Running,metadata.namespace%3Dwire2' | jq -r '[.items[].metadata.name]|join(" ")')"

# ---- pages
RV=$(api GET /api/v1/pods | jq -r .metadata.resourceVersion)
PAGE1=$(api GET '/api/v1/namespaces/wire/pods?limit=2')
same "page 1: items, and how many remain" "a0 a1 3 $RV" "$(jq -r '"\([.items[].metadata.name]|join(" ")) \(.metadata.remainingItemCount) \(.metadata.resourceVersion)"' <<<"$PAGE1")"
TOKEN=$(jq -r .metadata.continue <<<"$PAGE1")
api DELETE /api/v1/namespaces/wire/pods/a2 >/dev/null
api POST /api/v1/namespaces/wire/pods -d '{"metadata":{"name":"a5"}}' >/dev/null
PAGE2=$(api GET "/api/v1/namespaces/wire/pods?limit=2&continue=$TOKEN")
same "page 2 is of page 1's RV, whatever changed since" "a2 a3 1 $RV" "$(jq -r '"\([.items[].metadata.name]|join(" ")) \(.metadata.remainingItemCount) \(.metadata.resourceVersion)"' <<<"$PAGE2")"
TOKEN=$(jq -r .metadata.continue <<<"$PAGE2")
api POST /sim/compact >/dev/null
OLD=$(api GET "/api/v1/namespaces/wire/pods?limit=2&continue=$TOKEN")
same "a token older than the history is Expired" "410 Expired" "$(jq -r '"\(.code) \(.reason)"' <<<"$OLD")"

# ---- refusals, in the real server's words
same "bad RV" '400 BadRequest invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax' "$(status GET '/api/v1/pods?resourceVersion=abc')"
same "bad limit" '400 BadRequest strconv.ParseInt: parsing "x": invalid syntax' "$(status GET '/api/v1/pods?limit=x')"
same "bad token" "400 BadRequest invalid continue token: continue key is not valid: invalid character 'i' looking for beginning of value" "$(status GET '/api/v1/pods?continue=abc')"
same "token and RV" "400 BadRequest specifying resource version is not allowed when using continue" "$(status GET "/api/v1/pods?resourceVersion=5&continue=$TOKEN")"
same "dryRun is refused, not ignored" 400 "$(code POST "/api/v1/namespaces/wire/pods?dryRun=All" -d '{"metadata":{"name":"dry"}}')"
same "and nothing was made" 404 "$(code GET /api/v1/namespaces/wire/pods/dry)"
same "bad label selector" "400 BadRequest unable to parse requirement: found '=', expected: identifier" "$(status GET '/api/v1/pods?labelSelector=a%3D%3D%3D')"
same "bad field selector" "400 BadRequest field label not supported: spec.foo" "$(status GET '/api/v1/pods?fieldSelector=spec.foo%3Dx')"
same "match without RV" '422 Invalid ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided' "$(status GET '/api/v1/pods?resourceVersionMatch=Exact')"
same "two mistakes" '422 Invalid ListOptions.meta.k8s.io "" is invalid: [resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided, sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list]' "$(status GET '/api/v1/pods?sendInitialEvents=true&resourceVersionMatch=NotOlderThan')"
same "a future RV, to the byte" '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Timeout: Too large resource version: 99999999, current: '$(api GET /sim/stats | jq .resourceVersion)'","reason":"Timeout","details":{"causes":[{"reason":"ResourceVersionTooLarge","message":"Too large resource version"}],"retryAfterSeconds":1},"code":504}' "$(api GET '/api/v1/pods?resourceVersion=99999999')"
same "unknown resource" "404 NotFound the server could not find the requested resource" "$(status GET /api/v1/gadgets)"
same "unknown page" 404 "$(code GET /nope)"
same "neither YAML nor CBOR is served" "406 406" "$(code GET /api/v1/pods -H 'Accept: application/yaml') $(code GET /api/v1/pods -H 'Accept: application/cbor')"
same "no such method" "405 MethodNotAllowed the server does not allow this method on the requested resource" "$(status PUT /api/v1/namespaces/wire/pods -d '{}')"

# ---- discovery, metrics, health
same "groups" "apiextensions.k8s.io apps batch discovery.k8s.io example.com" "$(api GET /apis | jq -r '[.groups[].name]|join(" ")')"
same "a resource's description" '{"name":"pods","singularName":"pod","namespaced":true,"kind":"Pod","verbs":["create","delete","deletecollection","get","list","patch","update","watch"],"shortNames":["po"],"categories":["all"]}' "$(api GET /api/v1 | jq -c '.resources[]|select(.name=="pods")')"
for page in healthz livez readyz; do same "/$page" ok "$(api GET /$page)"; done
LISTS=$(api GET /metrics | sed -n 's/^apiserver_request_total{verb="LIST",resource="pods",code="200"} //p')
api GET /api/v1/pods >/dev/null
same "each LIST is counted" $((LISTS + 1)) "$(api GET /metrics | sed -n 's/^apiserver_request_total{verb="LIST",resource="pods",code="200"} //p')"

end_sim

# ---- token
start_sim --token s3cret --nodes 1 --pods-per-node 4
same "without the token nothing is served" "401 Unauthorized Unauthorized" "$(status GET /api/v1/pods)"
same "with it everything" 4 "$(api GET /api/v1/pods -H 'Authorization: Bearer s3cret' | jq '.items|length')"
grep -q 'token: "s3cret"' "$KUBECONFIG" || fail "the kubeconfig has the token"
same "the kubeconfig is its owner's alone" 600 "$(command stat -c %a "$KUBECONFIG")"
