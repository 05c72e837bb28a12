#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What informerctl rbac prints is enough by upstream's RBAC, and no more: an informerd whose ServiceAccount has no rights reads it off, and
# syncs once it is granted. kubectl reads the YAML. (The server has no RBAC resources: its authorizer reads the objects from a file.)
# Takes 30 s.
SERVER=apiserver
. "$(dirname "$0")/../support/script.sh"
command -v kubectl >/dev/null || { echo "SKIP kubectl is missing"; exit 77; }
ctl() { "$B"/informerctl --socket "$S" "$@"; }
discovery='{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":"discovery"},
	"rules":[{"nonResourceURLs":["/api","/api/*","/apis","/apis/*","/version"],"verbs":["get"]}]},
	{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding","metadata":{"name":"discovery"},
	"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"discovery"},"subjects":[{"kind":"Group","name":"system:authenticated"}]}'
# granted [FILE]: besides discovery, what is in this manifest
granted() {
	{
		echo "{\"items\":[$discovery]}"
		[ $# = 0 ] || kubectl annotate --local -f "$1" test=test -o json
	} | jq -s '{items: map(.items // [.]) | add | map(select(.apiVersion | startswith("rbac.")))}' >"$T/rbac.new" || fail "kubectl does not read it"
	mv "$T/rbac.new" "$T/rbac.json"
}
# may VERB PATH: the code that the account gets
may() { curl -q -s -o /dev/null -w '%{http_code}' --cacert "$T/server.ca" -H 'Authorization: Bearer account-token' -X "$1" "$url$2"; }

echo 'account-token,system:serviceaccount:agents:reader,u1,"system:serviceaccounts,system:serviceaccounts:agents"' >"$T/users.csv"
granted
start_sim --nodes 2 --pods-per-node 3 --rbac "$T/rbac.json" --token-file "$T/users.csv"
for name in one two; do
	curl -sf -o /dev/null "$url/api/v1/namespaces/web/configmaps" -H 'Content-Type: application/json' -d '{"metadata":{"name":"'$name'"}}' || fail "no configmap"
done
sed -i 's/token: .*/token: account-token/' "$T/kubeconfig"
start_daemon -r 'pods?fieldSelector=spec.nodeName=node-1' -r services -r deployments.apps -r 'configmaps?namespace=web'
until_true stat_is '[.resources[].activity] | unique | join(" ")' refused || fail "not refused: $(stat '[.resources[].activity]')"
logged 'informerctl rbac' || fail "the refusal does not name the command"
[ "$(may GET /api/v1/pods)" = 403 ] || fail "the account may list pods before"

ctl rbac --name reader -n agents --gateway >"$T/rbac.yaml" || fail "informerctl rbac: $?"
grep -q '^# .*selectors.*: pods$' "$T/rbac.yaml" || fail "no word about selectors"
granted "$T/rbac.yaml"
jq -r '.items[] | .kind' "$T/rbac.json" | sort | uniq -c | awk '{print $2 $1}' | tr '\n' ' ' >"$T/kinds"
[ "$(cat "$T/kinds")" = 'ClusterRole2 ClusterRoleBinding3 Role1 RoleBinding1 ' ] || fail "$(cat "$T/kinds")"
wait_ready
stat_is '[.resources[].state] | unique | join(" ")' synced || fail "$(stat '.resources')"
stat_is '.resources[3].objects' 2 || fail "$(stat '.resources[3].objects') configmaps"
# the account may get what tells clusters apart, and nothing that is not cached
[ "$(may GET /api/v1/namespaces/kube-system)" = 200 ] || fail "kube-system is hidden"
for no in "GET /api/v1/configmaps" "GET /api/v1/secrets" "GET /api/v1/namespaces" "GET /api/v1/namespaces/default" \
	"GET /api/v1/namespaces/default/pods/x" "DELETE /api/v1/namespaces/default/pods/x"; do
	[ "$(may $no)" = 403 ] || fail "$no: $(may $no)"
done
echo ok
