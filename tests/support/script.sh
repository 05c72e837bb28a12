# SPDX-License-Identifier: Apache-2.0
# Sourced by each script, with B set to the build directory: a directory $T of the script's own, which goes when the script ends,
# however it ends, as does all that was started; the API server, informerd, informer-gateway; and words for asking them.
set -eu
: "${B:=build}"
# A script that has set LISTENING_AT, to nothing, begins anew with a listening socket, descriptor 9, and its address in LISTENING_AT.
if [ -n "${LISTENING_AT+said}" ] && [ -z "$LISTENING_AT" ]; then
	exec python3 -c '
import os, socket, sys
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen(128)
os.dup2(s.fileno(), 9, inheritable=True)
os.environ["LISTENING_AT"] = "127.0.0.1:%d" % s.getsockname()[1]
os.execvp("bash", ["bash"] + sys.argv[1:])' "$0"
fi
T=$(mktemp -d "${TMPDIR:-/tmp}/informer-e2e-XXXXXX")
S=$T/s.sock
sim_pid= daemon_pid= notify_pid=
sim_port=0

fail() {
	echo "FAILED: $*"
	for f in "$T"/*.log; do
		[ -e "$f" ] && { echo "--- $f"; tail -n 40 "$f"; }
	done
	exit 1
}

# All that the script started in the background is killed at its end, stopped or not; then what stands in at_end is done, the last first.
at_end=()
clean_up() {
	local i
	{
		kill -9 $(jobs -p) || true
		wait || true
	} 2>/dev/null
	for ((i = ${#at_end[@]} - 1; i >= 0; i--)); do
		eval "${at_end[i]}" || true
	done
	rm -rf "$T"
}
trap clean_up EXIT
trap 'exit 1' INT TERM

# Built with a sanitizer, informerd takes terabytes of address space, several times the memory, and keeps what it frees for a while.
sanitized() { ldd "$B/informerd" | grep -q 'lib[a-z]*san'; }
# What is preloaded may come before the sanitizer.
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:verify_asan_link_order=0"

# until_true COMMAND...: wait for a fact, PATIENCE seconds at most. That is far more than any needs, also where all processors are
# busy: the waiting ends with the fact.
: "${PATIENCE:=300}"
until_true() {
	local deadline=$((SECONDS + PATIENCE))
	until "$@" >/dev/null 2>&1; do
		[ "$SECONDS" -lt "$deadline" ] || return 1
		sleep 0.05
	done
}

# catches PID SIGNAL: what was started there has come so far that it has a handler for the signal, which would only end it before. Or it has
# ended by itself, which is seen by who waits for it.
catches() {
	local name state mask
	read -r name state mask < <(awk '/^(Name|State|SigCgt):/ {printf "%s ", $2} END {print ""}' "/proc/$1/status")
	# until its exec it is this script's twin
	[ "$state" = Z ] || { [ "$name" != bash ] && [ $((16#$mask >> ($(kill -l "$2") - 1) & 1)) = 1 ]; }
}

# start_sim FLAGS...: an API server; sets sim_pid, url, and sim_port, on which the next one listens again. It is informer-sim, or,
# with SERVER=apiserver, upstream's own (tests/apiserver), to which the flags are translated. That one has TLS and wants its token, unless
# server_is_plain says that what stands before it, or asks it, can do neither.
: "${SERVER:=sim}"
server_is_plain=
start_sim() {
	case $SERVER in
	sim) start_server informer-sim "$@" ;;
	*) . "$(dirname "${BASH_SOURCE[0]}")/apiserver.sh"; start_apiserver "$@" ;;
	esac
}

# start_server PROGRAM FLAGS...
start_server() {
	: >"$T/sim.out" # so that the READY of the one before is not taken for this one's
	"$B/$1" --port "$sim_port" --write-kubeconfig "$T/kubeconfig" "${@:2}" >>"$T/sim.out" 2>>"$T/sim.log" &
	sim_pid=$!
	started_or_ended() { grep -q ^READY "$T/sim.out" || ! kill -0 "$sim_pid"; }
	until_true started_or_ended || true
	grep -q ^READY "$T/sim.out" || fail "$1 does not start"
	url=$(sed -n 's/^READY url=\([^ ]*\).*/\1/p' "$T/sim.out")
	sim_port=${url##*:}
}

stop_sim() {
	kill -9 "$sim_pid"
	wait "$sim_pid" 2>/dev/null || true
	sim_pid=
}
# end_sim: by SIGTERM, after which it leaves nothing to say
end_sim() {
	kill "$sim_pid"
	wait "$sim_pid" || fail "the API server ends with $? after SIGTERM"
	sim_pid=
}

# forget_history: what changed so far cannot be watched any more. (Upstream's server still has it in its memory, and goes and comes back.)
forget_history() {
	curl -sf -X POST "$url/sim/compact" >/dev/null || fail "not compacted"
	[ "$SERVER" = sim ] || { stop_sim; start_sim; }
}

# start_daemon FLAGS...: sets daemon_pid; what it logs is in $T/daemon.log, what it told systemd in $notify_log: a listener
# of its own, so that nothing its predecessor said is mistaken for its word. WIRE=json or WIRE=protobuf is its --wire; else it is auto.
starts=0
start_daemon() { start_daemon_as --kubeconfig "$T/kubeconfig" "$@"; }
# without a kubeconfig
start_daemon_as() {
	starts=$((starts + 1))
	notify_log=$T/notify.$starts.log
	[ -z "$notify_pid" ] || kill "$notify_pid"
	"$B"/tests/notify_listen "$T/notify.$starts" >"$notify_log" &
	notify_pid=$!
	until_true grep -q LISTENING "$notify_log" || fail "notify_listen does not start"
	NOTIFY_SOCKET=$T/notify.$starts "${INFORMERD:-$B/informerd}" --socket "$S" --arena-dir "$T" ${WIRE:+--wire "$WIRE"} "$@" 2>>"$T/daemon.log" &
	daemon_pid=$!
}

wait_ready() {
	until_true grep -q '^READY=1' "$notify_log" || fail "informerd is not ready"
}

# stop_daemon SIGNAL: ends it; the exit code is in $code.
stop_daemon() {
	code=0
	kill "-$1" "$daemon_pid"
	wait "$daemon_pid" 2>/dev/null || code=$?
	daemon_pid=
}

# stat FILTER: a jq expression on the daemon's report.
stat() {
	"$B"/tests/stat_query "$S" | jq -r "$1"
}

# stat_is FILTER VALUE
stat_is() {
	[ "$(stat "$1")" = "$2" ]
}

# expect_stat FILTER VALUE: it comes to that.
expect_stat() {
	until_true stat_is "$1" "$2" || fail "$1 is $(stat "$1"), not $2"
}

# lists RESOURCE: LIST and WatchList requests that the server answered so far (informer-sim's metrics call the latter WATCH).
lists() {
	{
		curl -s "$url/metrics" | awk -v resource="resource=\"$1\"" 'index($0, resource) &&
			(/^apiserver_request_total{.*verb="LIST"/ || /^apiserver_watch_list_duration_seconds_count/) {print $NF}'
		[ "$SERVER" != sim ] || curl -s "$url/sim/log" | grep -c "^WATCHLIST $1 .*-> 200" || true
	} | awk '{n += $1} END {print n + 0}'
}

# asleep PID: all its threads wait, traced or not: none runs, and none is stopped by its tracer.
asleep() {
	local thread
	for thread in /proc/"$1"/task/*/stat; do
		sed 's/.*) //' "$thread" | grep -q ^S || return 1
	done
}

# logged PATTERN: informerd says, or has said, so.
logged() {
	until_true grep -q -- "$1" "$T/daemon.log"
}

# churn_over: all changes that were ordered of the server are made.
churn_over() {
	[ "$(curl -s "$url/sim/stats" | jq .churn.running)" = false ]
}

# on_server PATH: how many items the server has.
on_server() {
	curl -s "$url$1" | jq '.items | length'
}

# ---- the API server, asked directly: for scripts about the server itself

# same WHAT EXPECTED GOT: fail unless equal
same() {
	[ "$2" = "$3" ] || fail "$1
expected: $2
got:      $3"
	echo "ok: $1"
}

# api METHOD PATH [curl's arguments]: the body on stdout; code: the HTTP code; status: code, reason and message of a Status
api() { curl -s -X "$1" -H 'Content-Type: application/json' "${@:3}" "$url$2"; }
code() { api "$@" -o /dev/null -w '%{http_code}'; }
status() { api "$@" | jq -r '"\(.code) \(.reason) \(.message)"'; }

# ---- informer-gateway, before the arena of $S

gateway_pid= gateway_url=
gateway_starts=0

# gateway_file LISTENER [FIELD...]: $T/gateway.yaml, with one listener of these fields, "listen: '127.0.0.1:0', ...", and others, as "drain: 1s"
gateway_file() { printf '%s\n' "listeners: [{$1}]" "${@:2}" >"$T/gateway.yaml"; }
# start_gateway FLAGS...: with its one listener; sets gateway_pid and gateway_url. What it logs is in $T/gateway.N.log, the newest is $gateway_log.
start_gateway() {
	gateway_starts=$((gateway_starts + 1))
	gateway_log=$T/gateway.$gateway_starts.log
	"${GATEWAY:-$B/informer-gateway}" --socket "$S" --kubeconfig "$T/kubeconfig" "$@" 2>"$gateway_log" &
	gateway_pid=$!
	listens_or_ended() { grep -q 'listening at ' "$gateway_log" || ! kill -0 "$gateway_pid"; }
	until_true listens_or_ended || true
	gateway_url=$(sed -n 's/.*listening at \([^ ]*\) .*/\1/p' "$gateway_log" | head -n 1)
	[ -n "$gateway_url" ] || fail "informer-gateway does not listen: $(cat "$gateway_log")"
}
# start_open_gateway [LISTENER [FIELD...]]: the same for anybody on this machine, with all that is cached; more of its listener, and other fields
start_open_gateway() {
	gateway_file "listen: '${LISTENING_AT:-127.0.0.1:0}', profile: insecure-loopback, scope: ['*', /metrics]${1:+, $1}" "${@:2}"
	start_gateway --config "$T/gateway.yaml"
	until_true curl -sf "$gateway_url/readyz" || fail "the gateway is not ready: $(curl -s "$gateway_url/readyz")"
}

# stop_gateway SIGNAL: ends it; the exit code is in $code.
stop_gateway() {
	code=0
	kill "-$1" "$gateway_pid"
	wait "$gateway_pid" 2>/dev/null || code=$?
	gateway_pid=
}

# of_gateway PATH: what it answers; metric NAME: one of its figures
of_gateway() { curl -sf "$gateway_url$1"; }
metric() { of_gateway /metrics | awk -v name="$1" '$1 == name {print $2}'; }

# newest_rv: of pods at the server
newest_rv() { curl -s "$url/api/v1/pods?limit=1" | jq -r .metadata.resourceVersion; }
# reached RV: the gateway shows pods as of then, or later
reached() { [ "$(of_gateway '/api/v1/pods?limit=1' | jq -r .metadata.resourceVersion)" -ge "$1" ]; }
