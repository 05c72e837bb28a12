#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh BUILD_DIR PODS_DIR PEER_DIR: build client-go's side where that is possible, then measure.
#
# The peer's program is built in a copy of its folder, together with our rounds.go, once; later runs find it. It reads its pods from
# ../data/real-pods. Whatever is missing for it is said in the rows that need it.
set -u
B=$1 PODS=$2 PEER=$3
here=$(dirname "$0")
work=$B/bench
program=$work/peer/peer
why=

if ! command -v go >/dev/null 2>&1; then
	why='Go is not installed'
elif [ ! -f "$PEER/go.mod" ]; then
	why="no client-go program at $PEER"
elif [ ! -d "$PODS" ]; then
	why="no real pods at $PODS"
elif [ ! -x "$program" ] || [ -n "$(find "$here/peer" "$PEER" -newer "$program" -name '*.go')" ]; then
	echo 'client-go: building its side, which may download modules; once' >&2
	rm -rf "$work/peer"
	mkdir -p "$work/peer"
	cp "$PEER"/*.go "$PEER"/go.mod "$PEER"/go.sum "$here"/peer/*.go "$work/peer/" && chmod -R u+w "$work/peer"
	# its server knows pods alone: it is given the discovery that informerd asks for, counts requests, and tells the port it was given
	sed -i -e 's/mux := http.NewServeMux()/mux := benchDiscovery(http.NewServeMux())/' \
		-e 's/http.Serve(cntLn{ln}, mux)/http.Serve(cntLn{ln}, benchTraffic(mux))/' \
		-e 's/"pods on", \*addr/"pods on", ln.Addr()/' "$work/peer/serve.go"
	if ! (cd "$work/peer" && GOFLAGS=-buildvcs=false go build -o peer .) >"$work/go-build.log" 2>&1; then
		rm -f "$program"
		why="go build failed: $(tail -n 1 "$work/go-build.log" | cut -c 1-160)"
	fi
fi
if [ -z "$why" ]; then
	rm -rf "$work/data"	# ours: holds this link alone, or is one
	mkdir "$work/data"
	ln -s "$(cd "$PODS" && pwd)" "$work/data/real-pods"
	set -- --client-go "$(cd "$work/peer" && pwd)/peer"
else
	set -- --no-client-go "$why"
fi
[ -d "$PODS" ] && set -- "$@" --pods "$PODS"
[ -n "${QUICK:-}" ] && set -- "$@" --quick
[ -n "${ONLY:-}" ] && set -- "$@" --only "$ONLY"
exec "$B/bench/bench" --build "$B" --json "$B/bench.json" --svg "$B/bench.svg" "$@"
