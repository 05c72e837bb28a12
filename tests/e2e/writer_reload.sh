#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SIGHUP: the configuration is read again. What is wrong is refused as a whole, what a running daemon cannot change is said, everything else
# is in force at once.
# Takes 5 s.
. "$(dirname "$0")/../support/script.sh"

M=$T/metrics.sock
C=$T/config.yaml
metric() { curl -s --unix-socket "$M" http://informer/metrics | awk -v name="$1" '$1 == name {print $2}'; }
metric_is() { [ "$(metric "$1")" = "$2" ]; }

# reload OK|REFUSED: SIGHUP, and wait until it is decided.
reloads=0 refusals=0
reload() {
	case $1 in OK) reloads=$((reloads + 1)) ;; *) refusals=$((refusals + 1)) ;; esac
	kill -HUP "$daemon_pid"
	until_true stat_is '.reload | "\(.succeeded) \(.refused)"' "$reloads $refusals" || fail "reload is not $1: $(stat .reload)"
}
config() { cat >"$C"; }

start_sim --nodes 2 --pods-per-node 5
config <<END
resources: [pods, services]
metricsAddress: unix:$M
END
start_daemon --config "$C"
wait_ready
stat_is .reload.state none || fail "$(stat .reload)"
metric_is informer_config_last_reload_successful 1 || fail "no reload counts as a bad one"
started=$(metric informer_config_last_reload_success_timestamp_seconds)
awk -v t="$started" -v now="$(date +%s)" 'BEGIN {exit !(now - 120 < t && t <= now + 1)}' || fail "the start is at $started"

# Nothing has changed: one line says so.
reload OK
grep -c 'reload: nothing has changed' "$T/daemon.log" >/dev/null || fail "nothing is said"
stat_is .reload.state ok || fail "$(stat .reload)"
stat_is .reload.changes '' || fail "$(stat .reload)"

# systemd hears that it begins, since when, and that it is over.
until_true grep -q '^RELOADING=1' "$notify_log" || fail "$(cat "$notify_log")"
grep -Eq '^MONOTONIC_USEC=[0-9]+$' "$notify_log" || fail "$(cat "$notify_log")"
until_true eval "sed '1,/^RELOADING=1/d' '$notify_log' | grep -q ^READY=1" || fail "$(cat "$notify_log")"

# What can be taken over is in force: the log's level, who may attach, how long deletions are remembered.
config <<END
resources: [pods, services]
metricsAddress: unix:$M
logLevel: warning
access: {uids: [12345]}
tombstones: {count: 0}
arena: {holdSeconds: 7}
END
reload OK
stat_is .reload.changes 'arena.holdSeconds, access.uids, logLevel; pods: tombstones; services: tombstones' || fail "$(stat .reload)"
INFORMER_SOCKET=$S "$B"/informerctl stat | grep -q '^configuration reload: ok, 20.*: arena.holdSeconds, access.uids, logLevel' ||
	fail "$(INFORMER_SOCKET=$S "$B"/informerctl stat)"
pod=$(curl -s "$url/api/v1/pods" | jq -r '.items[0].metadata | "\(.namespace)/pods/\(.name)"')
n=$(stat '.resources[0].objects')
curl -sf -X DELETE "$url/api/v1/namespaces/$pod" >/dev/null
expect_stat '.resources[0].objects' $((n - 1))
stat_is '.resources[0].tombstones.count' 0 || fail "a deletion is remembered"
lines=$(wc -l <"$T/daemon.log")
reload OK
[ "$(wc -l <"$T/daemon.log")" = "$lines" ] || fail "the log has more than warnings"

# What cannot is said field by field, in the log and in stat, and again each time; the rest of the file counts.
config <<END
resources: [pods, services]
metricsAddress: unix:$M
arena: {name: other}
context: other
END
reload OK
stat_is .reload.needs_restart 'context, arena.name' || fail "$(stat .reload)"
grep -q 'context, arena.name: a restart is needed' "$T/daemon.log" || fail "it is not said"
INFORMER_SOCKET=$S "$B"/informerctl stat | grep -q '^needs a restart: context, arena.name' || fail "informerctl does not say it"
reload OK
stat_is .reload.needs_restart 'context, arena.name' || fail "said once only: $(stat .reload)"
stat_is .reload.changes '' || fail "$(stat .reload)"

# A file that is wrong is refused with the message that it would get at the start; everything goes on.
config <<END
resources: [pods, services]
logLevel: debug
pagesize: 7
END
"$B"/informerd --config "$C" --socket "$T/t.sock" 2>"$T/start.out" && fail "taken at the start"
reload REFUSED
wanted=$(sed -n 's/^informerd: //p' "$T/start.out")
stat_is .reload.error "$wanted" || fail "'$(stat .reload.error)' instead of '$wanted'"
stat_is .reload.state refused || fail "$(stat .reload)"
grep -qF "reload refused, everything stays as it was: $wanted" "$T/daemon.log" || fail "not in the log"
INFORMER_SOCKET=$S "$B"/informerctl stat | grep -qF "configuration reload: refused" || fail "informerctl does not say it"
metric_is 'informer_config_reloads_total{result="failure"}' 1 || fail "$(metric 'informer_config_reloads_total{result="failure"}')"
metric_is informer_config_last_reload_successful 0 || fail "the last one counts as good"

# So is one that names what nobody knows, and one that is not there.
config <<<'resources: [pods, services, gadgets.example.com]'
reload REFUSED
stat .reload.error | grep -q "config.yaml:1:.*has no resource 'gadgets.example.com'" || fail "$(stat .reload)"
rm "$C"
reload REFUSED
stat .reload.error | grep -q 'config.yaml' || fail "$(stat .reload)"
stat_is '.resources | length' 2 || fail "$(stat .resources)"
[ "$(stat '[.resources[].state] | unique | join(",")')" = synced ] || fail "$(stat .resources)"

# A good one mends it.
config <<END
resources: [pods, services]
metricsAddress: unix:$M
END
reload OK
stat_is .reload.error '' || fail "$(stat .reload)"
stat_is .reload.needs_restart '' || fail "$(stat .reload)"
metric_is informer_config_last_reload_successful 1 || fail "still the bad one"
metric_is 'informer_config_reloads_total{result="success"}' "$reloads" || fail "$(metric 'informer_config_reloads_total{result="success"}')"
awk -v a="$started" -v b="$(metric informer_config_last_reload_success_timestamp_seconds)" 'BEGIN {exit !(b > a)}' || fail "the time did not move on"

# The watches went on through all of it.
# a LIST and a WATCH, or a WatchList that goes on as the watch
[ "$(stat '[.resources[] | .lists + .watch_lists, .watches + .watch_lists] | join(" ")')" = "1 1 1 1" ] || fail "$(stat .resources)"

# Without a server, and before it was ever heard: a reload waits for what its names mean, and another one takes its place.
stop_daemon TERM
[ "$code" = 0 ] || fail "exit code $code"
stop_sim
start_daemon --config "$C"
until_true stat_is '.resources | length' 2 || fail "$(stat .)"
kill -HUP "$daemon_pid"
expect_stat .reload.state waiting
config <<<'resources: [pods, oops: {}]'
reloads=0 refusals=0
reload REFUSED
config <<<'resources: [pods]'
kill -HUP "$daemon_pid"
expect_stat .reload.state waiting
grep -q READY=1 "$notify_log" && fail "ready without a server"
stop_daemon TERM
[ "$code" = 0 ] || fail "exit code $code"
echo ok
