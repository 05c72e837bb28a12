#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# informerctl get prints what kubectl prints: JSON, YAML and names of a generated cluster, and of objects full of awkward
# texts, are the same bytes as kubectl's against the same server; selectors, indexes and names find the same objects.
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
start_daemon --resource pods --resource services --resource nodes --resource deployments.apps --resource configmaps \
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
[ "$("$ctl" get all -A -o name | sort)" = "$("$ctl" get pods,services,deployments.apps -A -o name | sort)" ] || fail "all"
"$ctl" get svc,no -A | grep '^NAME .*STATUS .*ROLES' >/dev/null || fail "several resources"
"$ctl" get nodes --no-headers -L kubernetes.io/os --show-labels | grep ' linux ' >/dev/null || fail "label columns"

# A reader that goes away ends it quietly.
"$ctl" get po -A -o json 2>"$T/stderr" | head -n 1 >/dev/null || [ "${PIPESTATUS[0]}" = 141 ] || fail "exit code with a closed pipe"
[ ! -s "$T/stderr" ] || fail "not quiet with a closed pipe: $(cat "$T/stderr")"
echo "same as kubectl"
