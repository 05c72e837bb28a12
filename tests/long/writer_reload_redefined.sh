#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A definition comes back as another one while the configuration changes as well: both are taken over, whichever comes first.
# Takes 5 s.
. "$(dirname "$0")/../support/script.sh"
. "$(dirname "$0")/../support/gadgets.sh"

C=$T/config.yaml
reload() { # what the file says is on standard input
	cat >"$C.new" && mv "$C.new" "$C" # a run that begins reads the one or the other
	kill -HUP "$daemon_pid"
}
expect_whole() { # KEYS VERSION KIND NAME
	until_true shows "$1" "$2" "$3" || fail "$*: $(get gadgets.example.com -A -o json 2>&1 | head -30) $(stat .resources)"
	until_true grep -q "\"$4\"" "$T/changes" || fail "the reader is not told of $4: $(tail -n 3 "$T/changes")"
}

start_sim --nodes 4 --pods-per-node 25
define v1 Namespaced Gadget
gadget v1 Gadget one default
echo 'resources: [gadgets.example.com, pods]' >"$C"
start_daemon --config "$C"
wait_ready
INFORMER_SOCKET=$S "$B"/informerctl changes gadgets.example.com -A >"$T/changes" 2>"$T/changes.log" &
watcher=$!

# The definition is gone, and the file changes before and after it is back.
undefine
expect_stat '.resources[0].activity' refused
reload <<'END'
resources: [{resource: gadgets.example.com, drop: [metadata.annotations]}, pods]
indexes: [{name: team, resource: gadgets.example.com, path: metadata.labels.team}]
END
define v2 Namespaced Gadget
gadget v2 Gadget two default
reload <<'END'
resources: [pods, {resource: gadgets.example.com, drop: [metadata.annotations, spec]}]
indexes: [{name: team, resource: gadgets.example.com, path: metadata.labels.team}]
END
expect_whole default/two v2 Gadget two
[ "$(get gadgets -A --index team=a -o name)" = gadget.example.com/two ] || fail "the index: $(get gadgets -A --index team=a -o name 2>&1)"
until_true stat_is '.resources[0] | "\(.resource) \(.state)"' 'pods synced' || fail "pods: $(stat .resources)"

# It is defined anew while a reload is applied, and the next one takes pods away.
for i in 3 4 5; do
	undefine
	reload <<END
resources: [pods, {resource: gadgets.example.com, drop: [metadata.annotations, spec.a$i]}]
END
	define "v$i" Namespaced "Gadget$i"
	gadget "v$i" "Gadget$i" "more$i" default
	reload <<<'resources: [gadgets.example.com]'
	expect_whole "default/more$i" "v$i" "Gadget$i" "more$i"
done
until_true stat_is '[.resources[].resource] | join(",")' gadgets || fail "more is cached than the file says: $(stat .resources)"

# What it became goes on with reloads as any other.
reload <<'END'
resources: [gadgets.example.com]
indexes: [{name: team, resource: gadgets.example.com, path: metadata.labels.team}]
END
indexed() { [ "$(get gadgets -A --index team=a -o name)" = gadget5.example.com/more5 ]; }
until_true indexed || fail "the index: $(get gadgets -A --index team=a -o name 2>&1)"
stop_daemon TERM
[ "$code" = 0 ] || fail "exit code $code"
echo ok
