#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# client-go's own tests of informers, factories, indexers and listers pass over the node's cache. Their files, from Go's module cache, are put
# beside a copy of reader-lib/go/clientgo; tests/readers/client_go_own stands in for client-go's fakes and for the names of package cache.
# A test that is listed below does not pass, or is not run, for the reason that stands there. A listed test that passes, or that is gone, is an error.
# RACE=1: with Go's race detector.
# Not upstream: pods there need more than the tests give them.
# The first time Go takes minutes to build it.
# Takes 40 s.
. "$(dirname "$0")/../support/script.sh"
PATH=$PATH:/usr/local/go/bin
export GOTOOLCHAIN=local
skip() { echo "$*"; exit 77; }
command -v go >/dev/null || skip "there is no Go here"

# Not run: PACKAGE TEST REASON.
not_run="
cache TestResyncCheckPeriod it reads the informer's clock and periods
cache TestSharedInformerWatchDisruption it sets the informer's clock, and breaks a watch that is informerd's
cache TestListenerResyncPeriodsDelayed its delay is in a goroutine that is not there
cache TestSharedInformerHandlerAbuse it has tens of thousands of handlers, each a queue of informerd's
dynamicinformer TestWatchListSemanticsSimple its server answers requests that no informer makes here
metadatainformer TestWatchListSemanticsSimple the same
"
# Run: they fail.
differs="
cache TestSharedInformerErrorHandling informerd lists, and an informer of what is listed meets no error
dynamiclister TestListerGetMethod/scenario_1 an object of a namespaced resource has no namespace
metadatalister TestListerGetMethod/scenario_1 the same
"
# listed LIST PACKAGE: the names; pattern: of Go's flags
listed() { echo "$1" | awk -v package="$2" '$1 == package {print $2}'; }
pattern() { sed 's|^[^/]*|^&$|; s|/|/^|' | paste -sd '|'; }

own=tests/readers/client_go_own module=$T/own
[ -z "$(gofmt -l $own)" ] || fail "gofmt would change $(gofmt -l $own)"
mkdir "$module"
cp -r reader-lib/go/clientgo/*.go $own/* "$module"
informer=$PWD/reader-lib/go
in_module() { (cd "$module" && "$@"); }
{ in_module go mod edit -replace "informer=$informer" && in_module go mod download; } 2>"$T/go.log" ||
	skip "client-go cannot be fetched: $(tail -n 1 "$T/go.log")"
client_go=$(in_module go list -m -f '{{.Dir}}' k8s.io/client-go)

# put FROM TO SED...: one of client-go's files; import: it does, too; without: no function of these names
put() {
	mkdir -p "$(dirname "$module/$2")"
	sed "${@:3}" "$client_go/$1" >"$module/$2"
}
import() { printf '0,/^import (/s||import (\\n\\t"%s"|' "$1"; }
without() { sed 's|.*|/^func &(/,/^}/d|'; }
resource() { echo "schema.GroupVersionResource{Group: \"$1\", Version: \"$2\", Resource: \"$3\"}, "; }
fakes='s|"k8s.io/client-go/[a-z]*/fake"|fake "informer/clientgo/sim"|'
new_indexer='cache.NewIndexer(cache.MetaNamespaceKeyFunc, '
internals=$(printf '%s\n' eventHandlerCount isStarted isRegistered TestResyncCheckPeriod TestSharedInformerWatchDisruption | without)
for name in shared_informer index util; do
	put tools/cache/${name}_test.go ${name}_test.go -e 's|^package cache$|package clientgo|' -e "$internals" \
		-e '/"k8s.io\/utils\/clock\/testing"/d' -e 's|"k8s.io/client-go/tools/cache/testing"|"informer/clientgo/sim"|' \
		-e 's|"testing/synctest"|"informer/clientgo/sim/synctest"|'
done
# of apps/v1 the server checks the fields, and a CRD's version is no "version"
put dynamic/dynamicinformer/informer_test.go dynamicinformer/informer_test.go -e "$fakes" -e "$(import informer/clientgo)" \
	-e 's/dynamicinformer\.New/clientgo.New/' -e 's|Group: "apps", Version: "v1"|Group: "extensions", Version: "v1beta1"|; s|"apps/v1", "Dep|"extensions/v1beta1", "Dep|'
put metadata/metadatainformer/informer_test.go metadatainformer/informer_test.go -e "$fakes" -e "$(import informer/clientgo)" \
	-e 's/= NewFilteredShared/= clientgo.NewFilteredMetadataShared/; s/= NewShared/= clientgo.NewMetadataShared/'
put dynamic/dynamiclister/lister_test.go dynamiclister/lister_test.go -e "$(import informer/clientgo/indexer)" -e 's|group/version|group/v1|' \
	-e "s|$new_indexer|indexer.New(\&unstructured.Unstructured{}, $(resource group v1 thekinds)|"
put metadata/metadatalister/lister_test.go metadatalister/lister_test.go -e "$(import informer/clientgo/indexer)" -e 's|group/version|group/v1|' \
	-e "$(import k8s.io/client-go/metadata/metadatalister)" -e 's/:= New(/:= metadatalister.New(/' \
	-e "s|$new_indexer|indexer.New(\&metav1.PartialObjectMetadata{}, $(resource group v1 thekinds)|"
put listers/extensions/v1beta1/daemonset_expansion_test.go extensions/lister_test.go -e "$(import informer/clientgo/indexer)" \
	-e "$(import k8s.io/client-go/listers/extensions/v1beta1)" -e 's/:= New/:= v1beta1.New/' \
	-e "s|$new_indexer|indexer.New(\&extensions.DaemonSet{}, extensions.SchemeGroupVersion.WithResource(\"daemonsets\"), |"
mkdir "$module/bin"
in_module go test -ldflags=-w -c ${RACE:+-race} -o bin ./... >"$T/go.log" 2>&1 || fail "the tests"
mv "$module/bin/clientgo.test" "$module/bin/cache.test"

mkdir "$T/arena"
start_sim --nodes 1 --pods-per-node 1 --history 1000000 --crd deployments/Deployment.v1beta1.extensions \
	--crd daemonsets/DaemonSet.v1beta1.extensions --crd thekinds/TheKind.v1.group
start_daemon --arena-dir "$T/arena" --resource pods --resource deployments.apps --resource deployments.v1beta1.extensions \
	--resource daemonsets.v1beta1.extensions --resource thekinds.v1.group
wait_ready
export INFORMER_SOCKET=$S KUBECONFIG=$T/kubeconfig

for test in "$module"/bin/*.test; do
	package=$(basename "$test" .test)
	"$test" -test.v -test.timeout 300s -test.skip "$(listed "$not_run$differs" "$package" | pattern)" >"$T/$package.out" 2>&1 || {
		mv "$T/$package.out" "$T/$package.log"
		fail "$package"
	}
	echo "$package: $(grep -c '^--- PASS' "$T/$package.out") tests pass"
	for name in $(listed "$not_run$differs" "$package"); do
		grep -rq --include='*_test.go' "^func ${name%/*}(" "$client_go" || fail "client-go has no $name any more"
	done
	for name in $(listed "$differs" "$package"); do
		! "$test" -test.v -test.run "$(echo "$name" | pattern)" >"$T/$package.out" 2>&1 || fail "$name passes"
		grep -q -e "--- FAIL: $name" "$T/$package.out" || fail "$name was not run"
	done
done
echo ok
