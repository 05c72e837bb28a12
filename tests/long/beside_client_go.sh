#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# client-go's informer and ours, side by side on one server: by key both tell the same types, UIDs and resourceVersions, with each change
# while ours keeps up, and without one that never was after it overflowed, over restarts of informerd, a reload, and a stop through each.
# Takes 110 s.
. "$(dirname "$0")/../support/script.sh"
. "$(dirname "$0")/../support/peer.sh"

peers= ctl_all= ctl_running=
end_peers() {
	for p in $ctl_all $ctl_running; do kill -CONT "$p" 2>/dev/null || true; done
	kill $peers 2>/dev/null || true
	clean_up
}
trap end_peers EXIT
start_sim --nodes 3 --pods-per-node 10
start_daemon --resource pods
wait_ready
export INFORMER_SOCKET=$S
coproc ALL { exec "$peer" beside -kubeconfig "$T/kubeconfig" "$B"/informerctl changes pods -A 2>"$T/all.log"; }
peers=$ALL_PID
exec 3<&"${ALL[0]}" 4>&"${ALL[1]}"
mkfifo "$T/in" "$T/out"
"$peer" beside -kubeconfig "$T/kubeconfig" -running "$B"/informerctl changes pods -A --field-selector status.phase=Running <"$T/in" >"$T/out" 2>"$T/running.log" &
peers="$peers $!"
exec 6>"$T/in" 5<"$T/out"
answer() { # FD
	IFS= read -r -t $((PATIENCE + 60)) said <&"$1" || fail "no answer: $(cat "$T"/all.log "$T"/running.log)"
}
answer 3; [ "${said%% *}" = ready ] || fail "$said"; ctl_all=${said#* }
answer 5; [ "${said%% *}" = ready ] || fail "$said"; ctl_running=${said#* }

# same WHEN: both are compared; $coalesced has what ours told of overflows
same() {
	echo "compare $PATIENCE" >&4
	echo "compare $PATIENCE" >&6
	answer 3; [ "${said%% *}" = same ] || fail "$1: $said"
	coalesced=${said##* } all=$said
	answer 5; [ "${said%% *}" = same ] || fail "$1, by selector: $said"
	echo "$1: $all; by selector: $said"
}
churn() { # RATE COUNT
	curl -sf -X POST "$url/sim/churn?rate=$1&count=$2" >/dev/null || fail "no churn"
	until_true churn_over || fail "the churn does not end"
}
hold() { kill -STOP "$ctl_all" "$ctl_running"; }
go_on() { kill -CONT "$ctl_all" "$ctl_running"; }
restart() { stop_daemon KILL; "$@"; start_daemon --resource pods; wait_ready; }

churn 400 800
same "each change"
hold; churn 8000 9000; go_on
same "an overflow"
[ "$coalesced" -gt 0 ] || fail "nothing overflowed: what follows proves nothing"
restart churn 1000 300
churn 1000 300
same "an overflow, then a restart"
hold; restart churn 1000 300; churn 1000 300; go_on
same "a restart while ours was held"
stop_daemon TERM
start_daemon --resource pods
wait_ready
churn 1000 300
same "an end and a start"
hold; kill -HUP "$daemon_pid"; churn 8000 6000; restart true; go_on
same "a reload, an overflow and a restart while ours was held"
