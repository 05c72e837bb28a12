#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# informerd is away: informerctl get shows what it left, says how old that is, and that it is away; not while it lives, not to another
# user, and nothing that waits for informerd takes that for an answer. One that is stopped is named.
# Takes 11 s.
. "$(dirname "$0")/../support/script.sh"
export INFORMER_SOCKET=$S
pods() { "$B"/informerctl get pods -A -o name 2>"$T/err" | LC_ALL=C sort; }
chmod 755 "$T"

start_sim --nodes 4 --pods-per-node 25 --churn 300
start_daemon --resource pods
wait_ready
stop_daemon KILL
pods >"$T/after-kill"
[ "$(wc -l <"$T/after-kill")" -ge 80 ] || fail "$(wc -l <"$T/after-kill") pods after a kill"
grep -q 'as of .* ago: .*is informerd running' "$T/err" || fail "no word about its age: $(cat "$T/err")"
"$B"/informerctl get pods -A -o json 2>"$T/err" | jq -e '.items | length >= 80' >"$T/json" || fail "no JSON: $(cat "$T/err")"

# who waits for informerd still does; what needs it says so
! "$B"/informerctl wait --for=synced --timeout=200ms pods 2>"$T/err" || fail "wait takes an orphan for synced"
! "$B"/informerctl stat >"$T/out" 2>"$T/err" || fail "stat takes an orphan for a daemon"
grep -q 'informerd is not running' "$T/err" || fail "stat: $(cat "$T/err")"

# another user is told who may
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	cp "$B"/informerctl "$T/informerctl"
	! setpriv --reuid 65534 --clear-groups "$T/informerctl" get pods -A >"$T/out" 2>"$T/err" || fail "another user reads it"
	grep -q 'can be read by root and its user (uid 0)' "$T/err" || fail "to another user: $(cat "$T/err")"
fi

# its blocks are verified, with the keys of its key file; without that file, or with another's, not
"$B"/informerctl verify >"$T/out" 2>"$T/err" || fail "an orphan is not verified: $(cat "$T/err")"
grep -Eq '^ok: .* [1-9][0-9]* tags, .* 0 faults' "$T/out" || fail "verify says: $(cat "$T/out")"
mv "$S.key" "$T/key"
! "$B"/informerctl verify >"$T/out" 2>"$T/err" || fail "verified without a key"
grep -q 'nothing can be verified: key file .*No such file' "$T/err" || fail "without a key: $(cat "$T/err")"
head -c 32 /dev/zero >"$S.key"
chmod 600 "$S.key"
code=0
"$B"/informerctl verify >"$T/out" 2>"$T/err" || code=$?
[ "$code" = 1 ] && grep -q 'made with another key file; start informerd' "$T/err" || fail "with another key, exit $code: $(cat "$T/err")"
mv "$T/key" "$S.key"

# stopped by a signal it does not answer, and that is said
start_daemon --resource pods
wait_ready
kill -STOP "$daemon_pid"
! "$B"/informerctl get pods -A >"$T/out" 2>"$T/err" || fail "a stopped writer answers: $(cat "$T/out")"
grep -q "informerd (pid $daemon_pid) has not answered for [0-9]* s: is it stopped" "$T/err" || fail "beside a stopped writer: $(cat "$T/err")"
kill -CONT "$daemon_pid"
expect_stat '.resources[0].state' synced # it has come to its loop
pods >"$T/goes-on"
[ ! -s "$T/err" ] || fail "it goes on, and get says: $(cat "$T/err")"
stop_daemon KILL

# it comes back and ends while somebody reads all the time, in good order and by kill -9: each answer is whole
touch "$T/go"
while [ -e "$T/go" ]; do
	"$B"/informerctl get pods -A -o name 2>"$T/reader.err" | wc -l >>"$T/counts"
done &
reader=$!
for signal in TERM KILL TERM KILL; do
	start_daemon --resource pods
	wait_ready
	sleep 0.2
	stop_daemon "$signal"
	pods >"$T/after-$signal"
	[ "$(wc -l <"$T/after-$signal")" -ge 80 ] || fail "$(wc -l <"$T/after-$signal") pods after $signal: $(cat "$T/err")"
done
enough() { [ "$(wc -l <"$T/counts")" -ge 10 ]; }
until_true enough || fail "only $(wc -l <"$T/counts") answers"
rm "$T/go"
wait "$reader"
# between its first sign of life and its first answer there is nothing to read: no pods, never some of them
awk '$1 > 0 && $1 < 80 { exit 1 }' "$T/counts" || fail "$(sort "$T/counts" | uniq -c)"
echo "ok: $(wc -l <"$T/counts") answers"
