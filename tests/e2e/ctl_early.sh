#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# informerctl that is started together with informerd: it waits for informerd and for the first list, and says so; --start-timeout ends
# the wait.
# Takes 3 s.
. "$(dirname "$0")/../support/script.sh"
export INFORMER_SOCKET=$S
ctl=$B/informerctl
# begin NAME ARGUMENT...: in the background, with its output in $T/NAME.out and $T/NAME.err
declare -A begun
begin() {
	"$ctl" "${@:2}" --start-timeout "${PATIENCE}s" >"$T/$1.out" 2>"$T/$1.err" &
	begun[$1]=$!
}
says() { until_true grep -q "^informerctl: $2\$" "$T/$1.err" || fail "$1 says: $(cat "$T/$1.err")"; }
# ends NAME PATTERN: done, and the pattern is in its output
ends() {
	wait "${begun[$1]}" || fail "$1 ends with $?: $(cat "$T/$1.err")"
	grep -q -- "$2" "$T/$1.out" || fail "$1 prints: $(cat "$T/$1.out" "$T/$1.err")"
}
# refused EXIT ARGUMENT...
refused() {
	local code=0
	"$ctl" "${@:2}" >"$T/out" 2>"$T/err" || code=$?
	[ "$code" = "$1" ] || fail "${*:2} ends with $code: $(cat "$T/err")"
	! grep -q waiting "$T/err" || fail "${*:2} waits: $(cat "$T/err")"
}
start_sim --nodes 2 --pods-per-node 5
pod=$(api GET /api/v1/pods | jq -r '[.items[] | select(.status.podIP and (.spec.hostNetwork | not))][0] | .metadata.name')
ip=$(api GET /api/v1/pods | jq -r --arg pod "$pod" '.items[] | select(.metadata.name == $pod) | .status.podIP')
pods=$(on_server /api/v1/pods)
curl -sf -X POST "$url/sim/faults" --data 'when LIST pods then hold
when WATCHLIST pods then hold' >/dev/null || fail "no faults"

# no informerd
for command in 'get nodes' 'get nodes -w' 'changes nodes' stat "whois $ip" verify; do
	refused 2 $command --start-timeout 0
	grep -q 'is informerd running' "$T/err" || fail "$command: $(cat "$T/err")"
done
refused 2 get nodes --start-timeout soon

# before informerd
begin get get nodes -o name
begin changes changes nodes --count 2
begin stat stat
begin verify verify
for name in get changes stat verify; do says "$name" "waiting for informerd at $S \.\.\."; done
start_daemon --resource pods --resource nodes
ends get '^node/'
ends changes '"kind":"Node"'
ends stat '^pods '
ends verify '^ok: '

# before the first list
expect_stat '.resources[] | select(.resource == "nodes") | .state' synced
refused 1 get pods -A --start-timeout 0
grep -q 'pods: the first list is not in yet' "$T/err" || fail "an incomplete answer: $(cat "$T/err")"
begin pods get pods -A -o name
begin all get all -A -o name
begin whois whois "$ip"
for name in pods all whois; do says "$name" 'pods: waiting for the first list \.\.\.'; done
curl -sf -X DELETE "$url/sim/faults" >/dev/null || fail "faults stay"
until_true curl -sf -X POST "$url/sim/held" || fail "no list waits"
ends pods '^pod/'
[ "$(wc -l <"$T/pods.out")" = "$pods" ] || fail "$(wc -l <"$T/pods.out") pods of $pods"
ends all '^pod/'
ends whois " $pod "
# nobody waits for what is there
[ -z "$("$ctl" get pods -A 2>&1 >"$T/out")" ] || fail "get waits for a list that is in"
echo "ok: informerctl waits for an informerd that starts"
