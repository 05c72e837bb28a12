#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# informerctl changes tells every change as a line of JSON: replayed, its lines are the server's state at any time, over informerd's
# death, over a rebuilt store, and when it was stopped for a while; selectors make adds and deletes of what crosses them.
# Takes 10 s.
. "$(dirname "$0")/../support/script.sh"
start_sim --nodes 4 --pods-per-node 10 --churn 500 --churn-count 1500
start_daemon --resource pods --resource nodes
wait_ready
export INFORMER_SOCKET=$S
"$B"/informerctl changes pods -A >"$T/all" 2>"$T/all.log" &
all=$!
"$B"/informerctl changes pods -A --field-selector status.phase=Running >"$T/running" 2>"$T/running.log" &

# what the lines so far lead to, as key and resourceVersion
replay() {
	jq -nr 'reduce inputs as $l ({};
		if $l.type == "COALESCED" then .
		else ($l.object.metadata | .namespace + "/" + .name) as $k
			| if $l.type == "DELETED" then del(.[$k]) else .[$k] = $l.object.metadata.resourceVersion end
		end) | to_entries[] | "\(.key) \(.value)"' "$1" | LC_ALL=C sort
}
server() { curl -s "$url/api/v1/pods" | jq -r ".items[] $1 | \"\(.metadata.namespace)/\(.metadata.name) \(.metadata.resourceVersion)\"" | LC_ALL=C sort; }
same_all() { server "" >"$T/want"; replay "$T/all" >"$T/got"; cmp -s "$T/want" "$T/got"; }
same_running() { server '| select(.status.phase == "Running")' >"$T/want"; replay "$T/running" >"$T/got"; cmp -s "$T/want" "$T/got"; }

# ---- informerd dies twice under churn
for i in 1 2; do
	sleep 0.7
	stop_daemon KILL
	start_daemon --resource pods --resource nodes
	wait_ready
done
until_true churn_over || fail "the churn does not end"
# where starts are slow it was over before the last one
curl -sf -X POST "$url/sim/churn?rate=500&count=200" >/dev/null || fail "no churn"
until_true churn_over || fail "the churn does not end"
until_true same_all || fail "replayed: $(diff "$T/want" "$T/got" | head)"
until_true same_running || fail "replayed by selector: $(diff "$T/want" "$T/got" | head)"
[ "$(wc -l <"$T/want")" -gt 5 ] || fail "hardly any pods run"
until_true grep -q 'informerd is gone' "$T/all.log" || fail "its death is not told"

# ---- every line has its form; seqs of one object grow
jq -e -n 'all(inputs; if .object then (.type | IN("ADDED", "MODIFIED", "DELETED")) and (.initial | type == "boolean") and .seq > 0
	and .object.kind == "Pod" and .object.apiVersion == "v1" else (.type | IN("COALESCED")) and (keys == ["seq", "type"]) end)' \
	"$T/all" >/dev/null || fail "a line has another form"
jq -e -n 'reduce (inputs | select(.object and (.initial | not))) as $l ({ok: true, s: {}};
	($l.object.metadata.uid) as $k | (if .s[$k] and .s[$k] >= $l.seq then .ok = false else . end) | .s[$k] = $l.seq) | .ok' "$T/all" >/dev/null ||
	fail "an object's seqs do not grow"
jq -e -n '[inputs | select(.type == "MODIFIED" and .old)] | length > 20 and all(.[]; .old.metadata.uid == .object.metadata.uid and
	.old.metadata.resourceVersion != .object.metadata.resourceVersion)' "$T/all" >/dev/null || fail "old states are missing or wrong"

# ---- stopped through more than the queue holds: told as COALESCED, and right again
kill -STOP "$all"
curl -s -X POST "$url/sim/churn?rate=4000&count=9000" >/dev/null
until_true churn_over || fail "the churn does not end"
kill -CONT "$all"
until_true same_all || fail "replayed after a stop: $(diff "$T/want" "$T/got" | head)"
jq -e -n 'any(inputs; .type == "COALESCED")' "$T/all" >/dev/null || fail "COALESCED is not told"
lines=$(wc -l <"$T/all")
[ "$lines" -lt 9000 ] || fail "$lines lines: what was missed was not merged"

# ---- a store that was rebuilt: what changed
stop_daemon KILL
rm -f "$T"/informer*.[0-9]*
start_daemon --resource pods --resource nodes
wait_ready
curl -sf -X POST -H 'Content-Type: application/json' "$url/api/v1/namespaces/default/pods" -d '{"apiVersion":"v1","kind":"Pod",
	"metadata":{"name":"last","namespace":"default"},"spec":{"containers":[{"name":"c","image":"i"}]}}' >/dev/null
told_last() { grep -q '"name":"last"' "$T/all"; }
until_true told_last || fail "what came after the rebuilt store is not told"
until_true same_all || fail "replayed after a rebuilt store: $(diff "$T/want" "$T/got" | head)"
kill "$all"

# ---- for scripts
[ "$("$B"/informerctl changes nodes --count 3 --timeout "${PATIENCE}s" | jq -r .object.kind | sort | uniq -c | tr -s ' ')" = " 3 Node" ] || fail "--count"
for time in 200ms 20s; do # a busy machine may not come to it in the first
	code=0; "$B"/informerctl changes nodes --count 1000 --timeout $time >"$T/o" || code=$?
	[ $code = 1 ] && [ "$(wc -l <"$T/o")" -lt 4 ] || break
done
[ $code = 1 ] && [ "$(wc -l <"$T/o")" = 4 ] || fail "--timeout with --count: exit $code"
"$B"/informerctl changes nodes --timeout 100ms >/dev/null || fail "--timeout alone"
timeout "$PATIENCE" "$B"/informerctl changes nodes 2>"$T/e" | head -n 1 >/dev/null
[ "${PIPESTATUS[0]}" != 124 ] || fail "it does not end when its output is closed"
[ ! -s "$T/e" ] || fail "not quiet: $(cat "$T/e")"
code=0; "$B"/informerctl changes pod 2>"$T/e" --timeout nonsense || code=$?
[ $code = 2 ] && grep -q 'is no time' "$T/e" || fail "--timeout nonsense: $code"
code=0; "$B"/informerctl changes widgets 2>"$T/e" || code=$?
[ $code = 2 ] && grep -q "does not cache 'widgets'" "$T/e" || fail "unknown resource: $code $(cat "$T/e")"
code=0; "$B"/informerctl changes nodes -l 'a==(' 2>"$T/e" || code=$?
[ $code = 2 ] && [ -s "$T/e" ] || fail "bad selector: $code"
code=0; "$B"/informerctl --socket "$T/nosuch" changes nodes 2>"$T/e" || code=$?
[ $code = 2 ] && grep -q 'not running' "$T/e" || fail "no daemon: $code"
echo "ok: $lines lines"
