#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# kubectl reads from a gateway as from the API server, in every form, and while the API server is away, which it is then warned of. (What it
# prints, writes and passes on is compared with upstream by upstream's gateway_same_for_kubectl.sh.)
# Not upstream: nodes -o wide differ there; upstream/gateway_same_for_kubectl.sh compares the rest.
# Takes 24 s.
. "$(dirname "$0")/../support/script.sh"
command -v kubectl >/dev/null || { echo "SKIP: kubectl is not installed"; exit 77; }
export HOME=$T # its cache

start_sim --nodes 3 --pods-per-node 10
start_daemon --resource pods --resource nodes --resource deployments.apps
wait_ready
start_open_gateway '' 'drain: 1s'
until_true reached "$(newest_rv)" || fail "it does not come up to the server"
here() { kubectl --server "$gateway_url" "$@" 2>"$T/err"; }
there() { kubectl --kubeconfig "$T/kubeconfig" "$@" 2>"$T/err.there"; }
ages() { sed -E 's/ +/ /g; s/(^| )([0-9]+[dhm])*[0-9]+[smhd]( |$)/\1AGE\3/g'; }
read -r ns pod < <(there get pods -A --no-headers -o custom-columns=N:.metadata.namespace,P:.metadata.name | head -n 1)
for what in "pods -A" "pods -A -o wide" "pods -A -o name" "pods -A -o json" "pod $pod -n $ns -o yaml" "pod $pod -n $ns -o jsonpath={.spec.nodeName}" \
		"pods -A -o custom-columns=N:.metadata.name,P:.status.phase" "pods -A -l app" "pods -A --field-selector spec.nodeName!=x" \
		"nodes -o wide" "pods,nodes -A -o name" "pods -A --chunk-size=7 -o name" "deploy -A"; do
	# shellcheck disable=SC2086
	[ "$(here get $what | ages)" = "$(there get $what | ages)" ] || fail "get $what: $(cat "$T/err")"
done
here describe node "$(here get nodes -o name | head -n 1 | cut -d / -f 2)" >"$T/out" || fail "describe: $(cat "$T/err")"
here wait --for=delete pod/nobody --timeout=5s || fail "wait: $(cat "$T/err")"
! here get podz -A || fail "podz"
grep -q "the server doesn't have a resource type \"podz\"" "$T/err" || fail "podz: $(cat "$T/err")"
! here get configmaps || fail "what is not cached"
[ -s "$T/err" ] || fail "nothing is said of what is not cached"

# a watch, and what it is told
kubectl --server "$gateway_url" get pods -n "$ns" -w --output-watch-events >"$T/watch" 2>&1 &
until_true grep -q "$pod" "$T/watch" || fail "no watch: $(cat "$T/watch")"
watching() { [ "$(metric informer_gateway_watches)" = 1 ]; }
until_true watching || fail "it does not watch"
there delete pod "$pod" -n "$ns" --wait=false >"$T/out"
until_true grep -q "^DELETED.* $pod" "$T/watch" || fail "the watch does not hear it: $(cat "$T/watch")"

# the server is away
here api-resources >"$T/resources" || fail "api-resources: $(cat "$T/err")"
here get pods -A -o name >"$T/before"
stop_sim
rm -rf "$T/.kube"
warned() { here get pods -A -o name >"$T/after" && grep -q '^Warning: the API server was last heard of' "$T/err"; }
until_true warned || fail "no warning: $(cat "$T/err")"
cmp -s "$T/before" "$T/after" || fail "other pods while the server is away"
here api-resources >"$T/after" || fail "discovery while the server is away: $(cat "$T/err")"
cmp -s "$T/resources" "$T/after" || fail "discovery differs while the server is away"
stop_gateway TERM
[ "$code" = 0 ] || fail "exit code $code: $(cat "$gateway_log")"
echo ok
