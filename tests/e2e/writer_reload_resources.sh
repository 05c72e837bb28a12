#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SIGHUP, and what it costs: other indexes are filled from what the arena has, and the watch goes on; a LIST is made only of the resource of which
# something else is to be kept or selected, and of that readers are told the differences; resources come and go beside others that notice nothing.
# Takes 5 s.
. "$(dirname "$0")/../support/script.sh"

C=$T/config.yaml
end_changes() {
	kill "$changes_pid"
	wait "$changes_pid" 2>/dev/null || true
}
export INFORMER_SOCKET=$S
: "${NODES:=4}" "${PODS:=25}"

reloads=0 refusals=0
reload() {
	case $1 in OK) reloads=$((reloads + 1)) ;; *) refusals=$((refusals + 1)) ;; esac
	kill -HUP "$daemon_pid"
	until_true stat_is '.reload | "\(.succeeded) \(.refused)"' "$reloads $refusals" || fail "reload is not $1: $(stat .reload)"
	until_true stat_is '[.resources[].state] | unique | join(" ")' synced || fail "not applied: $(stat .resources)"
}
config() { cat >"$C"; }
# requests: what the server was asked so far: so many answers to LIST, WATCH, WATCHLIST of a resource.
requests() { curl -s "$url/sim/log" | grep -cE "^($1) $2 .*-> 200" || true; }
# costs LISTS WATCHES COMMAND...: how many lists and watches of pods a command costs; a WatchList is both.
costs() {
	local lists watches
	lists=$(requests 'LIST|WATCHLIST' pods) watches=$(requests "WATCH|WATCHLIST" pods)
	"${@:3}"
	expect_stat '.resources[] | select(.resource == "pods") | .activity' watching
	lists=$(($(requests 'LIST|WATCHLIST' pods) - lists)) watches=$(($(requests "WATCH|WATCHLIST" pods) - watches))
	[ "$lists $watches" = "$1 $2" ] || fail "${*:3} cost $lists lists and $watches watches instead of $1 and $2: $(curl -s "$url/sim/log" | tail -5)"
}
by_index() { "$B"/informerctl get pods -A --index "$1" --no-headers 2>"$T/index.err" | wc -l; }
of() { stat ".resources[] | select(.resource == \"$1\") | $2"; }

start_sim --nodes "$NODES" --pods-per-node "$PODS"
config <<<'resources: [pods, services]'
start_daemon --config "$C"
wait_ready
total=$(of pods .objects)
curl -s "$url/api/v1/pods" >"$T/pods.json"
node=$(jq -r '.items[0].spec.nodeName' "$T/pods.json")
uid=$(jq -r '.items[0].metadata.uid' "$T/pods.json")
image=$(jq -r '.items[0].spec.containers[0].image' "$T/pods.json")
with_image=$(jq --arg i "$image" '[.items[] | select(.spec.containers[0].image == $i)] | length' "$T/pods.json")

# A reader that looks up all the time, by what is there throughout: it never misses anything, and never finds a part.
"$B"/tests/look_always "$uid" "$node" "$image" short >"$T/look.log" 2>&1 &
look_pid=$!
until_true grep -q LOOKING "$T/look.log" || fail "$(cat "$T/look.log")"

# Another index: filled from what is there. The reader that is attached knows it without attaching anew.
config <<'END'
resources: [pods, services]
indexes:
- {name: image, resource: pods, path: 'spec.containers[0].image'}
- {name: app, resource: pods, path: metadata.labels.app}
END
[ "$(by_index "image=$image")" = 0 ] || fail "there was an index"
grep -q "no index 'image'" "$T/index.err" || fail "$(cat "$T/index.err")"
costs 0 1 reload OK
[ "$(by_index "image=$image")" = "$with_image" ] || fail "$(by_index "image=$image") instead of $with_image"

# One that goes is unknown at once, one that becomes another one has the other one's values.
config <<'END'
resources: [pods, services]
indexes:
- {name: app, resource: pods, path: spec.nodeName}
END
costs 0 1 reload OK
[ "$(by_index "image=$image")" = 0 ] || fail "the index is still there"
grep -q "no index 'image'" "$T/index.err" || fail "$(cat "$T/index.err")"
[ "$(by_index app=$node)" = "$(by_index nodeName=$node)" ] || fail "the index has old values"
until_true grep -q "index image: gone" "$T/look.log" || fail "the reader does not know: $(cat "$T/look.log")"

# Less is kept: one list, and each object is told once.
"$B"/informerctl changes pods -A >"$T/changes.out" 2>&1 &
changes_pid=$!
until_true stat_is '[.readers[].queues[]] | length' 1 || fail "$(stat .readers)"
config <<'END'
resources: [{resource: pods, drop: [spec.containers]}, services]
END
costs 1 1 reload OK
none() { [ "$("$B"/informerctl get pods -A -o json | jq '[.items[].spec.containers | select(. != null)] | length')" = 0 ]; }
until_true none || fail "something was kept"
told() { [ "$(grep -c '"type":"MODIFIED"' "$T/changes.out")" = "$total" ]; }
until_true told || fail "$(grep -c '"type":"MODIFIED"' "$T/changes.out") changes of $total were told"
end_changes

# More is kept: one list, and each object is published once.
epoch=$(stat .seq)
config <<<'resources: [pods, services]'
costs 1 1 reload OK
whole() { [ "$("$B"/informerctl get pods -A -o json | jq '[.items[].spec.containers | select(. != null)] | length')" = "$total" ]; }
until_true whole || fail "not all of it is back"
[ "$(stat .seq)" = $((epoch + total)) ] || fail "$(($(stat .seq) - epoch)) changes for $total objects"

# Names and labels alone, and back.
config <<<'resources: [{resource: pods, metadataOnly: true}, services]'
costs 1 1 reload OK
[ "$("$B"/informerctl get pods -A -o json | jq -c '[.items[] | keys[]] | unique')" = '["apiVersion","kind","metadata"]' ] || fail "more than metadata"
config <<<'resources: [pods, services]'
costs 1 1 reload OK
until_true whole || fail "not all of it is back"

# Another selection is listed, and what both have is not published again.
config <<<"resources: ['pods?fieldSelector=spec.nodeName=$node', services]"
seq=$(stat .seq)
costs 1 1 reload OK
mine=$(curl -s "$url/api/v1/pods?fieldSelector=spec.nodeName=$node" | jq '.items | length')
expect_stat '.resources[0].objects' "$mine"
[ "$(stat .seq)" = $((seq + total - mine)) ] || fail "$(($(stat .seq) - seq)) changes instead of $((total - mine)) deletions"
config <<<'resources: [pods, services]'
costs 1 1 reload OK
expect_stat '.resources[0].objects' "$total"

# A resource that is new is listed, one that is gone is unknown; in one reload. The others keep content and place.
config <<<'resources: [configmaps, pods]'
costs 0 1 reload OK
expect_stat '[.resources[].resource] | join(" ")' 'configmaps pods'
expect_stat '.resources[0].state' synced
[ "$("$B"/informerctl get cm -A --no-headers | wc -l)" = "$(on_server /api/v1/configmaps)" ] || fail "configmaps"
! "$B"/informerctl get services -A >"$T/gone.out" 2>&1 || fail "services are still there"
grep -q -- --resource "$T/gone.out" || fail "$(cat "$T/gone.out")"
[ "$(by_index nodeName=$node)" = "$mine" ] || fail "pods lost something"
config <<<'resources: [pods, services]'
costs 0 1 reload OK
expect_stat '[.resources[].state] | join(" ")' 'synced synced'
[ "$("$B"/informerctl get services -A --no-headers | wc -l)" = "$(on_server /api/v1/services)" ] || fail "services"

# Changes are heard all the same, by what is new, too.
pod=$(curl -s "$url/api/v1/pods" | jq -r '.items[1].metadata | "\(.namespace)/pods/\(.name)"')
config <<<'{resources: [pods, services], indexes: ["mark=pods:metadata.labels.mark"]}'
costs 0 1 reload OK
curl -sf -X PATCH -H 'Content-Type: application/merge-patch+json' -d '{"metadata":{"labels":{"mark":"yes"}}}' "$url/api/v1/namespaces/$pod" >/dev/null
marked() { [ "$(by_index mark=yes)" = 1 ]; }
until_true marked || fail "the index does not hear of changes"

# SIGHUPs while one is being applied: the last file counts.
for i in 1 2 3 4 5 6; do
	config <<<"{resources: [{resource: pods, drop: [spec.d$i, spec.containers]}, services], indexes: ['i$i=pods:spec.nodeName']}"
	kill -HUP "$daemon_pid"
	config <<<"{resources: [pods, nodes], indexes: ['j$i=pods:spec.nodeName', 'k=nodes:metadata.name']}"
	kill -HUP "$daemon_pid"
done
settled() { [ "$(by_index j6=$node)" = "$mine" ] && whole && stat_is '[.resources[].resource] | join(" ")' 'pods nodes'; }
until_true settled || fail "$(stat .)"
kill "$look_pid"
wait "$look_pid" 2>/dev/null || true
grep -q '^MISSED' "$T/look.log" && fail "the reader missed something: $(cat "$T/look.log")"
reloads=$(stat .reload.succeeded) refusals=0

# Killed in the middle, at whatever moment: the next one has what the file says, of what the server has.
for i in 1 2 3 4 5 6 7 8; do
	if [ $((i % 2)) = 0 ]; then
		config <<<"{resources: [{resource: pods, drop: [spec.containers]}, services], indexes: ['i$i=pods:spec.nodeName']}"
	else
		config <<<"{resources: [pods], indexes: ['i$i=pods:spec.nodeName']}"
	fi
	kill -HUP "$daemon_pid"
	sleep "0.00$((i * 3 % 7))"
	stop_daemon KILL
	start_daemon --config "$C"
	wait_ready
	reloads=0
	right() {
		[ "$(by_index "i$i=$node")" = "$mine" ] && { [ $((i % 2)) = 0 ] && none || whole; } &&
			[ "$("$B"/informerctl get pods -A --no-headers | wc -l)" = "$total" ]
	}
	until_true right || fail "after the kill in reload $i: $(stat .)"
	"$B"/informerctl verify >/dev/null || fail "damaged"
done

# The first of three goes: the two behind it keep what is theirs, and are not listed.
config <<<'resources: [pods, services, configmaps]'
reload OK
config <<<'resources: [services, configmaps]'
reload OK
for one in services configmaps; do
	expect_stat ".resources[] | select(.resource == \"$one\") | .activity" watching
	[ "$(of "$one" '.lists + .watch_lists')" = 0 ] || fail "$one are listed anew"
	of_server=$(curl -s "$url/api/v1/$one" | jq -r '.items[].metadata | "\(.namespace)/\(.name)"' | sort)
	[ "$("$B"/informerctl get "$one" -A -o json | jq -r '.items[].metadata | "\(.namespace)/\(.name)"' | sort)" = "$of_server" ] || fail "$one"
done
! "$B"/informerctl get pods -A >"$T/gone.out" 2>&1 || fail "pods are still there"
stop_daemon TERM
[ "$code" = 0 ] || fail "exit code $code"
echo ok
