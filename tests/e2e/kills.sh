#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# kill -9, KILLS times (50), of whoever is met: informerd, in its first LIST, in adoption, in a reload and between them, readers, informer-run
# and its handlers, under churn and reloads that change the configuration. At the end each reader has what the server has, no object was told
# to have gone back, the server was not asked for another LIST, and nothing of the dead is left: one arena file, no socket, no process.
#
# SEED repeats a run's dice (not its timing), KILLS=1000 is what is to be done by hand now and then. KEEP: a folder where what was told and all
# logs stay.
. "$(dirname "$0")/../support/daemon.sh"
. "$(dirname "$0")/../support/run.sh"
kills=${KILLS:-50}
seed=${SEED:-$(date +%s)}
RANDOM=$((seed % 32768))
echo "SEED=$seed KILLS=$kills"

C=$T/config.yaml
declare -A pid lives
clean_kills() {
	[ -z "${KEEP:-}" ] || cp -r "$T"/told "$T"/out "$T"/*.log "$KEEP"/ 2>/dev/null || true
	for p in "${pid[@]}"; do kill -9 "$p" 2>/dev/null || true; done
	clean_up_run
}
trap clean_kills EXIT
mkdir "$T/told"

# ---- who reads
start_reader() { # NAME: m1, m2: handlers of all pods; s: one snapshot after the other
	lives[$1]=$((${lives[$1]:-0} + 1))
	case $1 in
	s) "$B"/tests/chaos_reader "$S" "$T/told/s.${lives[s]}" 2>>"$T/reader.log" & ;;
	*) "$B"/tests/events_reader "$S" "$T/told" "$1" "${lives[$1]}" plain 2>>"$T/reader.log" & ;;
	esac
	pid[$1]=$!
}
start_handlers() {
	start_run --resource pods --consumer k --workers 2 --window 8 --max-crashes 1000 --dead-letters "$T/dead" -- "$B"/tests/run_handler
}
handler_pids() { "$B"/informer-run status k -o json 2>/dev/null | jq -r '.handlers[0].pids[]'; }

# ---- reloads. What pods are to be is in force when informerd says so; who is killed before, or comes back with a file that says
# otherwise than the arena, lists them.
pods_are='' pods_wanted='' allowed=0
configure() { # [INDEX OF PODS]
	pods_wanted=${1-$pods_wanted}
	set -- 'services' 'services, nodes' 'nodes, namespaces' ''
	shift $((RANDOM % 4))
	cat >"$C.new" <<END
resources: [pods${1:+, $1}]
indexes: [${pods_wanted:+"$pods_wanted=pods:spec.nodeName"}]
logLevel: $([ $((RANDOM % 2)) = 0 ] && echo info || echo debug)
tombstones: {count: $((2000 + RANDOM))}
END
	mv "$C.new" "$C"
}
is_in_force() {
	stat_is '.resources[] | select(.resource == "pods") | .state' synced || return 1
	[ -z "$pods_wanted" ] || ! "$B"/informerctl --socket "$S" get pods -A --index "$pods_wanted=none" 2>&1 | grep -q 'no index'
}
look_whether_in_force() {
	[ "$pods_are" = "$pods_wanted" ] || ! is_in_force || pods_are=$pods_wanted
}
reload() {
	# before READY a SIGHUP may find nobody who hears it
	grep -q '^READY=1' "$notify_log" || return 0
	case $((RANDOM % 2)) in
	0) configure "x$RANDOM" ;;
	*) configure ;;
	esac
	kill -HUP "$daemon_pid"
	reloads=$((reloads + 1))
}

# ---- who is killed
declare -A killed=([informerd]=0 [reader]=0 [informer-run]=0 [handler]=0)
daemon_flags="--config $C"
kill_informerd() {
	kill -0 "$daemon_pid" 2>/dev/null || fail "SEED=$seed: informerd ended by itself"
	[ $((RANDOM % 2)) = 0 ] || look_whether_in_force # which takes its time
	stop_daemon KILL
	[ "$pods_are" = "$pods_wanted" ] || allowed=$((allowed + 1))
	killed[informerd]=$((killed[informerd] + 1))
	start_daemon $daemon_flags
}
kill_reader() { # NAME
	kill -9 "${pid[$1]}" 2>/dev/null || fail "SEED=$seed: reader $1 ended by itself"
	wait "${pid[$1]}" 2>/dev/null || true
	killed[reader]=$((killed[reader] + 1))
	start_reader "$1"
}
kill_run() {
	kill -0 "$run_pid" 2>/dev/null || fail "SEED=$seed: informer-run ended by itself"
	old=$(handler_pids)
	stop_run KILL
	for p in $old; do until_true sh -c "! kill -0 $p" || fail "SEED=$seed: handler $p outlives informer-run"; done
	killed[informer-run]=$((killed[informer-run] + 1))
	start_handlers
}
kill_handler() {
	victim=$(handler_pids | shuf -n 1)
	[ -n "$victim" ] && kill -9 "$victim" 2>/dev/null || return 1
	killed[handler]=$((killed[handler] + 1))
}
kill_somebody() {
	case $((RANDOM % 20)) in
	[0-7]) kill_informerd ;;
	[89]) kill_reader m1 ;;
	1[01]) kill_reader m2 ;;
	1[23]) kill_reader s ;;
	1[4567]) kill_handler || kill_reader m1 ;; # none is up
	*) kill_run ;;
	esac
}

# what there is of files and sockets; numbers, and all that could be digits of one, do not count
traces() { (cd "$T" && find . -name 'informer*' -o -name 's.sock*' -o -path './run/*') | sed 's/[0-9a-f]\{1,\}/N/g' | LC_ALL=C sort; }

# ---- in the first LIST
start_sim --nodes 20 --pods-per-node 50
configure
for i in 1 2 3 4 5 6; do
	start_daemon $daemon_flags
	sleep "0.0$((RANDOM % 9))"
	stop_daemon KILL
done
start_daemon $daemon_flags
wait_ready
before=$(lists pods)

# ---- at any moment
for r in m1 m2 s; do start_reader "$r"; done
start_handlers
until_true run_is k state running || fail "informer-run does not run"
until_true is_in_force || fail "what is configured is not in force: $(stat .resources)"
traces >"$T/traces.before"
curl -sf -X POST "$url/sim/churn?rate=${RATE:-300}&count=1000000" >/dev/null || fail "no churn"
reloads=0
for i in $(seq "$kills"); do
	sleep "0.$((RANDOM % 4))$((RANDOM % 10))"
	[ $((RANDOM % 2)) = 0 ] || reload
	[ $((RANDOM % 2)) = 0 ] || sleep "0.0$((RANDOM % 10))"
	kill_somebody
done

# ---- and then none any more
curl -sf -X POST "$url/sim/churn?rate=0" >/dev/null
until_true churn_over || fail "the churn does not end"
wait_ready
until_true is_in_force || fail "SEED=$seed: what is configured is not in force: $(stat .resources)"
lists=$(($(lists pods) - before)) # what is compared below is listed, too
[ "$lists" -le "$allowed" ] || fail "SEED=$seed: $lists LISTs of pods after the first, and $allowed kills while their indexes were to change"

# state FILE: the newest state of each key that a reader's life left it with; says what went back.
state() {
	awk '
	function newer(key, rv) {
		if (rv + 0 < last[key] + 0) { print "back: " $0; bad = 1 }
		last[key] = rv
	}
	$1 == "A" || $1 == "U" { k = $1 == "A" ? 3 : 2; newer($k, $(k + 2)); m[$k] = $(k + 1) " " $(k + 2); again[$k] = 1 }
	$1 == "D" { delete m[$3]; if ($5 != "-") newer($3, $5) }
	$1 == "R" { delete again }
	$1 == "E" { for (k in m) if (!(k in again)) delete m[k] }
	END { for (k in m) print k, m[k]; exit bad }' "$1" | LC_ALL=C sort
}
on_server_now() { curl -s "$url/api/v1/pods" | jq -r '.items[].metadata | "\(.namespace)/\(.name) \(.uid) \(.resourceVersion)"' | LC_ALL=C sort; }
file_of() { case $1 in s) echo "$T/told/s.${lives[s]}" ;; *) echo "$T/told/$1.${pid[$1]}.0" ;; esac; }
equal() { # READER
	on_server_now >"$T/want"
	state "$(file_of "$1")" >"$T/got"
	[ -s "$T/want" ] && cmp -s "$T/want" "$T/got"
}
for r in m1 m2 s; do
	until_true equal "$r" || fail "SEED=$seed: reader $r has: $(diff "$T/want" "$T/got" | head -20)"
done
for f in "$T"/told/*; do
	[ "$(state "$f" | grep -c '^back' || true)" = 0 ] || fail "SEED=$seed: $f: $(state "$f" | grep '^back' | head -3)"
done
until_true same last || fail "SEED=$seed: handlers were told: $(diff "$T/want" "$T/got" | head -20)"
until_true run_is k lagEvents 0 || fail "SEED=$seed: $(run_stat k lagEvents) events are not done"
[ ! -s "$T/dead" ] || fail "SEED=$seed: dead letters: $(head -c 300 "$T/dead")"
items() { jq -S '[.items[] | del(.metadata.managedFields, .kind, .apiVersion)] | sort_by(.metadata.namespace, .metadata.name)'; }
curl -sf "$url/api/v1/pods" | items >"$T/server.json"
same_documents() {
	"$B"/informerctl --socket "$S" get pods -A -o json | items >"$T/ours.json"
	cmp -s "$T/server.json" "$T/ours.json"
}
until_true same_documents || fail "SEED=$seed: $(diff "$T/server.json" "$T/ours.json" | head -20)"
"$B"/informerctl --socket "$S" verify >"$T/verify.log" 2>&1 || fail "SEED=$seed: the arena is damaged"
[ ! -s "$T/reader.log" ] || fail "SEED=$seed: readers complain"

# ---- nothing is left of the dead
traces_are() { traces >"$T/traces.after"; cmp -s "$T/traces.before" "$T/traces.after"; }
until_true traces_are || fail "SEED=$seed: what is left: $(diff "$T/traces.before" "$T/traces.after")"
[ "$(find "$T" -maxdepth 1 -name 'informer*.[0-9]*' | wc -l)" = 1 ] || fail "SEED=$seed: arenas: $(ls "$T")"
g=$(stat .generation)
# of all that was started here, who lives; handlers are informer-run's children
left() {
	for e in /proc/[0-9]*/environ; do
		! grep -qsF "INFORMER_SOCKET=$S" "$e" || cat "${e%environ}comm" 2>/dev/null || true
	done | grep -E '^(informerd|informer-run|run_handler|events_reader|chaos_reader)$'
}
alone() { ! left; }
[ "$(left | sort -u | wc -l)" = 5 ] || fail "only these are seen: $(left)"
for r in m1 m2 s; do
	kill "${pid[$r]}"
	code=0
	wait "${pid[$r]}" || code=$?
	[ "$code" = 0 ] || fail "SEED=$seed: reader $r: exit $code"
	unset "pid[$r]"
done
stop_run TERM
[ "$code" = 0 ] || fail "SEED=$seed: informer-run: exit $code"
stop_daemon TERM
[ "$code" = 0 ] || fail "SEED=$seed: informerd: exit $code"
stop_sim
until_true alone || fail "SEED=$seed: still there: $(left)"
echo "ok: killed ${killed[informerd]} informerd, ${killed[reader]} readers, ${killed[informer-run]} informer-run, ${killed[handler]} handlers; $reloads reloads;" \
	"$lists LISTs of $allowed allowed; generation $g"
