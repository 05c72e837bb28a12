#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# informer-sim's watches: events, selectors, bookmarks, history, slow clients; and
# the proof that LIST + WATCH under churn ends in the server's own state.
# Not upstream: it tries informer-sim's own flags and faults.
# Takes 17 s.
. "$(dirname "$0")/../support/script.sh"
set +e # codes are compared
export KUBECONFIG=$T/kubeconfig
start_sim --history 200 --bookmark-interval 1 --crd widgets.v1.example.com
MAPS=/api/v1/namespaces/wire/configmaps
put() { api POST $MAPS -d '{"metadata":{"name":"'$1'","labels":{"app":"'$2'"}}}' >/dev/null; }
label() { curl -s -X PATCH -H 'Content-Type: application/merge-patch+json' -d '{"metadata":{"labels":{"app":"'$2'"}}}' "$url$MAPS/$1" >/dev/null; }
watch() { curl -sN "$url$1" >"$T/$2" & WATCH=$!; }
watches() { [ "$(api GET /sim/stats | jq .watches)" = "$1" ]; }
events() { jq -r '[.type, .object.metadata.name // "-", .object.metadata.labels.app // "-"] | join(" ")' "$T/$1"; }

# ---- from an RV, with and without selector, at the same time
put old w
RV=$(api GET $MAPS | jq -r .metadata.resourceVersion)
watch "$MAPS?watch=true&resourceVersion=$RV&timeoutSeconds=60" all
ALL=$WATCH
watch "$MAPS?watch=1&resourceVersion=$RV&labelSelector=app%3Dw&timeoutSeconds=60" selected
watch "/api/v1/namespaces/other/configmaps?watch=1&resourceVersion=$RV&timeoutSeconds=60" other
until_true watches 3 || fail "three watches are open"
put a w
label a x
label a w
label a w
put b x
api DELETE $MAPS/b >/dev/null
api DELETE $MAPS/a >/dev/null
lines() { [ "$(wc -l <"$T/$1")" -ge "$2" ]; }
until_true lines all 6 || fail "the events arrive"
until_true lines selected 4 || fail "the selected ones too"
same "every change is an event, what changes nothing is none" "ADDED a w
MODIFIED a x
MODIFIED a w
ADDED b x
DELETED b x
DELETED a w" "$(events all)"
same "leaving the selection is DELETED with the old labels, entering ADDED" "ADDED a w
DELETED a w
ADDED a w
DELETED a w" "$(events selected)"
same "with the new RV" "$(jq -s '.[1].object.metadata.resourceVersion' "$T/all")" "$(jq -s '.[1].object.metadata.resourceVersion' "$T/selected")"
same "another namespace hears nothing" 0 "$(wc -l <"$T/other")"
same "objects carry kind and apiVersion" "ConfigMap v1" "$(head -1 "$T/all" | jq -r '"\(.object.kind) \(.object.apiVersion)"')"

# ---- replay of the past
same "a later watch from the same RV gets the same" "$(cat "$T/all")" "$(curl -s "$url$MAPS?watch=1&resourceVersion=$RV&timeoutSeconds=1")"
kill "$ALL"
until_true watches 2 || fail "a client that went away is noticed"

# ---- initial events
same "without an RV: an ADDED for everything" "ADDED old w" "$(curl -s "$url$MAPS?watch=1&timeoutSeconds=1" | jq -r '"\(.type) \(.object.metadata.name) \(.object.metadata.labels.app)"')"
same "RV 0 the same" "ADDED old w" "$(curl -s "$url$MAPS?watch=1&resourceVersion=0&timeoutSeconds=1" | jq -r '"\(.type) \(.object.metadata.name) \(.object.metadata.labels.app)"')"
curl -s "$url$MAPS?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=1" >"$T/list"
same "sendInitialEvents ends them with a marked bookmark" 'ADDED null
BOOKMARK true' "$(jq -r '"\(.type) \(.object.metadata.annotations["k8s.io/initial-events-end"])"' "$T/list" | head -2)"

# ---- bookmarks
NOW=$(api GET /sim/stats | jq -r .resourceVersion)
same "bookmarks carry kind and RV, for a pod the real server's bytes" '{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"'$NOW'"},"spec":{"containers":null},"status":{}}}' "$(curl -sN "$url/api/v1/pods?watch=1&allowWatchBookmarks=true&timeoutSeconds=60&resourceVersion=$NOW" | head -1)"
same "none unasked" "" "$(curl -s "$url/api/v1/pods?watch=1&timeoutSeconds=2&resourceVersion=$NOW")"

# ---- RVs that cannot be served
same "bad RV" '500 null resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax' "$(status GET "$MAPS?watch=1&resourceVersion=abc")"
same "a future RV: 200 and silence" "200 0" "$(curl -s -o /dev/null -w '%{http_code} %{size_download}' "$url$MAPS?watch=1&resourceVersion=99999999&timeoutSeconds=1")"
api POST /sim/compact >/dev/null
same "below the history: 200, one ERROR line, end" '{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old resource version: '$RV' ('$NOW')","reason":"Expired","code":410}} 200' "$(curl -s -w '%{http_code}' "$url$MAPS?watch=1&resourceVersion=$RV" | tr '\n' ' ')"

# ---- a client that does not read is cut off; others do not notice
WIDGETS=/apis/example.com/v1/namespaces/wire/widgets
exec 3<>"/dev/tcp/127.0.0.1/${url##*:}"
printf 'GET %s?watch=1&resourceVersion=%s HTTP/1.1\r\nHost: x\r\n\r\n' $WIDGETS "$NOW" >&3
watch "$WIDGETS?watch=1&resourceVersion=$NOW&timeoutSeconds=120" reader
until_true watches 4 || fail "both watch"
head -c 200000 /dev/zero | tr '\0' 'x' >"$T/fill"
printf '{"metadata":{"generateName":"w-"},"spec":"%s"}' "$(cat "$T/fill")" >"$T/widget"
for i in $(seq 6); do
	for k in $(seq 50); do echo "url=\"$url$WIDGETS\""; echo "data-binary=\"@$T/widget\""; echo 'header="Content-Type: application/json"'; echo 'output="/dev/null"'; echo next; done | sed '$d' | curl -s -K -
done
same "the writer was not held up" 300 "$(api GET $WIDGETS | jq '.items|length')"
cut() { [ "$(api GET /sim/stats | jq .watchesCut)" = 1 ]; }
until_true cut || fail "the deaf client is cut off"
until_true lines reader 300 || fail "the other one has every event"
exec 3<&-

end_sim
same "it ends with watches open" 0 $?

# ---- LIST, then WATCH through churn, replayed: the server's own list
start_sim --nodes 4 --pods-per-node 12 --seed 5
LIST=$(api GET /api/v1/pods | tee "$T/first" | jq -r .metadata.resourceVersion)
watch "/api/v1/pods?watch=1&resourceVersion=$LIST&timeoutSeconds=120" churned
until_true watches 1 || fail "it is watched"
api POST "/sim/churn?rate=2000&count=1500" >/dev/null
over() { [ "$(api GET /sim/stats | jq .churn.running)" = false ]; }
until_true over || fail "churn runs to its count"
same "and not further" 1500 "$(api GET /sim/stats | jq .churn.done)"
api GET /api/v1/pods >"$T/last"
api POST /api/v1/namespaces/end/pods -d '{"metadata":{"name":"end"}}' >/dev/null
ended() { grep -q '"name":"end","namespace":"end"' "$T/churned"; }
until_true ended || fail "the last event arrives"
sed '/"name":"end","namespace":"end"/d' "$T/churned" >"$T/events"
jq -cn --slurpfile first "$T/first" '
	def key: .metadata.namespace + "/" + .metadata.name;
	reduce inputs as $e (($first[0].items | map({(key): .}) | add);
		($e.object | del(.kind, .apiVersion)) as $o
		| if $e.type == "DELETED" then (if has($o|key) then del(.[$o|key]) else error("deleted twice") end)
		  elif $e.type == "ADDED" then (if has($o|key) then error("added twice") else .[$o|key] = $o end)
		  else .[$o|key] = $o end)
	| [to_entries | sort_by(.key)[].value]' "$T/events" >"$T/replayed" || fail "the events do not fit the list"
same "list and events give the server's state" "$(jq -cS '[.items | sort_by(.metadata.namespace + "/" + .metadata.name)[]]' "$T/last" | md5sum)" "$(jq -cS . "$T/replayed" | md5sum)"
same "RVs rise" true "$(jq -s '[.[].object.metadata.resourceVersion|tonumber] | . == sort' "$T/events")"
for t in ADDED MODIFIED DELETED; do
	[ "$(grep -c "^{\"type\":\"$t\"" "$T/events")" -gt 10 ] || fail "churn makes $t events"
done

# ---- churn for hours: creates and deletes pull back to as many pods as there were
api POST "/sim/churn?rate=100000&count=20000" >/dev/null
until_true over || fail "churn runs to its count"
PODS_NOW=$(api GET /sim/stats | jq .objects.pods.count)
[ "$PODS_NOW" -gt 24 ] && [ "$PODS_NOW" -lt 96 ] || fail "of 48 pods churn made $PODS_NOW"
