#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What goes wrong on the wire goes wrong as the script says: each rule, how often, and the conversation told by the log.
# Not upstream: it tries informer-sim's own flags and faults.
# Takes 21 s.
. "$(dirname "$0")/../support/script.sh"
set +e # codes are compared
export KUBECONFIG=$T/kubeconfig
for n in a b c d e; do
	echo '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"'$n'","namespace":"n"},"spec":{"containers":[]}}'
done >"$T/pods.json"
echo 'when GET pods then 503 once # from the start' >"$T/script"
start_sim --load "$T/pods.json" --faults "$T/script" --rv-wait 100
PODS=/api/v1/namespaces/n/pods
MAPS=/api/v1/namespaces/n/configmaps
faults() { api DELETE /sim/faults >/dev/null; api POST /sim/faults --data-binary "$1" -o "$T/rules" -w '%{http_code}' | grep -q 200 || fail "$(cat "$T/rules")"; api DELETE /sim/log >/dev/null; }
# curl's own exit code, then the HTTP code
curl_code() { curl -s -o "$T/body" -w '%{http_code}' --max-time "${MAX:-$PATIENCE}" "$url$1" >"$T/code"; echo "$? $(cat "$T/code")"; }
types() { jq -r '[.type, .object.metadata.name // .object.code] | join(" ")' "$T/body" 2>/dev/null | tr '\n' ,; }
put() { api POST $MAPS -d '{"metadata":{"name":"'$1'"}}' >/dev/null; }

same "a script of --faults acts" "503 ServiceUnavailable the server is currently unable to handle the request" "$(status GET $PODS/a)"
same "once" a "$(api GET $PODS/a | jq -r .metadata.name)"
same "and counts" "when GET pods then 503 once  # 1" "$(api GET /sim/faults)"

# ---- answers
faults 'when LIST pods nth 2 then 429 retry-after 7 once
when LIST pods page 2 then 410 once
when LIST rv 77 then too-large
when LIST rv none in m then gone
when DISCOVERY then 500 times 2'
same "the first LIST is served" 200 "$(code GET $PODS)"
same "the second is one too many" "429 7" "$(curl -s -o "$T/body" -w '%{http_code} %header{retry-after}' "$url$PODS")"
same "which says when to come back" 7 "$(jq .details.retryAfterSeconds "$T/body")"
TOKEN=$(api GET "$PODS?limit=2" | jq -r .metadata.continue)
api GET "$PODS?limit=2&continue=$TOKEN" >"$T/410"
same "page 2 expires" "410 Expired" "$(jq -r '"\(.code) \(.reason)"' "$T/410")"
same "with the token that goes on inconsistently" "c d" "$(api GET "$PODS?limit=2&continue=$(jq -r .metadata.continue "$T/410")" | jq -r '[.items[].metadata.name]|join(" ")')"
same "too large" "504 ResourceVersionTooLarge" "$(api GET "$PODS?resourceVersion=77" | jq -r '"\(.code) \(.details.causes[0].reason)"')"
same "gone" "410 Gone" "$(api GET /api/v1/namespaces/m/pods | jq -r '"\(.code) \(.reason)"')"
same "discovery" "500 500 200" "$(code GET /api/v1) $(code GET /apis) $(code GET /api)"
same "the conversation" "LIST pods in n -> 200
LIST pods in n -> 429
LIST pods in n limit=2 -> 200
LIST pods in n page=2 limit=2 -> 410
LIST pods in n page=2 limit=2 -> 200
LIST pods in n rv=77 -> 504
LIST pods in m -> 410
GET /api/v1 -> 500
GET /apis -> 500
GET /api -> 200" "$(api GET /sim/log | sed 's/ rv=[0-9]* items=.*//')"
same "a future RV is told after --rv-wait" "504 true" "$(curl -s -o /dev/null -w '%{http_code} %{time_total}' "$url$PODS?resourceVersion=9999" | awk '{print $1, ($2 < 2 ? "true" : $2)}')"
faults 'when LIST pods then too-large cause once
when LIST pods then too-large message once'
same "too large, told by the cause" "504 ResourceVersionTooLarge Timeout: the cache lags behind" "$(api GET $PODS | jq -r '"\(.code) \(.details.causes[0].reason) \(.message)"')"
same "too large, told by the message" "504 Timeout Timeout: Too large resource version null" \
	"$(api GET $PODS | jq -r '"\(.code) \(.reason) \(.message | split(":")[:2] | join(":")) \(.details.causes)"')"
faults 'when LIST pods rv 0 then paginate 2
when LIST pods then say <html>a proxy</html> once'
TOKEN=$(api GET "$PODS?resourceVersion=0&limit=500" | jq -r '"\(.items|length) \(.metadata.continue)"')
same "a server without a cache lists by pages" 2 "${TOKEN% *}"
same "something else is said" "<html>a proxy</html>" "$(api GET "$PODS?limit=500&continue=${TOKEN#* }")"
same "and then the next page" "c d e" "$(api GET "$PODS?limit=500&continue=${TOKEN#* }" | jq -r '[.items[].metadata.name]|join(" ")')"

# ---- documents
faults 'when LIST pods then close once
when LIST pods then close mid-frame once
when LIST pods after 10 bytes then truncate once
when LIST pods then invalid once
when LIST pods then slow 100 bytes every 5ms once
when LIST pods then slow 50ms once
when LIST pods then freeze once'
same "no answer" "52 000" "$(curl_code $PODS)"
same "half a document" "18 200" "$(curl_code $PODS)"
same "ten bytes, as if they were all" "0 200 10" "$(curl_code $PODS) $(wc -c <"$T/body")"
curl_code $PODS >/dev/null
jq . "$T/body" >/dev/null 2>&1 && fail "invalid JSON is none"
same "slow, but whole" "0 200 5" "$(curl_code $PODS) $(jq '.items|length' "$T/body")"
same "late" "0 200 5" "$(curl_code $PODS) $(jq '.items|length' "$T/body")"
same "frozen until the client loses patience" "28 000" "$(MAX=0.3 curl_code $PODS)"
same "then all is well" "0 200" "$(curl_code $PODS)"

# ---- an older state
put old
RV=$(api GET $MAPS | jq -r .metadata.resourceVersion)
put new
faults 'when LIST configmaps then stale 1 once
when GET configmaps then stale 1 once'
same "a server that lags behind lists what was" "old $RV" "$(api GET $MAPS | jq -r '"\([.items[].metadata.name]|join(" ")) \(.metadata.resourceVersion)"')"
same "and has not heard of it" 404 "$(code GET $MAPS/new)"
same "until it has" 200 "$(code GET $MAPS/new)"

# ---- watches
W="$MAPS?watch=1&resourceVersion=$RV&timeoutSeconds=1"
for n in 1 2 3 4; do put n$n; done
# told WHAT RULE EXPECTED: the same watch each time, and one thing that goes wrong
told() { faults "when WATCH configmaps $2 once"; same "$1" "$3" "$(curl_code "${W%1}${LAST:-1}") $(types)"; }
told "410 at open" "then 410" "0 410  ,"
told "an ERROR in the stream ends it" "after 3 events then 410" "0 200 ADDED new,ADDED n1,ADDED n2,ERROR 410,"
told "closed behind a line" "after 2 events then close" "18 200 ADDED new,ADDED n1,"
told "closed within a line" "after 2 events then close mid-frame" "18 200 ADDED new,ADDED n1,"
[ "$(wc -l <"$T/body")" = 2 ] && [ "$(tail -c 1 "$T/body")" != "" ] || fail "there is half a line behind: $(cat "$T/body")"
same "the log tells why" "WATCH configmaps in n rv=$RV timeout=1 ended after 3 events: close mid-frame" "$(api GET /sim/log | tail -1)"
told "ended cleanly" "after 2 events then end" "0 200 ADDED new,ADDED n1,"
told "a line that breaks off, and a clean end" "after 1 event then truncate" "0 200 ADDED new,"
told "a line that is no JSON" "after 2 events then invalid" "0 200 ADDED new,ADDED n1,"
told "old events again" "after 2 events then stale 2" "0 200 ADDED new,ADDED n1,ADDED new,ADDED n1,ADDED n2,ADDED n3,ADDED n4,"
LAST=20 told "an error after some time" "after 100ms then 500" "0 200 ADDED new,ADDED n1,ADDED n2,ADDED n3,ADDED n4,ERROR 500,"
LAST=4 told "slow, but whole" "then slow 50 bytes every 1ms" "0 200 ADDED new,ADDED n1,ADDED n2,ADDED n3,ADDED n4,"
MAX=3 told "frozen behind the first event" "after 1 event then freeze" "28 200 ADDED new,"
frozen() { api GET /sim/log | grep -q "ended after 1 event: freeze"; }
until_true frozen || fail "the frozen one is noticed to be gone"
faults 'when WATCHLIST then 422 once'
same "WatchList refused" "422 Invalid" "$(api GET "$PODS?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan" | jq -r '"\(.code) \(.reason)"')"

told "a bookmark behind what was sent" "idle then bookmark" "0 200 ADDED new,ADDED n1,ADDED n2,ADDED n3,ADDED n4,BOOKMARK ,"
same "has its RV" "$(api GET $MAPS | jq -r .metadata.resourceVersion)" "$(jq -r 'select(.type == "BOOKMARK").object.metadata.resourceVersion' "$T/body")"
told "a line between two others" 'after 1 event then say {"type":"RENAMED","object":{"code":7}}' \
	"0 200 ADDED new,RENAMED 7,ADDED n1,ADDED n2,ADDED n3,ADDED n4,"
told "ended when all was sent" "idle then end" "0 200 ADDED new,ADDED n1,ADDED n2,ADDED n3,ADDED n4,"
marked() { curl_code "$PODS?watch=1&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=1" >/dev/null; grep -c initial-events-end "$T/body"; }
faults 'when WATCHLIST then plain once'
same "a server that does not know sendInitialEvents" "0 5" "$(marked) $(grep -c ADDED "$T/body")"
same "and one that does" "1 5" "$(marked) $(grep -c ADDED "$T/body")"

# ---- step by step
faults 'when LIST pods then hold'
held() { [ "$(api GET /sim/held)" = "$1" ]; }
curl -s -o "$T/first" "$url$PODS?limit=1" & FIRST=$!
until_true held "LIST pods in n limit=1" || fail "a request is held"
curl -s -o "$T/second" "$url$PODS?limit=2" & SECOND=$!
until_true held "LIST pods in n limit=1
LIST pods in n limit=2" || fail "and another one"
same "the first is answered as told" "LIST pods in n limit=2" "$(api POST /sim/held -d '429 retry-after 9')"
wait $FIRST
same "so" 429 "$(jq .code "$T/first")"
api POST /sim/held >/dev/null
wait $SECOND
same "the other as if nothing were" "a b" "$(jq -r '[.items[].metadata.name]|join(" ")' "$T/second")"
same "nobody is held" "409" "$(code POST /sim/held)"
same "what is no answer" "400 400" "$(code POST /sim/held -d explode) $(code POST /sim/held -d hold)"
MAX=0.2 curl_code $PODS >/dev/null
until_true held "" || fail "a client that goes is not held any more"
faults ''

# ---- no server at all
faults 'when LIST pods then refuse 4000ms once'
curl_code $PODS >/dev/null
same "nobody listens" "7 000" "$(curl_code $PODS)"
served() { curl -sf -o /dev/null "$url$PODS"; }
until_true served || fail "it comes back on its port"

# ---- restored from a backup
faults ''
put late
NOW=$(api GET $MAPS | jq -r .metadata.resourceVersion)
curl -sN "$url$MAPS?watch=1&resourceVersion=$NOW&timeoutSeconds=60" >"$T/body" & CURL=$!
watched() { [ "$(api GET /sim/stats | jq .watches)" = 1 ]; }
until_true watched || fail "it is watched"
same "back at the older RV" "$RV" "$(api POST "/sim/restore?rv=$RV" | jq .resourceVersion)"
wait $CURL
same "watches end" 0 $?
same "what came later never was" "old $RV" "$(api GET $MAPS | jq -r '"\([.items[].metadata.name]|join(" ")) \(.metadata.resourceVersion)"')"
put other
same "RVs are given a second time" $((RV + 1)) "$(api GET $MAPS/other | jq -r '.metadata.resourceVersion')"
same "one who knows more than the server waits" "504 Timeout" "$(api GET "$MAPS?resourceVersion=$NOW" | jq -r '"\(.code) \(.reason)"')"
same "there is no way to the future" 409 "$(code POST '/sim/restore?rv=99999')"
faults 'when GET pods then restore 1 once'
api GET $PODS/a >/dev/null
same "a rule can do it too" "$RV" "$(api GET $MAPS | jq -r .metadata.resourceVersion)"

# ---- chance
faults 'random seed=1 rate=100% WATCH configmaps end'
same "chance strikes watches too" "0 200 " "$(curl_code "$MAPS?watch=1&resourceVersion=$RV") $(types)"

# ---- a script that cannot be read
echo 'when LIST' >"$T/script"
"$B/informer-sim" --faults "$T/script" 2>"$T/e"
same "of --faults: code 1" 1 $?
grep -q 'line 1: "" is no condition' "$T/e" || fail "and says why: $(cat "$T/e")"
