#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# informer-run and events that handlers crash on, hang on or want later; one process an event; draining; several handlers from a file;
# what it says of itself; a daemon or resource that is not there yet.
# Takes 16 s.
. "$(dirname "$0")/../support/script.sh"
. "$(dirname "$0")/../support/run.sh"
dead=$T/dead
pod() {
	curl -sf -X POST -H 'Content-Type: application/json' "$url/api/v1/namespaces/shop/pods" -d '{"apiVersion":"v1","kind":"Pod",
		"metadata":{"name":"'"$1"'","namespace":"shop","labels":{"app":"'"${2:-none}"'"}},"spec":{"containers":[{"name":"c","image":"i"}]}}' \
		>/dev/null || fail "cannot make pod $1"
}
label() { curl -sf -X PATCH -H 'Content-Type: application/merge-patch+json' "$url/api/v1/namespaces/shop/pods/$1" -d '{"metadata":{"labels":{"'"$2"'":"'"$3"'"}}}' >/dev/null || fail "cannot label $1"; }
has() { grep -q "$1" "$OUT"; }
count() { grep -c "$1" "$OUT" || true; }

# ---- no daemon yet: it waits, and says so once
start_run --resource pods --resource pods --consumer net --dead-letters "$dead" --deadline 4s -- env POISON=poison HANG=hang RETRY=later "$B"/tests/run_handler
until_true run_is net state waiting || fail "without informerd: $(cat "$T/run.log")"
start_sim --nodes 1 --pods-per-node 3
start_daemon --resource nodes
wait_ready
until_true grep -q "does not cache 'pods'" "$T/run.log" || fail "a resource that is not cached is not told"
stop_daemon KILL
start_daemon --resource pods --resource nodes
wait_ready
until_true run_is net processed 3 || fail "initial events: $(run_stat net processed)"
[ "$(grep -c 'waiting for informerd' "$T/run.log")" -le 2 ] || fail "it says too much: $(cat "$T/run.log")"
grep -q "caches 'pods' now" "$T/run.log" || fail "that pods are cached now is not told"

# ---- an event that is poison does not stop the rest, nor one that hangs; three tries each, then a dead letter
pod poison-1; pod well-1; pod hang-1; pod well-2; pod later-1; pod well-3
until_true run_is net deadLetters 2 || fail "dead letters: $(run_stat net deadLetters)"
until_true run_is net processed 7 || fail "the rest does not go on: $(run_stat net processed)"
[ "$(count poison-1)" = 3 ] && [ "$(count hang-1)" = 3 ] || fail "tries: poison $(count poison-1), hang $(count hang-1)"
[ "$(count later-1)" = 2 ] || fail "the event that was to come again came $(count later-1) times"
until_true run_is net retries 1 || fail "retries: $(run_stat net retries)"
until_true run_is net lagEvents 0 || fail "lag: $(run_stat net lagEvents)"
jq -e -s 'length == 2 and .[0].event.object.metadata.name == "poison-1" and (.[0].why | startswith("signal 6")) and .[0].crashes == 3 and
	.[1].event.object.metadata.name == "hang-1" and .[1].consumer == "net" and .[1].event.type == "ADDED"' "$dead" >/dev/null ||
	fail "dead letters: $(jq -c 'del(.event.object)' "$dead")"
[ "$(command stat -c %a "$dead")" = 600 ] || fail "others may read the dead letters"
"$B"/informer-run status | grep -Eq '^net +running +[0-9]+ +7 +1/1 +0 +[0-9]+ +6 +2$' || fail "status: $("$B"/informer-run status)"
# nothing but its workers is there, and no zombie
no_zombie() { ! ps -o stat= --ppid "$run_pid" | grep -q Z; }
until_true no_zombie || fail "zombies: $(ps --ppid "$run_pid")"

# ---- one that never answers is told how, as long as nothing was acknowledged
for handler in 'sleep 100' true; do
	"$B"/informer-run --resource nodes --consumer "mute-${handler%% *}" --dead-letters "$T/mute" --deadline 200ms --max-crashes 1 -- $handler 2>"$T/mute.log" &
	mute=$!
	until_true grep -q "nothing was acknowledged yet: a handler writes 'ack SEQ'" "$T/mute.log" || fail "no hint: $(cat "$T/mute.log")"
	kill -KILL "$mute"
	wait "$mute" 2>/dev/null || true
done
! grep -q 'nothing was acknowledged' "$T/run.log" || fail "a hint for who acknowledges"

# ---- a consumer's name is one process's; a second one waits for the first to end
"$B"/informer-run --resource pods --consumer net --name second --dead-letters "$dead" -- "$B"/tests/run_handler 2>"$T/second.log" &
second=$!
until_true grep -q 'another reader is attached as this consumer' "$T/second.log" || fail "two of one consumer: $(cat "$T/second.log")"
until_true run_is second state waiting || fail "two of one consumer: $(run_stat second state)"
kill -TERM "$second"
wait "$second" || fail "the second one ends with $?"

# ---- SIGTERM: what is under way is waited for, nothing new is begun
stop_run TERM
[ "$code" = 0 ] || fail "SIGTERM: exit $code"
touch "$T/hold"
export HOLD=$T/hold
start_run --resource pods --consumer net --dead-letters "$dead" --window 1 --drain-timeout "${PATIENCE}s" -- "$B"/tests/run_handler
pod held-1; pod held-2
until_true has held-1 || fail "held-1 does not come"
kill -TERM "$run_pid"
until_true run_is net state draining || fail "it does not drain"
until_true grep -q 'asked to end: waiting up to' "$T/run.log" || fail "it does not tell that it waits"
rm "$T/hold"
code=0; wait "$run_pid" || code=$?
[ "$code" = 0 ] || fail "drained: exit $code"
! has held-2 || fail "a new event was begun while draining"
# what was not begun comes with the next start; what was acknowledged does not
start_run --resource pods --consumer net --dead-letters "$dead" -- "$B"/tests/run_handler
until_true has held-2 || fail "held-2 does not come after the restart"
[ "$(count held-1)" = 1 ] || fail "held-1 comes again"
stop_run TERM
# one that does not answer in time is given up, with exit code 1, and comes again
touch "$T/hold"
start_run --resource pods --consumer net --dead-letters "$dead" --drain-timeout 200ms -- "$B"/tests/run_handler
pod held-3
until_true has held-3 || fail "held-3 does not come"
stop_run TERM
[ "$code" = 1 ] || fail "not drained: exit $code"
rm "$T/hold"
start_run --resource pods --consumer net --dead-letters "$dead" -- "$B"/tests/run_handler
twice() { [ "$(count held-3)" = 2 ]; }
until_true twice || fail "held-3 does not come again"
stop_run TERM

# ---- one process an event
cat >"$T/script.sh" <<'SH'
jq -r '"\(.type) \(.object.metadata.name)"' | sed "s|^|$INFORMER_TYPE $INFORMER_NAMESPACE/$INFORMER_NAME $INFORMER_SEQ |" >>"$OUT.exec"
case $INFORMER_NAME in
fails*) exit 1 ;;
tempfail*) [ -e "$OUT.again" ] || { touch "$OUT.again"; exit 75; } ;;
esac
SH
start_run --resource pods -n shop -l app=exec --consumer script --exec-per-event --workers 2 --dead-letters "$T/dead2" -- sh "$T/script.sh"
until_true run_is script state running || fail "--exec-per-event does not run"
pod fails-1 exec; pod tempfail-1 exec; pod fine-1 exec; pod other-1 other
label fine-1 mood good
label other-1 app exec
label fine-1 app nomore
until_true run_is script deadLetters 1 || fail "exec: dead letters $(run_stat script deadLetters)"
until_true run_is script processed 5 || fail "exec: processed $(run_stat script processed): $(cat "$OUT.exec")"
[ "$(grep -c '^ADDED shop/fails-1 [0-9]* ADDED fails-1$' "$OUT.exec")" = 3 ] || fail "exec: $(cat "$OUT.exec")"
[ "$(grep -c '^ADDED shop/tempfail-1 ' "$OUT.exec")" = 2 ] || fail "exec, 75: $(cat "$OUT.exec")"
[ "$(grep 'shop/fine-1' "$OUT.exec" | cut -d' ' -f1 | tr '\n' ' ')" = "ADDED MODIFIED DELETED " ] || fail "exec, order and filter: $(cat "$OUT.exec")"
grep -q '^ADDED shop/other-1' "$OUT.exec" || fail "exec, into the selector: $(cat "$OUT.exec")"
stop_run TERM
[ "$code" = 0 ] || fail "exec, SIGTERM: exit $code"

# ---- several handlers from a file, one of them broken: the others do not mind
cat >"$T/run.yaml" <<YAML
drainTimeout: 5s
handlers:
- {name: one, resource: pods, consumer: file-one, deadLetters: $T/dead3, command: [$B/tests/run_handler]}
- {name: two, resource: nodes, consumer: file-two, deadLetters: $T/dead3, command: "exec $B/tests/run_handler"}
- {name: broken, resource: pods, consumer: file-three, deadLetters: $T/dead3, command: "exit 7"}
YAML
unset HOLD
start_run --config "$T/run.yaml"
all=$(curl -s "$url/api/v1/pods" | jq '.items | length')
until_true run_is one processed "$all" || fail "one: $(run_stat one processed) of $all"
until_true run_is two processed 1 || fail "two: $(run_stat two processed)"
broken_restarts() { [ "$(run_stat broken restarts)" -ge 3 ]; }
until_true broken_restarts || fail "broken: $(run_stat broken restarts)"
[ "$("$B"/informer-run status -o json | jq -r '[.handlers[].name] | sort | join(" ")')" = "broken one two" ] || fail "status -o json"
stop_run TERM
code=0; "$B"/informer-run status 2>/dev/null || code=$?
[ $code = 1 ] || fail "status when nothing runs: exit $code"

# ---- every flag has its place in the man page
for flag in $("$B"/informer-run --help | sed -n 's/^ *\(-., \)\?--\([a-z-]*\).*/--\2/p'); do
	sed 's/\\//g' tools/man/informer-run.1 | grep -q -- "^\.\(B\|BR\).*$flag" || fail "$flag is not in informer-run(1)"
done

# ---- mistakes
code=0; "$B"/informer-run --resource pods --consumer x -- /nonexistent/handler 2>"$T/e" || code=$?
[ $code = 2 ] && grep -q '/nonexistent/handler: No such file' "$T/e" || fail "no such command: $code $(cat "$T/e")"
code=0; "$B"/informer-run --resource pods --consumer x -l 'a==(' --dead-letters "$dead" -- true 2>"$T/e" || code=$?
[ $code = 2 ] && [ -s "$T/e" ] || fail "bad selector: $code"
code=0; "$B"/informer-run --resource pods --consumer x --dead-letters /proc/nosuch/x -- true 2>"$T/e" || code=$?
[ $code = 2 ] && grep -q 'dead letters' "$T/e" || fail "no place for dead letters: $code"
echo ok
