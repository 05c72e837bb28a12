#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh BUILD_DIR PODS_DIR: build client-go's side (peer/) where that is possible, then measure, on real pods (REAL_PODS) or on those
# that make has generated. Whatever is missing is said in the rows that need it.
set -u
B=$1 PODS=$2
here=$(dirname "$0")
program=$(cd "$B/bench" && pwd)/peer
why=

if ! command -v go >/dev/null 2>&1; then
	why='Go is not installed'
elif [ ! -x "$program" ] || [ -n "$(find "$here/peer" -newer "$program" -type f)" ]; then
	echo 'client-go: building its side, which may download modules; once' >&2
	rm -rf "$program"
	if ! (cd "$here/peer" && go build -buildvcs=false -o "$program" .) >"$B/bench/go-build.log" 2>&1; then
		why="go build failed: $(tail -n 1 "$B/bench/go-build.log" | cut -c 1-160)"
	fi
fi
set -- --pods "$PODS"
if [ -z "$why" ]; then set -- "$@" --client-go "$program"; else set -- "$@" --no-client-go "$why"; fi
[ -n "${QUICK:-}" ] && set -- "$@" --quick
[ -n "${WIRE:-}" ] && set -- "$@" --wire "$WIRE"
[ -n "${UPSTREAM_PODS:-}" ] && set -- "$@" --upstream-pods "$UPSTREAM_PODS"
[ -n "${ONLY:-}" ] && set -- "$@" --only "$ONLY"
exec "$B/bench/bench" --build "$B" --json "$B/bench.json" "$@"
