#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# informerctl purge leaves the arena of an informerd that runs, is stopped or ended less than a minute ago, also with --yes, and the arena
# that a reader still has; it removes what is left over, and the next informerd begins without it.
# Not upstream: it is about files.
# Takes 2 s.
. "$(dirname "$0")/../support/script.sh"
export INFORMER_SOCKET=$S
purge() { "$B"/informerctl purge --arena-dir "$T" "$@" >"$T/out" 2>"$T/err"; }
# make_old: as if the last heartbeat, at byte 448 of the header, and the file were of the boot; the creation is at 72
make_old() {
	for at in 72 448; do
		printf '\1\0\0\0\0\0\0\0' | dd of="$1" bs=1 seek=$at conv=notrunc status=none
	done
}
arena() { ls "$T"/informer-*.[0-9]* 2>/dev/null; }
stays() { purge --yes && [ ! -s "$T/out" ] && grep -q 'nothing is left over' "$T/err" && [ -e "$1" ] || fail "$2: $(cat "$T/out" "$T/err")"; }

[ "$(cut -d . -f 1 /proc/uptime)" -gt 61 ] || { echo "SKIP the machine has been up for a minute at most"; exit 77; }
start_sim --nodes 2 --pods-per-node 5
start_daemon --resource pods
wait_ready
file=$(arena)
make_old "$file" # the heartbeat alone may be a second away
stays "$file" "a live informerd's arena"
kill -STOP "$daemon_pid"
make_old "$file"
stays "$file" "a stopped informerd's arena"
kill -CONT "$daemon_pid"
"$B"/informerctl changes pods -A >"$T/changes" 2>&1 &
reader=$!
until_true grep -q "^{" "$T/changes" || fail "no reader"
stop_daemon KILL
make_old "$file"
stays "$file" "the arena of a reader"
kill "$reader"
wait "$reader" 2>/dev/null || true

purge || fail "purge: $?"
grep -q "^$file .*left over" "$T/out" && grep -q 'add --yes' "$T/err" && [ -e "$file" ] || fail "it does not list: $(cat "$T/out" "$T/err")"
purge -y || fail "purge --yes: $?"
grep -q "^$file .*removed" "$T/out" && [ ! -e "$file" ] || fail "it does not remove: $(cat "$T/out" "$T/err")"
start_daemon --resource pods
wait_ready
grep -q 'adopted' "$T/daemon.log" && fail "it adopted what was removed"
stop_daemon TERM
stays "$(arena)" "the arena of a moment ago"
echo "ok: purge"
