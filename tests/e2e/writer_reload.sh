#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SIGHUP: informerd goes on by the configuration as it is now, and by the program on disk, in the same process. What is wrong is refused as a
# whole, with the start's own words.
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
first=$(lists services)
stat_is .reload.state none || fail "$(stat .reload)"
metric_is informer_config_last_reload_successful 1 || fail "no reload counts as a bad one"
started=$(metric informer_config_last_reload_success_timestamp_seconds)
awk -v t="$started" -v now="$(date +%s)" 'BEGIN {exit !(now - 120 < t && t <= now + 1)}' || fail "the start is at $started"

# What has not changed is gone over to as well: it is also how another program on disk comes in. The process stays the same.
reload OK
expect_stat .reload.state ok
expect_stat .pid "$daemon_pid"
INFORMER_SOCKET=$S "$B"/informerctl stat | grep -q '^configuration reload: ok, 20' || fail "$(INFORMER_SOCKET=$S "$B"/informerctl stat)"

# systemd hears that it begins, since when, and that it is over.
until_true grep -q '^RELOADING=1' "$notify_log" || fail "$(cat "$notify_log")"
grep -Eq '^RELOADING=1 MONOTONIC_USEC=[0-9]+$' "$notify_log" || fail "$(cat "$notify_log")"
until_true eval "sed '1,/^RELOADING=1/d' '$notify_log' | grep -q ^READY=1" || fail "$(cat "$notify_log")"
! grep -q STOPPING "$notify_log" || fail "it says that it stops"

# All of the file is in force: the log's level, who may attach, how long deletions are remembered, where metrics are.
M=$T/other.sock
config <<END
resources: [pods, services]
metricsAddress: unix:$M
logLevel: warning
access: {uids: [12345], maxReaders: 17}
tombstones: {count: 0}
END
reload OK
pod=$(curl -s "$url/api/v1/pods" | jq -r '.items[0].metadata | "\(.namespace)/pods/\(.name)"')
n=$(stat '.resources[0].objects')
curl -sf -X DELETE "$url/api/v1/namespaces/$pod" >/dev/null
expect_stat '.resources[0].objects' $((n - 1))
stat_is '.resources[0].tombstones.count' 0 || fail "a deletion is remembered"
until_true metric_is informer_standby 0 || fail "no metrics at $M"
lines=$(wc -l <"$T/daemon.log")
reload OK
[ "$(wc -l <"$T/daemon.log")" = "$lines" ] || fail "the log has more than warnings: $(tail -n 3 "$T/daemon.log")"

# Readers, and the next run, look for socket and arena where they are.
config <<END
resources: [pods, services]
metricsAddress: unix:$M
arena: {name: other}
END
reload REFUSED
stat .reload.error | grep -q 'arena.name cannot change while informerd runs' || fail "$(stat .reload)"
M=$T/metrics.sock
config <<END
resources: [pods, services]
metricsAddress: unix:$M
END
reload OK

# A file that is wrong is refused with the message that it would get at the start; everything goes on.
config <<END
resources: [pods, services]
logLevel: debug
pagesize: 7
END
"$B"/informerd --config "$C" --socket "$T/t.sock" 2>"$T/start.out" && fail "taken at the start"
code=0
"$B"/informerd --config "$C" --socket "$T/t.sock" --check 2>"$T/check.out" || code=$?
[ "$code" = 2 ] || fail "--check: exit code $code"
cmp "$T/start.out" "$T/check.out" || fail "--check says something else than the start"
reload REFUSED
wanted=$(sed -n 's/^informerd: //p' "$T/start.out")
stat_is .reload.error "$wanted" || fail "'$(stat .reload.error)' instead of '$wanted'"
stat_is .reload.state refused || fail "$(stat .reload)"
grep -qF "reload refused, everything stays as it was: $wanted" "$T/daemon.log" || fail "not in the log"
INFORMER_SOCKET=$S "$B"/informerctl stat | grep -qF "configuration reload: refused" || fail "informerctl does not say it"
metric_is 'informer_config_reloads_total{result="failure"}' "$refusals" || fail "$(metric 'informer_config_reloads_total{result="failure"}')"
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
metric_is informer_config_last_reload_successful 1 || fail "still the bad one"
metric_is 'informer_config_reloads_total{result="success"}' "$reloads" || fail "$(metric 'informer_config_reloads_total{result="success"}')"
awk -v a="$started" -v b="$(metric informer_config_last_reload_success_timestamp_seconds)" 'BEGIN {exit !(b > a)}' || fail "the time did not move on"

# Nothing was listed a second time.
[ "$(lists services)" = "$first" ] || fail "$(($(lists services) - first)) more LISTs"

# Another program on disk is the one that goes on; one that does not start is refused, and a bad file is none of its business.
cp "$B/informerd" "$T/informerd"
stop_daemon TERM
[ "$code" = 0 ] || fail "exit code $code"
INFORMERD=$T/informerd start_daemon --config "$C"
wait_ready
cp "$B/tests/informerd_next" "$T/informerd.new"
mv "$T/informerd.new" "$T/informerd"
reloads=0 refusals=0
reload OK
expect_stat .version 9999.0.0
printf '#!/bin/sh\necho nonsense >&2\nexit 1\n' >"$T/informerd.new"
chmod +x "$T/informerd.new"
mv "$T/informerd.new" "$T/informerd"
reload REFUSED
stat_is .reload.error nonsense || fail "$(stat .reload)"
rm "$T/informerd"
reload REFUSED
# a file that is wrong is refused also while the one before is being looked at, and that one is forgotten
printf '#!/bin/sh\n: >"%s/looks"\nwhile [ ! -e "%s/go" ]; do sleep 0.01; done\n' "$T" "$T" >"$T/informerd"
chmod +x "$T/informerd"
kill -HUP "$daemon_pid"
until_true test -e "$T/looks" || fail "the program on disk is not asked"
cp "$C" "$C.good"
config <<<'resources: [pods, oops: {}]'
reload REFUSED
: >"$T/go"
looks_no_more() { ! pgrep -f "$T/informerd.*--check"; }
until_true looks_no_more || fail "the check goes on"
expect_stat .reload.state refused
mv "$C.good" "$C"
cp "$B/tests/informerd_next" "$T/informerd.new"
mv "$T/informerd.new" "$T/informerd"
reload OK
stat_is .version 9999.0.0 || fail "$(stat .version)"
[ "$(lists services)" = "$first" ] || fail "$(($(lists services) - first)) more LISTs"

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
