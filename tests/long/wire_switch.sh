#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# One resource in protobuf and in JSON by turns: whoever changes the syntax, by a restart, by a reload, or because the server has a field
# that the schema lacks, readers are told of the changes and of nothing else. And what a server may do that has no protobuf.
# Not upstream: it reads informer-sim's journal; upstream/wire.sh is its like.
# Takes 14 s.
. "$(dirname "$0")/../support/script.sh"
. "$(dirname "$0")/../support/told.sh"
unset WIRE # it says itself which one
C=$T/config.yaml
M=$T/metrics.sock
of() { stat ".resources[] | select(.resource == \"$1\") | $2"; }
# informerd's: this script's own LISTs have no parameter
requests() { curl -s "$url/sim/log" | grep -E "^($1) .*=.* -> 200" || true; }
count_of() { requests "$1" | grep -c ' pods ' || true; }
# asked_in json|protobuf VERBS RESOURCE: is the newest such request answered so?
asked_in() { [ "$(requests "$2) ($3" | tail -n 1 | sed 's/.* in protobuf$/protobuf/; t; s/..*/json/')" = "$1" ]; }
faults() {
	curl -sf -X DELETE "$url/sim/faults" >/dev/null
	curl -sf -X POST --data-binary "$1" "$url/sim/faults" >/dev/null || fail "no such rule: $1"
}
touch_pod() {
	touched=$(curl -s "$url/api/v1/pods" | jq -r ".items[$1].metadata | \"\(.namespace)/pods/\(.name)\"")
	curl -sf -X PATCH -H 'Content-Type: application/merge-patch+json' -d '{"metadata":{"labels":{"touched":"'"$2"'"}}}' \
		"$url/api/v1/namespaces/$touched" >/dev/null || fail "no patch"
}
config() { echo "{resources: [{resource: pods, wire: $1}, services], metricsAddress: 'unix:$M', arena: {holdSeconds: 60}}" >"$C"; }
reloads=0
reload() {
	config "$1"
	reloads=$((reloads + 1))
	kill -HUP "$daemon_pid"
	until_true stat_is '.reload.succeeded' "$reloads" || fail "not reloaded: $(stat .reload)"
}
told() { cat "$T"/told/r.*; }
# told_changes N WHAT: what was told since the beginning is the state, then N updates
told_changes() {
	until_true is_told "$file" || fail "$2: $(diff "$T/want" "$T/got" | head)"
	changes=$(grep -c '^[UD]' "$file" || true)
	[ "$changes" = "$1" ] || fail "$2: $changes updates and deletes instead of $1: $(tail -n 5 "$file")"
	[ "$(grep -c '^A' "$file")" = "$total" ] || fail "$2: $(grep -c '^A' "$file") of $total were told as there"
	echo "ok: $2"
}

start_sim --nodes 4 --pods-per-node 25
total=$(on_server /api/v1/pods)
config protobuf
start_daemon --config "$C"
wait_ready
[ "$(of pods .wire)" = protobuf ] || fail "pods come in $(of pods .wire)"
asked_in protobuf 'LIST|WATCHLIST' pods || fail "$(curl -s "$url/sim/log")"
mkdir "$T/told"
"$B"/tests/events_reader "$S" "$T/told" r 1 plain 2>>"$T/reader.log" &
reader_pid=$!
reader_has_begun() { set -- "$T"/told/r.*; file=$1; [ -s "$file" ]; }
until_true reader_has_begun || fail "the reader writes nothing"
told_changes 0 "a reader knows all of what came in protobuf"

# LIST in protobuf, watch in JSON, by a restart
restart() { # WIRE VERBS [COMMAND...]: another informerd, and meanwhile a command; its newest request of these verbs is answered so
	requests_before=$(count_of "$2")
	stop_daemon TERM
	"${@:3}"
	config "$1"
	reloads=0
	start_daemon --config "$C"
	wait_ready
	made_request() { [ "$(count_of "$2")" -gt "$requests_before" ]; }
	until_true made_request x "$2" || fail "no $2: $(curl -s "$url/sim/log" | tail)"
	asked_in "$1" "$2" pods || fail "not in $1: $(requests "$2" | tail -n 3)"
}
restart json WATCH
touch_pod 0 one
told_changes 1 "LIST in protobuf, watch in JSON"

# the watch in protobuf again, by a reload
reload protobuf
until_true asked_in protobuf WATCH pods || fail "not in protobuf after a reload: $(requests WATCH | tail -n 3)"
touch_pod 1 two
told_changes 2 "and in protobuf again"

# where a LIST is needed, it comes in the other syntax: the same objects, but for one that was changed meanwhile
touch_and_forget() {
	touch_pod "$@"
	forget_history
}
restart json 'LIST|WATCHLIST' touch_and_forget 2 three
told_changes 3 "a LIST in JSON over what came in protobuf"
restart protobuf 'LIST|WATCHLIST' touch_and_forget 3 four
told_changes 4 "a LIST in protobuf over what came in JSON"

# ---- the server becomes newer while it is watched: the watch goes on in JSON, from where it was
[ "$(of pods .wire_fallbacks)" = 0 ] || fail "given up already: $(of pods .wire_why)"
before=$(count_of 'LIST|WATCHLIST')
faults 'when WATCH pods idle then newer'
until_true eval "curl -s $url/sim/faults | grep -q '# [1-9]'" || fail "the watch does not hear of it: $(curl -s "$url/sim/faults")"
touch_pod 4 five
told_changes 5 "nothing is lost to a field that the schema lacks"
expect_stat '.resources[] | select(.resource == "pods") | .wire_fallbacks' 1
[ "$(of pods .wire)" = json ] || fail "pods come in $(of pods .wire)"
[ "$(count_of 'LIST|WATCHLIST')" = "$before" ] || fail "that cost a LIST"
grep -q 'pods: asking for JSON from now on: .*2010 of core/v1.Pod' "$T/daemon.log" || fail "no line names field and kind"
curl -s --unix-socket "$M" http://x/metrics | grep -q '^informer_wire_fallbacks_total{.*resource="pods".*} 1$' || fail "it is not counted"
touch_pod 5 six
told_changes 6 "and the watch goes on"

# ---- servers that are different from the first request on. first WIRE RULES: an informerd that knows nothing yet
first() {
	stop_daemon KILL
	rm -rf "$T/first"
	mkdir "$T/first"
	faults "$2"
	: >"$T/daemon.log"
	start_daemon --arena-dir "$T/first" --resource pods --resource services ${1:+--wire "$1"}
	wait_ready
	[ "$(of pods .objects)" = "$total" ] || fail "$2: $(of pods .objects) pods of $total"
	[ "$(of services .objects)" = "$(on_server /api/v1/services)" ] || fail "$2: $(of services .objects) services"
}
comes() { # FALLBACKS WIRE WHAT
	[ "$(of pods '"\(.wire_fallbacks) \(.wire)"')" = "$1 $2" ] || fail "$3: $(of pods '"\(.wire_fallbacks) \(.wire) \(.wire_why)"')"
	[ "$(of services '"\(.wire_fallbacks) \(.wire)"')" = "0 protobuf" ] || fail "$3: services: $(of services '"\(.wire_fallbacks) \(.wire)"')"
	echo "ok: $3"
}
for wire in '' protobuf; do
	first "$wire" 'when ANY pods then newer'
	comes 1 json "a newer server from the first LIST on"
	first "$wire" 'when ANY pods then as-json'
	comes 0 json "JSON all the same"
	first "$wire" 'when ANY pods then no-protobuf'
	comes 0 json "a server that has JSON alone"
	first "$wire" 'when ANY pods then 406 once'
	comes 1 json "406"
	grep -q 'pods: asking for JSON from now on: .*406' "$T/daemon.log" || fail "nothing is said of it: $(cat "$T/daemon.log")"
done

# an aggregated server that chooses protobuf and cannot write it: 406 to a LIST, a watch that ends without a word
for wire in '' protobuf; do
	first "$wire" 'when ANY pods then unencodable'
	comes 1 json "a server that cannot write what it chose"
done
