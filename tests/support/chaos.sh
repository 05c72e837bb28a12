# SPDX-License-Identifier: Apache-2.0
# For tests/long/chaos.sh: sourced after script.sh. The programs it is played with, and everything that can go wrong, each a function of the
# name that it has in the plan.
#
#	changes ─▶ API server ─▶ fault_proxy ─▶ informerd ─▶ handlers, snapshots
#
# What is said to a program goes through a pipe; descriptors 5 and 6 are those of the proxy and of the changes.

cert_sets=0 proxy_pid= change_pid= snapshot_pid= handler_pid= handlers=0
[ -z "${KEEP:-}" ] || at_end+=('cp -r "$T"/told "$T"/history "$T"/wire "$T"/*.log "$KEEP"/ 2>/dev/null')

begin_ms=$(($(date +%s%N) / 1000000))
say() {
	now=$(($(date +%s%N) / 1000000 - begin_ms))
	printf '%4d.%03d s  %s\n' $((now / 1000)) $((now % 1000)) "$*"
}
proxy() { echo "$*" >&5; }
# change COMMAND...: of chaos_change; ask: one that is answered; the count of changes is in $made.
change() { echo "$*" >&6; }
ask() {
	change "$@"
	read -r -t "$PATIENCE" _ made <&7 || fail "no answer to \"$*\": the changes ended, or hang"
}

# new_certificates: of another authority; in $T/certs.N. use_certificates: informerd's files, one after the other.
new_certificates() {
	cert_sets=$((cert_sets + 1))
	: >"$T/certs.out"
	"$B"/informer-sim --tls-dir "$T/certs.$cert_sets" >>"$T/certs.out" 2>>"$T/certs.log" &
	maker=$!
	until_true grep -q ^READY "$T/certs.out" || fail "no certificates"
	kill -9 "$maker"
	wait "$maker" 2>/dev/null || true
	proxy certificates "$T/certs.$cert_sets"
}
use_certificates() {
	for f in ca.crt client.crt client.key; do
		cp "$T/certs.$cert_sets/$f" "$T/client/$f.new"
		mv "$T/client/$f.new" "$T/client/$f"
	done
}

# server FLAGS...: an API server; the proxy's, and the changes'.
server() {
	sim_port=0
	start_sim "$@"
	case $SERVER in
	sim) proxy upstream "$sim_port" ;;
	*) proxy upstream "$sim_port" tls ;;
	esac
}
server_rv() { curl -sf "$url/sim/stats" | jq .resourceVersion; }

start_proxy() {
	mkdir "$T/client" "$T/told"
	mkfifo "$T/proxy.in" "$T/change.in" "$T/change.out"
	exec 5<>"$T/proxy.in" 6<>"$T/change.in" 7<>"$T/change.out"
	: >"$T/wire"
	"$B"/tests/fault_proxy "$T/wire" ${1:+"$1"} <&5 >"$T/proxy.out" 2>"$T/proxy.log" &
	proxy_pid=$!
	until_true grep -q ^READY "$T/proxy.out" || fail "the proxy does not start"
	new_certificates
	use_certificates
	cat >"$T/client/kubeconfig" <<END
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://127.0.0.1:$(sed -n 's/^READY port=//p' "$T/proxy.out")", certificate-authority: ca.crt}}]
users: [{name: u, user: {client-certificate: client.crt, client-key: client.key}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
current-context: c
END
}

start_changes() { # SEED RATE [TOKEN CA]
	"$B"/tests/chaos_change "$T/history" "$@" <&6 >&7 2>"$T/change.log" &
	change_pid=$!
	change server "$url"
	ask pause
}

# The daemon in a time of its own; what it can be told of time is in $T/clock.
informerd() {
	SHIFT_CLOCK_FILE=$T/clock SHIFT_CLOCK_SPEED=$speed LD_PRELOAD=$(realpath "$B/tests/shift_clock.so") \
		start_daemon --resource pods --kubeconfig "$T/client/kubeconfig" "$@"
}
clock() {
	echo "$1" >"$T/clock.new"
	mv "$T/clock.new" "$T/clock"
}
start_snapshots() {
	"$B"/tests/chaos_reader "$S" "$T/told/snapshots" 2>>"$T/reader.log" &
	snapshot_pid=$!
}
start_handler() {
	handlers=$((handlers + 1))
	"$B"/tests/events_reader "$S" "$T/told" "h$handlers" "$handlers" plain 2>>"$T/reader.log" &
	handler_pid=$!
}
kill_at_once() {
	kill -9 "$1" 2>/dev/null || fail "process $1 had ended by itself"
	wait "$1" 2>/dev/null || true
}

ms() { sleep "$(($1 / 1000)).$(printf %03d $(($1 % 1000)))"; }
cached_rv() { stat '.resources[0].rv' 2>/dev/null; }
cached_is() { rv=$(cached_rv) && [ -n "$rv" ] && [ "$rv" "$1" "$2" ]; }

# ---- what goes wrong, as it stands in the plan; times in milliseconds ----
refused() { proxy refuse "$1"; proxy cut; }
cut() { proxy cut; }
mid_frame() { proxy mid-frame; }
truncated() { proxy truncate; }
invalid() { proxy invalid; }
# once, and the same event again and again
storm_410() { # TIMES LISTS
	proxy list "$2" 0 answer 410
	for _ in $(seq "$1"); do proxy error 410; ms 120; done
}
throttled() { proxy answer 429 "$1"; proxy cut; } # 429 for everything
throttled_stream() { proxy error 429; }
failing() { proxy answer "$1" "$2"; proxy cut; }
error_500() { for _ in $(seq "$1"); do proxy error 500; ms 150; done; }
bad_list() { proxy list "$1" "$2" "${@:3}"; proxy error 410; }
slow() { proxy slow "$1"; proxy cut; }
frozen() { proxy freeze "$1"; }
certificates() { # MS until the client's files follow
	new_certificates
	proxy cut
	ms "$1"
	use_certificates
}
clock_step() { # SECONDS MS: and back
	clock "$1"
	proxy cut
	ms "$2"
	clock 0
}
informerd_killed() {
	kill -0 "$daemon_pid" 2>/dev/null || fail "informerd ended by itself"
	stop_daemon KILL
	proxy note killed
	ms "$1"
	[ "${2:-}" != compact ] || compact
	informerd
}
handler_killed() { kill_at_once "$handler_pid"; start_handler; }
snapshots_killed() { kill_at_once "$snapshot_pid"; start_snapshots; }

# The server forgets its history. Upstream's keeps a part in memory, so it starts anew.
compact() {
	case $SERVER in
	sim) curl -sf -X POST "$url/sim/compact" >/dev/null || fail "not compacted" ;;
	*)	pause
		curl -sf -X POST "$url/sim/compact" >/dev/null || fail "not compacted"
		stop_sim
		server
		go_on ;;
	esac
}
compacted() { compact; proxy cut; }

# pause and go_on: the changes, around what the server does not survive.
pause() { ask pause; }
go_on() { change server "$url"; change to "${1:-$changes}"; }
dump() {
	mkdir -p "$T/dump"
	for path in pods namespaces; do
		curl -sf "$url/api/v1/$path" >"$T/dump/$path.json" || fail "the server does not list $path"
	done
}
# informer-sim keeps nothing: it begins anew with what was dumped, under new RVs; by its namespaces it is the same cluster.
server_from_dump() {
	rv=$(server_rv)
	stop_sim
	ms "$1"
	server --load "$T/dump" --start-rv "$rv"
	change server "$url"
	ask era
}
server_killed() { # MS
	pause
	case $SERVER in
	sim) dump; server_from_dump "$1" ;;
	*) stop_sim; ms "$1"; server ;;
	esac
	go_on
}
# The last changes are lost, and its RVs go on (as with etcdctl snapshot restore --bump-revision).
server_lost() { # MS CHANGES
	pause
	dump
	go_on $((made + $2))
	ask wait
	server_from_dump "$1"
	go_on
}
# The last changes are lost, and their RVs are given again. Who saw them cannot know until it asks; so that they are not passed meanwhile
# there are at first but half as many again.
restored() { # CHANGES
	pause
	case $SERVER in
	sim) ;;
	*) stop_sim; rm -rf "$T/backup"; cp -r "$T/apiserver" "$T/backup"; server ;;
	esac
	old=$(server_rv)
	before=$made
	go_on $((made + $1))
	ask wait
	until_true cached_is -gt $((old + ($(server_rv) - old) * 3 / 4)) || fail "informerd does not catch up: $(stat '.resources[0]')"
	case $SERVER in
	sim) curl -sf -X POST "$url/sim/restore?rv=$old" >/dev/null || fail "not restored" ;;
	*) stop_sim; rm -rf "$T/apiserver"; cp -r "$T/backup" "$T/apiserver"; server ;;
	esac
	change server "$url"
	ask era
	go_on $((made + (made - before) / 2))
	until_true cached_is -le $((old + (made - before) * 5 / 8)) || fail "informerd does not notice: $(stat '.resources[0]')"
	go_on
}
