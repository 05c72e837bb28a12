# SPDX-License-Identifier: Apache-2.0
# For end-to-end tests: client-go's side of a comparison (tests/bench/peer). Sourced after script.sh; the test is skipped where it cannot be had.
command -v go >/dev/null || { echo "Go is not installed: there is no client-go to compare with"; exit 77; }
mkdir -p "$B/bench"
peer=$(cd "$B/bench" && pwd)/peer

# build_peer OUTPUT FLAGS...: the program, with the client-go of a go.mod
build_peer() {
	(cd tests/bench/peer && go list "${@:2}" -deps .) >"$T/modules" 2>&1 ||
		{ echo "client-go's modules are not here, and cannot be had: $(tail -n 1 "$T/modules")"; exit 77; }
	(cd tests/bench/peer && go build "${@:2}" -buildvcs=false -o "$1" .) 2>"$T/build.log" || fail "tests/bench/peer does not build"
}
build_peer "$peer"
