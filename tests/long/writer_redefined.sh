#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A definition that comes back as another one while informerd runs (another version, scope or kind) is noticed, and cached as what it is
# now: readers are told, and nothing else is listed.
# Takes 5 s.
. "$(dirname "$0")/../support/script.sh"
. "$(dirname "$0")/../support/gadgets.sh"

expect_shown() { until_true shows "$@" || fail "$*: $(get gadgets.example.com -A -o json 2>&1 | head -40) $(stat '.resources[0]')"; }

start_sim --nodes 1 --pods-per-node 2
define v1 Namespaced Gadget
gadget v1 Gadget one default
start_daemon --resource gadgets.example.com --resource pods --index byTeam=gadgets.example.com:metadata.labels.team
wait_ready
first=$(lists pods)
expect_shown default/one v1 Gadget
INFORMER_SOCKET=$S "$B"/informerctl changes gadgets.example.com -A >"$T/changes" 2>"$T/changes.log" &
watcher=$!
until_true grep -q '"one"' "$T/changes" || fail "the reader is not told what there is"
[ "$(get gadgets -A --index byTeam=a -o name)" = gadget.example.com/one ] || fail "the index: $(get gadgets -A --index byTeam=a -o name 2>&1)"

# another version
undefine
expect_stat '.resources[0].activity' refused
define v2 Namespaced Gadget
gadget v2 Gadget two default
expect_shown default/two v2 Gadget
[ "$(stat '.resources[0].version')" = v2 ] || fail "$(stat '.resources[0]')"
until_true grep -q '"two"' "$T/changes" || fail "the reader is not told: $(tail -n 3 "$T/changes")"
grep -q '"DELETED".*"one"' "$T/changes" || fail "the end of the other is not told: $(cat "$T/changes")"
[ "$(get gadgets -A --index byTeam=a -o name)" = gadget.example.com/two ] || fail "the index: $(get gadgets -A --index byTeam=a -o name 2>&1)"
grep -q 'gadgets.example.com: defined anew: v2, Gadget, namespaced now (was v1' "$T/daemon.log" || fail "nothing in the log"

# another scope, and nobody was there to see it gone
undefine
define v2 Cluster Gadget
gadget v2 Gadget three
expect_shown -/three v2 Gadget
get gadgets -o name >"$T/names" || fail "without a namespace: $(cat "$T/names")"
grep -qx gadget.example.com/three "$T/names" || fail "without a namespace: $(cat "$T/names")"

# another kind
undefine
define v2 Cluster Device
gadget v2 Device four
expect_shown -/four v2 Device
until_true grep -q '"four"' "$T/changes" || fail "the reader is not told: $(tail -n 3 "$T/changes")"

# and on it goes, as any other
gadget v2 Device five
until_true grep -q '"five"' "$T/changes" || fail "changes are not told: $(tail -n 3 "$T/changes")"
expect_stat '.resources[0].objects' 2
expect_stat '.resources[0].activity' watching
[ "$(lists pods)" = "$first" ] || fail "pods were listed again"

# A start while it is not defined: what is in the arena was once, so it is waited for.
undefine
expect_stat '.resources[0].activity' refused
stop_daemon KILL
start_daemon --resource gadgets.example.com --resource pods --index byTeam=gadgets.example.com:metadata.labels.team
expect_stat '.resources[1].activity' watching
expect_stat '.resources[0].state' waiting
define v2 Cluster Device
gadget v2 Device six
expect_shown -/six v2 Device
wait_ready
stop_daemon TERM
[ "$code" = 0 ] || fail "exit code $code"
echo ok
