#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Objects are created, read, replaced, patched and deleted, and bad requests answered: by informer-sim as by a real API server.
# Takes 5 s.
. "$(dirname "$0")/../support/script.sh"
set +e # codes are compared
export KUBECONFIG=$T/kubeconfig
server_is_plain=yes
start_sim
PODS=/api/v1/namespaces/wire/pods
MERGE='Content-Type: application/merge-patch+json'
patch() { curl -s -X PATCH -H "$MERGE" -d "$2" "$url$1"; }

# ---- create
POD='{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a0","namespace":"wire","labels":{"app":"w"}},"spec":{"containers":[{"name":"c","image":"i"}]}}'
same "create answers 201" 201 "$(code POST $PODS -d "$POD")"
NOW=$(api GET $PODS/a0)
jq -e '.kind=="Pod" and .apiVersion=="v1" and (.metadata.uid|length==36) and (.metadata.resourceVersion|tonumber>0) and (.metadata.creationTimestamp|endswith("Z"))' <<<"$NOW" >/dev/null || fail "uid, RV and time are given: $NOW"
same "once more: AlreadyExists" '409 AlreadyExists pods "a0" already exists' "$(status POST $PODS -d "$POD")"
api POST $PODS -d '{"metadata":{"generateName":"g-"}}' | jq -e '.metadata.name|test("^g-[a-z0-9]{5}$")' >/dev/null || fail "generateName makes a name"
same "no name" '422 Invalid Pod "" is invalid: metadata.name: Required value: name or generateName is required' "$(status POST $PODS -d '{"metadata":{}}')"
same "bad name" '422 Invalid Pod "Bad_/Name" is invalid: metadata.name: Invalid value: "Bad_/Name": may not contain '"'/'" "$(status POST $PODS -d '{"metadata":{"name":"Bad_/Name"}}')"
same "other namespace" "400 BadRequest the namespace of the provided object does not match the namespace sent on the request" "$(status POST $PODS -d '{"metadata":{"name":"q","namespace":"other"}}')"
same "other kind" '400 BadRequest Service in version "v1" cannot be handled as a Pod' "$(status POST $PODS -d '{"kind":"Service","apiVersion":"v1","metadata":{"name":"q"}}' | sed 's/: converting .*//')" # between types that a cluster keeps apart
same "malformed body" "400 BadRequest the object provided is unrecognized (must be of type Pod): couldn't get version/kind; json parse error: unexpected end of JSON input ({\"kind\":\"Pod\",)" "$(status POST $PODS -d '{"kind":"Pod",')"
same "no JSON" 415 "$(curl -s -X POST -H "Content-Type: text/csv" -d a,b -o /dev/null -w "%{http_code}" "$url$PODS")"
head -c 4000000 /dev/zero | tr '\0' ' ' >"$T/big"
same "too large a body" "413 RequestEntityTooLarge Request entity too large: limit is 3145728" "$(status POST $PODS --data-binary "@$T/big")"
same "labels that are no strings" 400 "$(code POST $PODS -d '{"metadata":{"name":"q","labels":{"a":1}}}')"
same "metadata that is no object" 400 "$(code POST $PODS -d '{"metadata":[]}')"

# ---- replace
RV=$(jq -r .metadata.resourceVersion <<<"$NOW")
NEXT=$(jq -c '.metadata.labels.v="2"|.metadata.uid=null|.metadata.creationTimestamp=null|.status={"phase":"Failed"}' <<<"$NOW")
GOT=$(api PUT $PODS/a0 -d "$NEXT")
same "PUT replaces, keeps identity, and leaves the status to /status" "$(jq -cS '.metadata.labels.v="2"|del(.metadata["resourceVersion", "managedFields"])' <<<"$NOW")" "$(jq -cS 'del(.metadata["resourceVersion", "managedFields"])' <<<"$GOT")"
same "with an old RV: Conflict" '409 Conflict Operation cannot be fulfilled on pods "a0": the object has been modified; please apply your changes to the latest version and try again' "$(status PUT $PODS/a0 -d "$NEXT")"
same "PUT without an RV is unconditional" 3 "$(api PUT $PODS/a0 -d "$(jq -c 'del(.metadata.resourceVersion)|.metadata.labels.v="3"' <<<"$NOW")" | jq -r .metadata.labels.v)"
same "PUT that changes nothing keeps the RV" "$(api GET $PODS/a0)" "$(api PUT $PODS/a0 -d "$(api GET $PODS/a0)")"
same "PUT of another name" "400 BadRequest the name of the object (a0) does not match the name on the URL (zz)" "$(api POST $PODS -d '{"metadata":{"name":"zz"}}' >/dev/null; status PUT $PODS/zz -d "$NOW")"
same "PUT of nothing" '404 NotFound pods "no" not found' "$(status PUT $PODS/no -d '{"metadata":{"name":"no"}}')"
same "status by PUT" "Running 3" "$(api PUT $PODS/a0/status -d "$(api GET $PODS/a0 | jq -c '.status={"phase":"Running"}|.metadata.labels.v="9"')" | jq -r '"\(.status.phase) \(.metadata.labels.v)"')"

# ---- patch
same "merge patch sets and removes" '{"app":"w","z":"1"}' "$(patch $PODS/a0 '{"metadata":{"labels":{"v":null,"z":"1"}}}' | jq -c .metadata.labels)"
BEFORE=$(api GET $PODS/a0)
same "one that changes nothing keeps the RV" "$BEFORE" "$(patch $PODS/a0 '{"metadata":{"labels":{"z":"1"}}}')"
same "status by PATCH" "10.1.2.3" "$(patch $PODS/a0/status '{"status":{"podIP":"10.1.2.3","podIPs":[{"ip":"10.1.2.3"}]}}' | jq -r .status.podIP)"
same "the field selector sees it" a0 "$(api GET "$PODS?fieldSelector=status.podIP%3D10.1.2.3" | jq -r '.items[].metadata.name')"
same "a patch with an old RV: Conflict" 409 "$(patch $PODS/a0 '{"metadata":{"resourceVersion":"1","labels":{"y":"1"}}}' | jq .code)"
same "other patches are refused" 415 "$(curl -s -X PATCH -H 'Content-Type: application/other-patch+json' -d '[]' -o /dev/null -w '%{http_code}' "$url$PODS/a0")"
same "a patch that is no object" 400 "$(patch $PODS/a0 '[]' | jq .code)"

# ---- many at once: every one of 40 patches is kept
for i in $(seq 40); do patch $PODS/a0 '{"metadata":{"annotations":{"k'$i'":"x"}}}' >/dev/null & W="${W:-} $!"; done
wait $W
same "patches at the same time are all kept" 40 "$(api GET $PODS/a0 | jq '.metadata.annotations|length')"

# ---- delete
same "precondition on the UID" 409 "$(code DELETE $PODS/a0 -d '{"preconditions":{"uid":"x"}}')"
BEFORE=$(api GET $PODS/a0)
GONE=$(api DELETE $PODS/a0)
same "DELETE answers the object" "$(jq -cS 'del(.metadata.resourceVersion)' <<<"$BEFORE")" "$(jq -cS 'del(.metadata.resourceVersion)' <<<"$GONE")"
jq -ne --argjson a "$BEFORE" --argjson b "$GONE" '($b.metadata.resourceVersion|tonumber) > ($a.metadata.resourceVersion|tonumber)' >/dev/null || fail "with the deletion's RV"
same "it is gone" '404 NotFound pods "a0" not found' "$(status GET $PODS/a0)"
api POST $PODS -d '{"metadata":{"name":"fin","finalizers":["x/y"]}}' >/dev/null
api DELETE $PODS/fin | jq -e .metadata.deletionTimestamp >/dev/null || fail "a finalizer holds it"
same "it is still there" 200 "$(code GET $PODS/fin)"
patch $PODS/fin '{"metadata":{"finalizers":null}}' >/dev/null
same "the last finalizer's removal deletes it" 404 "$(code GET $PODS/fin)"
for i in 1 2 3; do api POST $PODS -d '{"metadata":{"name":"c'$i'","labels":{"c":"'$((i % 2))'"}}}' >/dev/null; done
same "deletecollection answers what it deletes" "c1 c3" "$(api DELETE "$PODS?labelSelector=c%3D1" | jq -r '[.items[].metadata.name]|join(" ")')"
same "and only that" "c2" "$(api GET "$PODS?labelSelector=c" | jq -r '[.items[].metadata.name]|join(" ")')"

# ---- other resources
same "a grouped resource's messages name its group" '404 NotFound deployments.apps "x" not found' "$(status GET /apis/apps/v1/namespaces/wire/deployments/x)"
same "a cluster-wide resource" Node "$(api POST /api/v1/nodes -d '{"metadata":{"name":"n1"}}' | jq -r .kind)"
