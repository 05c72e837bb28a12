#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Until the API server has said what the configured names mean, which may take hours, nobody hears that informerd does not cache them: look-ups
# are told to come later, and why; waits wait. Once it has, what is not cached is told; and what is known from an earlier life is served at once.
# Takes 13 s.
. "$(dirname "$0")/../support/script.sh"
. "$(dirname "$0")/../support/run.sh"
export INFORMER_SOCKET=$S
ctl="$B/informerctl"
answers() { "$ctl" stat -o json >/dev/null 2>&1; }
said() { grep -q -- "$1" "$T/$2.log"; }
# start_waiter NAME COMMAND...: in the background, with its output in $T/NAME.log
start_waiter() {
	local name=$1
	shift
	"$@" >"$T/$name.log" 2>&1 &
	eval "$name=$!"
}

# ---- discovery hangs: the server is frozen
start_sim --nodes 1 --pods-per-node 3
kill -STOP "$sim_pid"
start_daemon -r pods -r deployments.apps
until_true answers || fail "informerd does not answer"
start_run --resource pods --consumer early -- "$B"/tests/run_handler
start_waiter waits "$ctl" wait --for=synced pods --timeout=-1s
start_waiter all "$ctl" wait --for=synced --timeout=-1s
start_waiter watches "$ctl" get po -A -w --no-headers
start_waiter changes "$ctl" changes pods -A --count 3
for name in pods deployments.apps v1.pods nothing all; do start_waiter "get_${name/./_}" "$ctl" get "$name"; done
for name in pods deployments_apps v1_pods nothing all; do
	waiter=get_$name code=0
	wait "${!waiter}" || code=$?
	[ $code = 1 ] || fail "get $name: exit $code"
	said 'still asks the API server what it serves' "$waiter" || fail "get $name: not told to come later"
	! said 'does not cache' "$waiter" || fail "get $name: refused"
done
code=0
"$ctl" wait --for=synced pods --timeout=100ms 2>"$T/get.log" || code=$?
[ $code = 1 ] && said 'pods: waiting' get && ! said 'does not cache' get || fail "wait: exit $code"
until_true said "still asks the API server what it serves, 'pods' may be among it; waiting" run || fail "informer-run says nothing"
until_true said 'waiting: informerd still asks' watches || fail "get -w does not wait"
until_true said 'waiting: informerd still asks' changes || fail "changes does not wait"
! said 'does not cache' run || fail "informer-run is refused"
for waiter in waits all watches changes; do
	kill -0 "${!waiter}" || fail "$waiter has ended"
done

# ---- and answers
kill -CONT "$sim_pid"
for waiter in waits all changes; do
	code=0
	wait "${!waiter}" || code=$?
	[ $code = 0 ] || fail "$waiter: exit $code"
done
shows_pods() { [ "$(grep -vc informerctl "$T/watches.log")" -ge 3 ]; }
until_true shows_pods || fail "get -w shows nothing"
until_true run_is early processed 3 || fail "informer-run is told nothing"
said "caches 'pods' now" run || fail "informer-run does not say that it goes on"
code=0
"$ctl" get nothing >"$T/get.log" 2>&1 || code=$?
[ $code = 2 ] && said "does not cache 'nothing'" get || fail "what is not cached: exit $code"
stop_run TERM

# ---- the server is away, and what was known is served; what is new is waited for
stop_daemon TERM
stop_sim
start_daemon -r pods -r deployments.apps
until_true answers || fail "informerd does not answer"
[ "$("$ctl" get pods -A --no-headers 2>/dev/null | wc -l)" = 3 ] || fail "what was known is not served"
"$ctl" wait --for=synced pods --timeout=60s || fail "what was known is not synced"
code=0
"$ctl" get nothing >"$T/get.log" 2>&1 || code=$?
[ $code = 2 ] || fail "all is known, and this is not cached: exit $code"
stop_daemon KILL
start_daemon -r pods -r services
until_true answers || fail "informerd does not answer"
[ "$("$ctl" get pods -A --no-headers 2>/dev/null | wc -l)" = 3 ] || fail "what was known is not served any more"
refused() { "$ctl" get services 2>&1 | grep -q 'still asks the API server what it serves (.*onnect'; }
until_true refused || fail "why is not told: $("$ctl" get services 2>&1)"
stop_daemon KILL
start_daemon -r pods -r services
until_true answers || fail "informerd does not answer"
[ "$("$ctl" get pods -A --no-headers 2>/dev/null | wc -l)" = 3 ] || fail "what was known is not adopted"
start_sim --nodes 1 --pods-per-node 3
"$ctl" wait --for=synced services --timeout="${PATIENCE}s" || fail "services do not come"
