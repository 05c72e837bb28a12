# SPDX-License-Identifier: Apache-2.0
# For end-to-end tests in which somebody is killed: readers, and an informerd whose configuration changes. Sourced after script.sh, with SEED
# drawn into $seed. $T/told has what readers were told.
A=$T # where the arena is
C=$T/config.yaml
declare -A pid lives
declare -A killed=([informerd]=0 [reader]=0)
mkdir "$T/told"

# ---- who reads
# start_reader NAME: m…: a handler of all pods; w…: handlers at random; s…: one snapshot after the other; h…: one that is held until revoked
start_reader() {
	lives[$1]=$((${lives[$1]:-0} + 1))
	case $1 in
	s*) "$B"/tests/chaos_reader "$S" "$T/told/$1.${lives[$1]}" 2>>"$T/reader.log" & ;;
	h*) "$B"/tests/hold_snapshot "$S" >"$T/$1.out" 2>"$T/$1.err" & ;;
	w*) "$B"/tests/events_reader "$S" "$T/told" "$1" "${lives[$1]}" wild 2>>"$T/reader.log" & ;;
	*) "$B"/tests/events_reader "$S" "$T/told" "$1" "${lives[$1]}" plain 2>>"$T/reader.log" & ;;
	esac
	pid[$1]=$!
}
# told_to NAME: the file
told_to() {
	case $1 in
	s*) echo "$T/told/$1.${lives[$1]}" ;;
	*) echo "$T/told/$1.${pid[$1]}.0" ;;
	esac
}
kill_reader() { # NAME
	kill -9 "${pid[$1]}" 2>/dev/null || fail "SEED=$seed: reader $1 ended by itself"
	wait "${pid[$1]}" 2>/dev/null || true
	killed[reader]=$((killed[reader] + 1))
	unset "pid[$1]"
}
end_reader() { # NAME
	local code=0
	until_true catches "${pid[$1]}" TERM || fail "SEED=$seed: reader $1 does not begin"
	kill "${pid[$1]}" 2>/dev/null || fail "SEED=$seed: reader $1 ended by itself"
	wait "${pid[$1]}" || code=$?
	[ "$code" = 0 ] || fail "SEED=$seed: reader $1: exit $code"
	unset "pid[$1]"
}

# ---- reloads: other indexes, and other resources beside pods. Pods are never listed for that
pods_wanted='' reloads=0
configuration() { :; } # lines that stay
configure() { # [INDEX OF PODS]
	pods_wanted=${1-$pods_wanted}
	set -- 'services' 'services, nodes' 'nodes, namespaces' ''
	shift $((RANDOM % 4))
	configure_as "${1:-}" "$([ $((RANDOM % 2)) = 0 ] && echo info || echo debug)" $((2000 + RANDOM))
}
configure_as() { # RESOURCES BESIDE PODS, LOG LEVEL, TOMBSTONES
	cat >"$C.new" <<END
resources: [pods${1:+, $1}]
indexes: [${pods_wanted:+"$pods_wanted=pods:spec.nodeName"}]
logLevel: $2
tombstones: {count: $3}
$(configuration)
END
	mv "$C.new" "$C"
}
is_in_force() {
	stat_is '.resources[] | select(.resource == "pods") | .state' synced || return 1
	[ -z "$pods_wanted" ] || ! "$B"/informerctl --socket "$S" get pods -A --index "$pods_wanted=none" 2>&1 | grep -q 'no index'
}
reload() {
	# before READY a SIGHUP may find nobody who hears it
	grep -q '^READY=1' "$notify_log" || return 0
	case $((RANDOM % 2)) in
	0) configure "x$((RANDOM % 8))" ;; # few: what a definition says is kept by readers that met it
	*) configure ;;
	esac
	kill -HUP "$daemon_pid"
	reloads=$((reloads + 1))
}

# ---- who serves
start_informerd() { start_daemon --arena-dir "$A" --config "$C" "$@"; }
kill_informerd() {
	kill -0 "$daemon_pid" 2>/dev/null || fail "SEED=$seed: informerd ended by itself"
	stop_daemon KILL
	killed[informerd]=$((killed[informerd] + 1))
	start_informerd
}
# Another one stands by, and at any moment of that either is killed, or the one that serves is told to end; who is left is the one.
standbys=0
serves() { stat_is .pid "$1"; }
replace_informerd() {
	local old=$daemon_pid log=$notify_log listener=$notify_pid
	kill -0 "$old" 2>/dev/null || fail "SEED=$seed: informerd ended by itself"
	notify_pid=
	start_informerd --standby
	standbys=$((standbys + 1))
	sleep "0.$((RANDOM % 3))$((RANDOM % 10))"
	case $((RANDOM % 3)) in
	0)
		kill -9 "$old"
		killed[informerd]=$((killed[informerd] + 1)) ;;
	1)
		stop_daemon KILL
		kill "$notify_pid"
		daemon_pid=$old notify_log=$log notify_pid=$listener
		return ;;
	2) kill "$old" ;;
	esac
	wait "$old" 2>/dev/null || true
	kill "$listener"
}

# ---- and what is left of them
arenas() { find "$A" -maxdepth 1 -name 'informer*.[0-9]*' | wc -l; }
# of all that was started here, who lives: this script's, and their children
left() {
	local e
	for e in /proc/[0-9]*/environ; do
		! grep -qsF "INFORMER_SOCKET=$S" "$e" || cat "${e%environ}comm" 2>/dev/null || true
	done | grep -E '^(informerd|informer-run|run_handler|events_reader|chaos_reader|hold_snapshot)$'
}
alone() { ! left; }
