#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# informerctl get prints what kubectl prints: JSON, YAML and names of a generated cluster, and of objects full of awkward
# texts, are the same bytes as kubectl's against the same server; selectors, indexes and names find the same objects. --workload
# finds a Deployment's Pods, and follows them.
# Takes 5 s.
. "$(dirname "$0")/../support/script.sh"
set -o pipefail
command -v kubectl >/dev/null || { echo "SKIP: kubectl is not installed"; exit 77; }

# A manifest whose texts are the ones that YAML and JSON writers trip over.
cat >"$T/awkward.json" <<'JSON'
{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"awkward","namespace":"default",
"annotations":{"y":"yes","b10":"1","b9":"0x1f","true":"12:30:45","1":"","n/a":"a: b"}},
"data":{"<k>":"<a>&\u2028b","lines":"a\n  b\n\n","lead":"  a\nb","tab":"a\tb","quote":"it's \"so\"","hash":"a #b","date":"2026-01-02",
"long":"word word word word word word word word word word word word word word word word word word word word word",
"long quoted":"a: b word word word word word word word word word word word word word word word word word word word",
"emoji":"\ud83d\ude00","dashes":"---","null":"null","spaces":"   ","nl":"\n","cr":"a\r\nb","e":"1e3","star":"*x"}}
JSON
start_sim --nodes 3 --pods-per-node 20 --load "$T/awkward.json"
start_daemon --resource pods --resource services --resource nodes --resource deployments.apps --resource jobs.batch --resource configmaps \
	--index byApp='pods:metadata.labels["app.kubernetes.io/name"]'
wait_ready
export INFORMER_SOCKET=$S KUBECONFIG=$T/kubeconfig HOME=$T
ctl=$B/informerctl

same() {
	kubectl get "$@" >"$T/kubectl.out" || fail "kubectl get $*"
	"$ctl" get "$@" >"$T/ctl.out" || fail "informerctl get $*"
	cmp "$T/kubectl.out" "$T/ctl.out" || { diff "$T/kubectl.out" "$T/ctl.out" | head -20; fail "get $* differs from kubectl's"; }
}
ns=$(kubectl get pods -A -o json | jq -r '.items[0].metadata.namespace')
name=$(kubectl get pods -A -o json | jq -r '.items[0].metadata.name')
node=$(kubectl get nodes -o json | jq -r '.items[0].metadata.name')
app=$(kubectl get pods -A -o json | jq -r '[.items[].metadata.labels["app.kubernetes.io/name"] | select(.)][0]')
for format in json yaml name; do
	for resource in pods services deployments.apps configmaps; do same "$resource" -A -o "$format"; done
	same nodes -o "$format"
	same pods -n "$ns" -o "$format"
	same pod "$name" -n "$ns" -o "$format"
	same "pod/$name" -n "$ns" -o "$format"
	same pods -A -l "app.kubernetes.io/name=$app" -o "$format"
	same pods -A -l "app.kubernetes.io/name notin ($app)" -o "$format"
	same pods -n nosuch -o "$format"
done
kubectl get pods -A -o json | jq -S . >"$T/kubectl.json"
"$ctl" get pods -A -o json | jq -S . >"$T/ctl.json"
cmp "$T/kubectl.json" "$T/ctl.json" || fail "documents differ"

# An index finds what a field selector finds.
[ "$("$ctl" get pods -A --field-selector "spec.nodeName=$node,status.phase!=Failed" -o name)" = \
	"$(kubectl get pods -A --field-selector "spec.nodeName=$node,status.phase!=Failed" -o name)" ] || fail "--field-selector"
[ "$("$ctl" get pods -A --index "nodeName=$node" -o name)" = "$(kubectl get pods -A --field-selector "spec.nodeName=$node" -o name)" ] ||
	fail "--index nodeName"
[ "$("$ctl" get pods -A --index "byApp=$app" -o name)" = "$(kubectl get pods -A -l "app.kubernetes.io/name=$app" -o name)" ] ||
	fail "--index byApp"

# Tables: a heading, one row each, in the order of the server.
"$ctl" get po -A >"$T/table"
head -n 1 "$T/table" | grep -Eq '^NAMESPACE +NAME +READY +STATUS +RESTARTS +AGE$' || fail "heading: $(head -n 1 "$T/table")"
[ "$(tail -n +2 "$T/table" | awk '{print $1 "/" $2}')" = "$(kubectl get pods -A -o json | jq -r '.items[].metadata | .namespace + "/" + .name')" ] ||
	fail "rows are not in the server's order"
# The same order as kubectl's by a time, and by what only some have; kubectl leaves equal ones in any order.
for path in .metadata.creationTimestamp '{.metadata.name}'; do
	[ "$("$ctl" get pods -A --no-headers --sort-by="$path" | awk '{print $2}')" = "$(kubectl get pods -A --no-headers --sort-by="$path" | awk '{print $2}')" ] ||
		fail "--sort-by $path"
done
"$ctl" get pods -A -o json --sort-by='{.status.containerStatuses[0].restartCount}' |
	jq -e '[.items[] | .status.containerStatuses[0].restartCount // -1] | . == sort and (last > 0)' >/dev/null || fail "--sort-by a number"
[ "$("$ctl" get all -A -o name | sort)" = "$("$ctl" get pods,services,deployments.apps,jobs.batch -A -o name | sort)" ] || fail "all"
"$ctl" get svc,no -A | grep '^NAME .*STATUS .*ROLES' >/dev/null || fail "several resources"
"$ctl" get nodes --no-headers -L kubernetes.io/os --show-labels | grep ' linux ' >/dev/null || fail "label columns"

# A Deployment has the Pods of its ReplicaSet, which is not cached: each way to write it finds them.
owned=$(kubectl get pods -A -o json | jq -c '[.items[] | select(.metadata.ownerReferences[0].kind == "ReplicaSet")][0].metadata')
ns=$(jq -r .namespace <<<"$owned") rs=$(jq -r '.ownerReferences[0].name' <<<"$owned")
deployment=$(kubectl get replicasets "$rs" -n "$ns" -o json | jq -r '.metadata.ownerReferences[0].name')
kubectl get pods -n "$ns" -o json >"$T/all.json"
jq -r --arg rs "$rs" '.items[].metadata | select(.ownerReferences[0].name == $rs) | "pod/" + .name' "$T/all.json" >"$T/pods"
for workload in "deploy/$deployment" "Deployment/$deployment" "deployments.apps/$deployment" "rs/$rs"; do
	"$ctl" get pods -n "$ns" --workload "$workload" -o name | cmp - "$T/pods" || fail "--workload $workload"
done
"$ctl" get pods -A --workload "deploy/$deployment" --index "namespace=$ns" -o name | cmp - "$T/pods" || fail "--workload with --index"
[ -z "$("$ctl" get pods -n "$ns" --workload "deploy/$deployment" -l no=such -o name)" ] || fail "--workload with -l"

# A watch shows these Pods alone, and the deletion of one.
"$ctl" get pods -n "$ns" --workload "deploy/$deployment" -w -o name >"$T/watch" 2>"$T/watch.log" &
watch=$!
until_true cmp -s "$T/watch" "$T/pods" || fail "--workload with -w: $(cat "$T/watch" "$T/watch.log")"
mine=$(head -n 1 "$T/pods")
other=$(jq -r --arg rs "$rs" '[.items[].metadata | select(.ownerReferences[0].name != $rs) | "pod/" + .name][0]' "$T/all.json")
kubectl delete -n "$ns" "$other" "$mine" >/dev/null
shows() { tail -n +$(($(wc -l <"$T/pods") + 1)) "$T/watch" | grep -qx "$mine"; }
until_true shows || fail "no change: $(cat "$T/watch" "$T/watch.log")"
[ "$(grep -cx "$other" "$T/watch")" = 0 ] || fail "a Pod of another workload: $(cat "$T/watch")"
kill "$watch"

# A Pod whose Job is deleted before it is still seen to go from the CronJob's.
owner() { printf '"ownerReferences":[{"apiVersion":"batch/v1","kind":"%s","name":"%s","uid":"%s","controller":true}]' "$@"; }
exists() { "$ctl" get "$1" -n "$ns" >"$T/out" 2>&1; }
is_gone() { ! exists "$1"; }
shows() { grep -Eq "^$1 +night-1-a " "$T/watch"; }
uid=$(api POST "/apis/batch/v1/namespaces/$ns/jobs" -d "{\"metadata\":{\"name\":\"night-1\",$(owner CronJob night u1)}}" | jq -r .metadata.uid)
until_true exists job/night-1 || fail "no Job: $(cat "$T/out")"
"$ctl" get pods -n "$ns" --workload cj/night -w --output-watch-events >"$T/watch" 2>"$T/watch.log" &
watch=$!
api POST "/api/v1/namespaces/$ns/pods" -d "{\"metadata\":{\"name\":\"night-1-a\",$(owner Job night-1 "$uid")},\"spec\":{}}" >/dev/null
until_true shows ADDED || fail "no Pod of the CronJob: $(cat "$T/watch" "$T/watch.log")"
api DELETE "/apis/batch/v1/namespaces/$ns/jobs/night-1?propagationPolicy=Orphan" >/dev/null
until_true is_gone job/night-1 || fail "the Job is still there"
api DELETE "/api/v1/namespaces/$ns/pods/night-1-a?gracePeriodSeconds=0" >/dev/null
until_true shows DELETED || fail "no DELETED: $(cat "$T/watch" "$T/watch.log")"
kill "$watch"

# A reader that goes away ends it quietly.
"$ctl" get po -A -o json 2>"$T/stderr" | head -n 1 >/dev/null || [ "${PIPESTATUS[0]}" = 141 ] || fail "exit code with a closed pipe"
[ ! -s "$T/stderr" ] || fail "not quiet with a closed pipe: $(cat "$T/stderr")"
echo "same as kubectl"
