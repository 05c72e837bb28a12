#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# informerd is away: informerctl get shows what it left, says how old that is, and that it is away; not while it lives, not to another
# user, and nothing that waits for informerd takes that for an answer.
. "$(dirname "$0")/../support/daemon.sh"
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
	grep -q 'can be read by root and by its user (uid 0)' "$T/err" || fail "to another user: $(cat "$T/err")"
fi

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
