#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Of all calls that can fail for want of memory, descriptors, space or address space the n-th fails, in informerd: while it starts it says so and ends,
# or becomes ready; while it runs it goes on, and comes to what the server has. NTHS=40 such n of each kind are drawn by SEED; NTHS=0 takes all (an hour).
# Not upstream: it is about readers, limits or broken answers, which are the same there.
# Takes 56 s.
. "$(dirname "$0")/../support/script.sh"
: "${SEED:=$RANDOM}" "${NTHS:=40}"
! sanitized || { echo "SKIP: the sanitizer has an allocator of its own"; exit 77; }
echo "SEED=$SEED"

memory=1 descriptors=2 space=4 maps=8
F=$T/fail
so=$(realpath "$B/tests/fail_nth.so")
fail_nth() { "$B/tests/fail_nth" "$F" "$@"; }
ctl() { "$B"/informerctl --socket "$S" "$@"; }
start_failing() {
	: >"$T/daemon.log" # so that what the one before said is not taken for its word
	FAIL_NTH_FILE=$F LD_PRELOAD=$so "$B"/informerd --socket "$S" --arena-dir "$T" --kubeconfig "$T/kubeconfig" ${WIRE:+--wire "$WIRE"} \
		--backoff-initial 10ms --backoff-max 50ms --resource pods --resource nodes --metrics-address "unix:$T/m.sock" 2>>"$T/daemon.log" &
	daemon_pid=$!
}
# draw CALLS: the numbers to try
draw() {
	if [ "$NTHS" = 0 ]; then seq "$1"; else shuf -i "1-$1" -n "$NTHS" --random-source=<(yes "$SEED"); fi
}
what_failed() { echo "call $n of kind $kind: $(head -n 1 "$F.log")"; }

start_sim --nodes 1 --pods-per-node 5
# ---- starting ----
ready_or_gone() { grep -q ' ready: ' "$T/daemon.log" || ! kill -0 "$daemon_pid"; }
for kind in $memory $descriptors $space $maps; do
	fail_nth "$kind" 0 0
	start_failing
	until_true ready_or_gone
	stop_daemon TERM
	[ "$code" = 0 ] || fail "exit code $code without any fault"
	read -r calls _ < <(fail_nth)
	for n in $(draw "$calls"); do
		rm -f "$F.log"
		fail_nth "$kind" "$n" 1
		start_failing
		until_true ready_or_gone || fail "neither ready nor at its end: $(what_failed)"
		if kill -0 "$daemon_pid" 2>/dev/null && grep -q ' ready: ' "$T/daemon.log"; then
			[ "$(ctl get pods -A -o name | wc -l)" = 5 ] || fail "not what the server has: $(what_failed)"
			stop_daemon TERM
			[ "$code" = 0 ] || fail "exit code $code: $(what_failed)"
		else
			code=0
			wait "$daemon_pid" || code=$?
			daemon_pid=
			case $code in 1 | 2) ;; *) fail "exit code $code: $(what_failed)" ;; esac
			tail -n 1 "$T/daemon.log" | grep -qiE 'memory|too many open files|space|temporarily' || fail "it does not say why: $(what_failed)"
		fi
	done
	echo "start: $calls calls of kind $kind"
done

# ---- running ----
same() { [ "$(ctl get pods -A -o name | sort)" = "$(curl -s "$url/api/v1/pods" | jq -r '.items[] | "pod/" + .metadata.name' | sort)" ]; }
pods=$url/api/v1/namespaces/default/pods
change() {
	printf '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p%s","namespace":"default","labels":{"n":"%s"}},"spec":{"containers":[{"name":"c","image":"i-%s"}]}}' \
		"$1" "$1" "$1" | curl -sf -X POST -H 'Content-Type: application/json' --data-binary @- "$pods" >/dev/null
	curl -s -X DELETE "$pods/p$(($1 - 2))" >/dev/null # churn may have been faster
}
# what is done, and the fact that it was
do_change() { change $((++changes)) && until_true same; }
# the stream ends, and what came meanwhile is listed
do_relist() {
	curl -sf -X POST "$url/sim/compact" >/dev/null
	printf 'when WATCH pods after 1 events then 410 once\n' | curl -sf -X POST --data-binary @- "$url/sim/faults" >/dev/null
	do_change && do_change
}
do_grow() { curl -sf -X POST "$url/sim/churn?rate=5000&count=300" >/dev/null && until_true churn_over && until_true same; }
is_report() { stat .pid | grep -q "^$daemon_pid$"; }
do_stat() { until_true is_report; }
do_metrics() { until_true curl -sf --unix-socket "$T/m.sock" http://m/metrics; }
# attaches, looks, subscribes and waits
do_read() { "$B"/informerctl --socket "$S" wait --for=create pod -n default "p$changes" --timeout 60s >/dev/null; }

changes=0
fail_nth 0 0 0
start_failing
until_true ready_or_gone
do_change
for action in change grow relist stat metrics read; do
	for kind in $memory $descriptors $space $maps; do
		fail_nth "$kind" 0 0
		"do_$action" || fail "$action does not work without any fault"
		read -r calls _ < <(fail_nth)
		[ "$calls" -gt 0 ] || continue
		for n in $(draw "$calls"); do
			rm -f "$F.log"
			fail_nth "$kind" "$n" 1
			"do_$action" || fail "$action: $(what_failed)"
			kill -0 "$daemon_pid" || fail "$action: informerd is gone: $(what_failed)"
		done
		echo "$action: $calls calls of kind $kind"
	done
done
fail_nth 0 0 0
do_change
ctl verify >"$T/verify.log" || fail "verify"
stop_daemon TERM
[ "$code" = 0 ] || fail "exit code $code"
echo ok
