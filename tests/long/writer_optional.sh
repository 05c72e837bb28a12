#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A resource that the API server does not have: refused at the start with the nearest name, unless it is said to be optional: then it is
# cached when somebody defines it. One that disappears leaves the others alone, and comes back when it is defined anew.
# Takes 14 s.
. "$(dirname "$0")/../support/script.sh"

M=$T/metrics.sock
CRDS=/apis/apiextensions.k8s.io/v1/customresourcedefinitions
GADGETS=/apis/example.com/v1/namespaces/default/gadgets
ready() { curl -s -o /dev/null -w '%{http_code}' --unix-socket "$M" http://informer/readyz; }
post() { curl -sf -X POST -H 'Content-Type: application/json' -d "$2" "$url$1" >/dev/null || fail "POST $1"; }
define() { post $CRDS '{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"gadgets.example.com"},"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"gadgets","kind":"Gadget","shortNames":["gd"]},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}'; until_true serves || fail "$GADGETS is not served"; }
serves() { curl -sf "$url$GADGETS"; }
undefine() { curl -sf -X DELETE "$url$CRDS/gadgets.example.com" >/dev/null || fail "not deleted"; until_true undefined || fail "it stays"; }
undefined() { ! curl -sf "$url$CRDS/gadgets.example.com"; }
gadget() { post $GADGETS '{"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"'"$1"'","labels":{"team":"a"}}}'; }

start_sim --nodes 1 --pods-per-node 2
if "$B"/informerd --kubeconfig "$T/kubeconfig" --socket "$T/t.sock" --arena-dir "$T" -r pods -r gadgets.example.com 2>"$T/refused.log"; then
	fail "an unknown resource was taken"
fi
grep -q "has no resource 'gadgets.example.com'" "$T/refused.log" || fail "$(cat "$T/refused.log")"

# Ready without it, and without waiting for it.
start_daemon --resource 'gadgets.example.com?optional=true' --resource pods --index byTeam=gadgets.example.com:metadata.labels.team \
	--metrics-address "unix:$M"
wait_ready
[ "$(ready)" = 200 ] || fail "/readyz is $(ready)"
stat_is '.resources[0].state' waiting || fail "$(stat .)"
stat_is '.resources[1].state' synced || fail "$(stat .)"
grep -q "has no resource 'gadgets.example.com'.*asking again" "$T/daemon.log" || fail "nobody was told"

# Asked for again it costs the server a 304, and says nothing new.
not_modified() { [ "$(curl -s "$url/sim/log" | grep -c 'apis .*-> 304')" -ge 2 ]; }
if [ "$SERVER" = sim ]; then
	until_true not_modified || fail "$(curl -s "$url/sim/log" | tail)"
	[ "$(grep -c 'asking again' "$T/daemon.log")" = 1 ] || fail "$(cat "$T/daemon.log")"
fi

# It is defined, and cached, with its index; pods were not asked for again.
define
gadget one
expect_stat '.resources[0].state' synced
expect_stat '.resources[0].objects' 1
stat_is '.resources[1] | "\(.lists + .watch_lists) \(.watches + .watch_lists)"' '1 1' || fail "pods were watched anew"
[ "$(INFORMER_SOCKET=$S "$B"/informerctl get gadgets.example.com -A --no-headers 2>&1 | awk '{print $2}')" = one ] ||
	fail "$(INFORMER_SOCKET=$S "$B"/informerctl get gadgets.example.com -A 2>&1)"
gadget two
expect_stat '.resources[0].objects' 2

# The definition is deleted: its objects go, pods stay watched.
undefine
expect_stat '.resources[0].objects' 0
expect_stat '.resources[0].activity' refused
stat_is '.resources[1].activity' watching || fail "pods: $(stat .)"
stat_is '.resources[1].failures' 0 || fail "pods: $(stat .)"
[ "$(ready)" = 200 ] || fail "/readyz is $(ready)"

# Defined anew: it is back.
define
gadget three
expect_stat '.resources[0].objects' 1
expect_stat '.resources[0].activity' watching
stat_is '.resources[1] | "\(.lists + .watch_lists) \(.watches + .watch_lists)"' '1 1' || fail "pods were watched anew"

# Gone while informerd was away: what it had cached is not shown for what is there, and it starts all the same.
stop_daemon TERM
[ "$code" = 0 ] || fail "exit code $code"
undefine
start_daemon --resource 'gadgets.example.com?optional=true' --resource pods
wait_ready
stat_is '.resources[0].state' waiting || fail "$(stat .)"
stat_is '.resources[1] | .lists + .watch_lists' 0 || fail "pods were listed anew"
shown() { INFORMER_SOCKET=$S "$B"/informerctl get gadgets.example.com -A; }
not_shown() { ! shown; }
until_true not_shown || fail "$(shown 2>&1)"
define
gadget four
expect_stat '.resources[0].objects' 1
# What nobody means any more goes by a restart, and there is one.
[ "$(grep -c 'going on without it' "$T/daemon.log")" = 1 ] || fail "$(cat "$T/daemon.log")"
[ "$(grep -c 'adopted the arena' "$T/daemon.log")" = 2 ] || fail "$(cat "$T/daemon.log")"
stat_is '.resources[1] | .lists + .watch_lists' 0 || fail "pods were listed anew"
stop_daemon TERM
[ "$code" = 0 ] || fail "exit code $code"
echo "ok"
