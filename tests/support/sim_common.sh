# SPDX-License-Identifier: Apache-2.0
# Shared by the sim_*.sh tests: a scratch folder, informer-sim started in it, curl.
#
# With SERVER=apiserver it is upstream's own (tests/apiserver): for the scripts that tests/module.mk has in APISERVER_E2E.
#
#   start FLAG...    start it; sets URL, KUBECONFIG, SIM (pid)
#   api METHOD PATH [curl's arguments]   the body on stdout
#   code METHOD PATH [...]               the HTTP code
#   same WHAT EXPECTED GOT               fail unless equal
#   until_true WHAT COMMAND...           wait for a fact, PATIENCE seconds at most: far more than any needs
set -u
B=${B:-build}
case $B in /*) ;; *) B=$(cd "$(dirname "$0")/../.." && pwd)/$B ;; esac
BIN=$B/informer-sim
[ "${SERVER:=sim}" = sim ] || BIN=$B/apiserver
[ -x "$BIN" ] || { echo "no $BIN: make apiserver builds it, where Go is installed"; exit 77; }
for tool in curl jq; do
	command -v $tool >/dev/null || { echo "needs $tool, which is not installed"; exit 77; }
done
DIR=$(mktemp -d)
PIDS=
cleanup() {
	for p in $PIDS; do kill "$p" 2>/dev/null; done
	wait 2>/dev/null
	rm -rf "$DIR"
}
trap cleanup EXIT
trap 'exit 1' INT TERM

fail() {
	echo "FAILED: $*"
	[ -s "$DIR/err" ] && cat "$DIR/err"
	exit 1
}

same() {
	[ "$2" = "$3" ] || fail "$1
expected: $2
got:      $3"
	echo "ok: $1"
}

: "${PATIENCE:=300}"
until_true() {
	local what=$1 deadline=$((SECONDS + PATIENCE))
	shift
	until "$@"; do
		[ "$SECONDS" -lt "$deadline" ] || fail "never happened: $what"
		sleep 0.05
	done
	echo "ok: $what"
}

ready() {
	grep -q '^READY ' "$DIR/out" || ! kill -0 "$SIM" 2>/dev/null
}

start() {
	: >"$DIR/out"
	[ "$SERVER" = sim ] || set -- --plain --data-dir "$DIR/data" "$@"
	"$BIN" --port 0 --write-kubeconfig "$DIR/kubeconfig" "$@" >"$DIR/out" 2>"$DIR/err" &
	SIM=$!
	PIDS="$PIDS $SIM"
	until_true "it starts" ready
	grep -q '^READY ' "$DIR/out" || fail "it ended instead of serving"
	URL=$(sed 's/.* url=\([^ ]*\) .*/\1/' "$DIR/out")
	export KUBECONFIG=$DIR/kubeconfig
}

api() {
	local method=$1 path=$2
	shift 2
	curl -s -X "$method" -H 'Content-Type: application/json' "$@" "$URL$path"
}

code() {
	api "$@" -o /dev/null -w '%{http_code}'
}

# A Status body's fields that matter: code, reason, message
status() {
	api "$@" | jq -r '"\(.code) \(.reason) \(.message)"'
}
