#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# client-go's factories over the node's cache: listers, indexes and handlers have what the API server has, each change in order, also when
# informerd is killed and its arena is lost. Objects in the types of k8s.io/api are what encoding/json makes of their JSON: of all resources that
# the sim has, of $REAL_PODS (else of the pods that make has generated), and while pods change.
# RACE=1: with Go's race detector, which checks pointers, too. BENCH=1: also how long decoding takes, beside client-go's decoders.
# Not upstream: it needs hundreds of changes a second.
# The first time Go takes minutes to build it.
# Takes 60 s.
. "$(dirname "$0")/../support/script.sh"
PATH=$PATH:/usr/local/go/bin
skip() { echo "$*"; exit 77; }
go_in() { (cd "$1" && shift && GOTOOLCHAIN=local go "$@"); }
command -v go >/dev/null || skip "there is no Go here"
go_in tests/readers/clientgo mod download 2>"$T/go.log" || skip "client-go cannot be fetched: $(tail -n 1 "$T/go.log")"
modules=(reader-lib/go/clientgo tests/readers/clientgo)
[ -z "$(gofmt -l "${modules[@]}")" ] || fail "gofmt would change $(gofmt -l "${modules[@]}")"
for module in "${modules[@]}"; do go_in "$module" vet ./... || fail "go vet $module"; done
go_in tests/readers/clientgo test -c ${RACE:+-race} -o "$T/go_test" . || fail "the tests"

mkdir "$T/arena"
resources=()
for resource in pods nodes services namespaces configmaps secrets {deployments,replicasets,daemonsets}.apps cronjobs.batch \
	poddisruptionbudgets.policy leases.coordination.k8s.io endpointslices.discovery.k8s.io \
	"jobs.batch?namespace=default&labelSelector=cached&metadataOnly=true"; do
	resources+=(--resource "$resource")
done
echo "allowSecrets: true" >"$T/config.yaml"
start() { start_daemon --config "$T/config.yaml" --arena-dir "$T/arena" "${resources[@]}"; }
start_sim --nodes 10 --pods-per-node 30 --load "${REAL_PODS:-$B/pods}" --load tests/readers/clientgo/objects.json --history 1000000 \
	--crd poddisruptionbudgets/PodDisruptionBudget.v1.policy --crd leases/Lease.v1.coordination.k8s.io \
	--crd ingresses/Ingress.v1.networking.k8s.io # which informerd does not cache
start
wait_ready
export SOCKET=$S KUBECONFIG=$T/kubeconfig
[ -z "${BENCH:-}" ] || "$T/go_test" -test.run '^$' -test.bench . || fail "the benchmarks"
. tests/support/restarts.sh
with_restarts "$T/go_test" -test.timeout 300s -test.skip Decode || fail "client-go's informers over the cache"
curl -sf -X POST "$url/sim/churn?rate=200" >/dev/null
"$T/go_test" -test.timeout 300s -test.run Decode || fail "Go's types"
echo ok
