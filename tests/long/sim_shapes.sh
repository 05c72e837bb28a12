#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The same objects in other shapes: Tables, metadata alone, and discovery in one document; asked for by Accept.
# Not upstream: it tries informer-sim's own flags and faults.
# Takes 8 s.
. "$(dirname "$0")/../support/script.sh"
set +e # codes are compared
export KUBECONFIG=$T/kubeconfig
echo '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","namespace":"n","uid":"u-1","labels":{"app":"w"},"annotations":{"q":"\"<&>"},"creationTimestamp":"2020-01-01T00:00:00Z"},"spec":{"nodeName":"no\u0064e","containers":[{"name":"c"}]},"status":{"phase":"Running","podIP":"10.0.0.1","podIPs":[{"ip":"10.0.0.1"}],"containerStatuses":[{"name":"c","ready":true,"restartCount":2,"state":{"running":{}}}]}}' >"$T/pods.json"
echo '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"b","namespace":"n"},"spec":{"containers":[{"name":"c"}]},"status":{"phase":"Pending"}}' >>"$T/pods.json"
start_sim --load "$T/pods.json" --crd widgets.v1.example.com
PODS=/api/v1/namespaces/n/pods
TABLE='application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json'
PARTIAL='application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1'
LIST='application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json'
as() { local accept=$1; shift; api GET "$@" -H "Accept: $accept"; }

# ---- Table
as "$TABLE" "$PODS" >"$T/table"
same "a Table" "Table meta.k8s.io/v1 2" "$(jq -r '"\(.kind) \(.apiVersion) \(.rows|length)"' "$T/table")"
same "with the real server's columns" '[{"name":"Name","type":"string","format":"name","description":"","priority":0},{"name":"Ready","type":"string","format":"","description":"","priority":0},{"name":"Status","type":"string","format":"","description":"","priority":0},{"name":"Restarts","type":"string","format":"","description":"","priority":0},{"name":"Age","type":"string","format":"","description":"","priority":0},{"name":"IP","type":"string","format":"","description":"","priority":1},{"name":"Node","type":"string","format":"","description":"","priority":1},{"name":"Nominated Node","type":"string","format":"","description":"","priority":1},{"name":"Readiness Gates","type":"string","format":"","description":"","priority":1}]' "$(jq -c .columnDefinitions "$T/table")"
same "the printer's cells, escapes resolved" "a 1/1 Running 2 10.0.0.1 node <none> <none>" "$(jq -r '.rows[0].cells | del(.[4]) | join(" ")' "$T/table")"
same "each row has its metadata" 'PartialObjectMetadata meta.k8s.io/v1 a u-1 "<&>' "$(jq -r '.rows[0].object|"\(.kind) \(.apiVersion) \(.metadata.name) \(.metadata.uid) \(.metadata.annotations.q)"' "$T/table")"
same "or nothing" false "$(as "$TABLE" "$PODS?includeObject=None" | jq '.rows[0]|has("object")')"
same "or the object" Running "$(as "$TABLE" "$PODS?includeObject=Object" | jq -r '.rows[0].object.status.phase')"
same "in pages" "1 1 true" "$(as "$TABLE" "$PODS?limit=1" | jq -r '"\(.rows|length) \(.metadata.remainingItemCount) \(.metadata|has("continue"))"')"
same "of one object" "b Pending" "$(as "$TABLE" "$PODS/b" | jq -r '.rows[0].cells|"\(.[0]) \(.[2])"')"
same "an older version of it" meta.k8s.io/v1beta1 "$(as 'application/json;as=Table;v=v1beta1;g=meta.k8s.io' "$PODS" | jq -r .apiVersion)"
as "$TABLE" "$PODS?watch=1&timeoutSeconds=1" >"$T/watch"
same "a watch names the columns once" '9 a
0 b' "$(jq -r '"\(.object.columnDefinitions|length) \(.object.rows[0].cells[0])"' "$T/watch")"
same "a kind without a printer of its own" "Name Age" "$(as "$TABLE" /apis/example.com/v1/widgets | jq -r '[.columnDefinitions[].name]|join(" ")')"

# ---- metadata alone
as "$LIST" "$PODS" >"$T/list"
same "a list of metadata" "PartialObjectMetadataList meta.k8s.io/v1 kind,apiVersion,metadata" "$(jq -r '"\(.kind) \(.apiVersion) \(.items[0]|keys_unsorted|join(","))"' "$T/list")"
same "which is the objects' own" "$(api GET $PODS | jq -c '[.items[].metadata]')" "$(jq -c '[.items[].metadata]' "$T/list")"
same "of one object" '{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":'"$(api GET $PODS/a | jq -c .metadata)"'}' "$(as "$PARTIAL" "$PODS/a")"
same "a list is asked for as a list" "406 NotAcceptable you requested PartialObjectMetadata, but the requested object is a list (PodList)" "$(as "$PARTIAL" "$PODS" | jq -r '"\(.code) \(.reason) \(.message)"')"
RV=$(jq -r .metadata.resourceVersion "$T/list")
curl -s -X PATCH "$url$PODS/a" -H 'Content-Type: application/merge-patch+json' -d '{"metadata":{"labels":{"app":"x"}}}' >/dev/null
as "$PARTIAL" "$PODS?watch=1&resourceVersion=$RV&labelSelector=app%3Dw&allowWatchBookmarks=true&timeoutSeconds=3" >"$T/watch"
same "a watch, with the new RV where an object leaves the selection" "DELETED PartialObjectMetadata a w $((RV + 1))
BOOKMARK PartialObjectMetadata null null $((RV + 1))" "$(jq -r '"\(.type) \(.object.kind) \(.object.metadata.name) \(.object.metadata.labels.app) \(.object.metadata.resourceVersion)"' "$T/watch")"
as "$PARTIAL" "$PODS?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=1" >"$T/watch"
same "a watch that begins with the list" "ADDED ADDED BOOKMARK true" "$(jq -rs '"\([.[].type]|join(" ")) \(.[2].object.metadata.annotations["k8s.io/initial-events-end"])"' "$T/watch")"
same "nothing in the answer but metadata" 0 "$(grep -c containers "$T/watch")"

# ---- aggregated discovery
V2='application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json'
tag=$(curl -s -o /dev/null -D - -H "Accept: $V2" "$url/apis" | tr -d '\r' | sed -n 's/^ETag: //p')
same "unchanged" "304 " "$(curl -s -w '%{http_code} ' -H "Accept: $V2" -H "If-None-Match: $tag" "$url/apis")"
same "not that" "200" "$(curl -s -o /dev/null -w '%{http_code}' -H "Accept: $V2" -H 'If-None-Match: "0"' "$url/apis")"
same "the core group" '{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{}} v1' "$(as "$V2" /api | jq -rc '"\(del(.items)) \(.items[0].versions[0].version)"')"
same "a resource, as the real server tells it" '{"resource":"pods","responseKind":{"group":"","version":"","kind":"Pod"},"scope":"Namespaced","singularResource":"pod","verbs":["create","delete","deletecollection","get","list","patch","update","watch"],"shortNames":["po"],"categories":["all"],"subresources":[{"subresource":"status","responseKind":{"group":"","version":"","kind":"Pod"},"verbs":["get","patch","update"]}]}' "$(as "$V2" /api | jq -c '.items[0].versions[0].resources[]|select(.resource=="pods")')"
same "the other groups" "apps batch discovery.k8s.io example.com" "$(as "$V2" /apis | jq -r '[.items[].metadata.name] - ["apiextensions.k8s.io"] | join(" ")')"
same "its content type" "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList" "$(curl -s -o /dev/null -w '%{content_type}' -H "Accept: $V2" "$url/apis")"
same "unasked it is the old way" "APIVersions APIGroupList" "$(api GET /api | jq -r .kind) $(api GET /apis | jq -r .kind)"
end_sim
start_sim --no-aggregated-discovery
same "as on a server that has none" "APIVersions APIGroupList" "$(as "$V2" /api | jq -r .kind) $(as "$V2" /apis | jq -r .kind)"

# ---- gzip
end_sim
start_sim --nodes 10 --pods-per-node 20
same "no gzip below 128 KiB" "" "$(curl -s -o /dev/null -w '%header{content-encoding}' -H 'Accept-Encoding: gzip' "$url/api/v1/pods?limit=2")"
same "above it is" "gzip Accept-Encoding" "$(curl -s -o "$T/packed" -w '%header{content-encoding} %header{vary}' -H 'Accept-Encoding: gzip' "$url/api/v1/pods")"
same "unasked it is not" "" "$(curl -s -o "$T/plain" -w '%header{content-encoding}' "$url/api/v1/pods")"
same "the same document" "$(md5sum <"$T/plain")" "$(gzip -dc <"$T/packed" | md5sum)"
[ $(($(command stat -c %s "$T/packed") * 3)) -lt "$(command stat -c %s "$T/plain")" ] || fail "it pays: $(command stat -c %s "$T/packed") of $(command stat -c %s "$T/plain")"
same "at RV 0 too" "$(md5sum <"$T/plain")" "$(curl -s --compressed "$url/api/v1/pods?resourceVersion=0" | md5sum)"
same "a watch is not" "" "$(curl -s -o /dev/null -w '%header{content-encoding}' -H 'Accept-Encoding: gzip' "$url/api/v1/pods?watch=1&timeoutSeconds=1")"
api POST /sim/faults --data-binary 'when LIST pods then close mid-frame once' >/dev/null
curl -s --compressed "$url/api/v1/pods" >/dev/null
same "faults strike what is compressed" 18 $?
