#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# client-go's factories and controller-runtime's cache over the node's cache, beside client-go, on upstream's API server: the tests of
# ../long/readers_clientgo.sh but those of decoding, and of resources that this server has not, or informerd has not here.
# The first time Go takes minutes to build it.
# Takes 40 s.
. "$(dirname "$0")/../support/script.sh"
PATH=$PATH:/usr/local/go/bin
(cd tests/readers/clientgo && GOTOOLCHAIN=local go test -c -o "$T/go_test" .) || fail "the tests"
mkdir "$T/arena"
start() {
	start_daemon --arena-dir "$T/arena" --resource pods --resource nodes --resource services --resource namespaces --resource configmaps \
		--resource deployments.apps --resource endpointslices.discovery.k8s.io
}
start_sim --nodes 10 --pods-per-node 30
start
wait_ready
export SOCKET=$S KUBECONFIG=$T/kubeconfig
. tests/support/restarts.sh
with_restarts "$T/go_test" -test.timeout 300s -test.skip 'Decode|TestTypes|NotCached|APartIsCached' || fail "client-go's informers over the cache"
echo ok
