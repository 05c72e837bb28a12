#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Readers of all languages answer alike, and as the API server: tests/readers has the cases and how the drivers speak. Go's reader keeps its own
# promises, too: what was ended is closed, memory that is gone is an error, nothing is allocated.
# READERS ('c go'), CASES and SEED narrow. LONG=1: 10,000 drawn look-ups, 200 damaged arenas, and Go's race detector, which checks pointers, too.
# Not upstream: it needs hundreds of changes a second.
# Takes 110 s.
. "$(dirname "$0")/../support/script.sh"
if [ -n "${LONG:-}" ]; then export LOOKUPS=10000 DAMAGES=200; fi
: "${READERS:=c go}"
wanted() { case " $READERS " in *" $1 "*) ;; *) return 1 ;; esac; }
drivers=()
! wanted c || drivers+=("$B/tests/reader_driver")
PATH=$PATH:/usr/local/go/bin
go_in() { (cd "$1" && shift && GOTOOLCHAIN=local go "$@"); }
if ! wanted go; then
	:
elif ! command -v go >/dev/null; then
	echo "without Go's reader: there is no Go here"
elif ! go_in tests/readers/go mod download 2>"$T/go.log"; then
	echo "without Go's reader: $(tail -n 1 "$T/go.log")"
else
	[ -z "$(gofmt -l reader-lib/go tests/readers/go)" ] || fail "gofmt would change $(gofmt -l reader-lib/go tests/readers/go)"
	for module in reader-lib/go tests/readers/go; do go_in "$module" vet . || fail "go vet $module"; done
	go_in reader-lib/go test . >"$T/go_unit.log" || fail "Go's hashes: $(cat "$T/go_unit.log")"
	go_in tests/readers/go build -o "$T/go" . || fail "Go's driver"
	go_in tests/readers/go test -c ${LONG:+-race} -o "$T/go_test" . || fail "Go's tests"
	drivers+=("$T/go")
fi
mkdir "$T/arena"
echo 'tombstones: {count: 50}' >"$T/config.yaml"
start() {
	start_daemon --config "$T/config.yaml" --resource pods --resource widgets.v1.example.com --arena-dir "$T/arena" \
		--resource namespaces --resource nodes --resource services --resource endpointslices.discovery.k8s.io \
		--resource replicasets.apps --resource deployments.apps --resource daemonsets.apps --resource 'configmaps?onDemand=true' \
		--index cut=pods:spec.nodeName:prefix=4 --index csv=widgets:spec.csv:split=, --index number=widgets:spec.number --index flag=widgets:spec.flag
}
start_sim --nodes 10 --pods-per-node 30 --history 1000000 --crd widgets.v1.example.com
start
wait_ready

. tests/support/restarts.sh
with_restarts python3 tests/readers/suite.py "$S" "$url" "$T/arena" "${drivers[@]}" || fail "a reader answers otherwise"

if [ -e "$T/go_test" ]; then
	cp -r "$T/arena" "$T/quiet" # an arena that nobody writes into
	curl -sf -X POST "$url/sim/churn?rate=200" >/dev/null
	URL=$url SOCKET=$S ARENA_DIR=$T/quiet "$T/go_test" -test.timeout 300s || fail "Go's reader"
fi
echo ok
