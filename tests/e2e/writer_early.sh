#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# An informerd that starts before the program that writes its kubeconfig waits for the file, which may be missing, empty or half. A file that
# stays wrong ends it; --check waits for nothing, and neither does a start without a named file.
# Not upstream: it is about files.
# Takes 6 s.
. "$(dirname "$0")/../support/script.sh"

start_sim --nodes 1 --pods-per-node 2
mv "$T/kubeconfig" "$T/good"

# awaited WHY: informerd says once what it waits for, before it asks for anything; then it gets what it needs
awaited() {
	: >"$T/daemon.log"
	start_daemon --resource pods
	logged "waiting for the kubeconfig $T/kubeconfig: $1" || fail "it does not wait: $1"
	until_true grep -q EXTEND_TIMEOUT "$notify_log" || fail "systemd is not asked for time"
	cp "$T/good" "$T/next"
	mv "$T/next" "$T/kubeconfig"
	wait_ready
	[ "$(grep -c 'waiting for the kubeconfig' "$T/daemon.log")" = 1 ] || fail "it says more than once that it waits"
	stop_daemon TERM
	[ "$code" = 0 ] || fail "exit code $code"
	rm "$T/kubeconfig"
}
awaited 'there is no such file'
: >"$T/kubeconfig"
awaited 'the file is still empty'

# half of it: as long as somebody writes it
head -c 150 "$T/good" >"$T/kubeconfig"
while sleep 0.1; do touch -c "$T/kubeconfig"; done &
writing=$!
awaited 'the file is being written'
kill "$writing"

# systemd's jobs do not wait for a file without limit, nor for the API server: 30 s, here in seconds of a fast clock
until_told_anyway() {
	until_true grep -q "^STATUS=$1.* READY=1" "$notify_log" || fail "systemd hears: $(cat "$notify_log")"
	stop_daemon TERM
}
start_daemon --resource pods
until_told_anyway 'waiting for the files'
cp "$T/good" "$T/kubeconfig"
stop_sim
SHIFT_CLOCK_SPEED=50 LD_PRELOAD=$(realpath "$B/tests/shift_clock.so") start_daemon --resource pods
until_told_anyway 'waiting for the API server'
rm "$T/kubeconfig"

# it ends while it waits
: >"$T/daemon.log"
start_daemon --resource pods
logged 'waiting for' || fail "it does not wait"
stop_daemon TERM
[ "$code" = 0 ] || fail "exit code $code of one that waits"

# refused PATTERN FLAGS...
refused() {
	code=0
	timeout "$PATIENCE" "$B"/informerd --socket "$S" --arena-dir "$T" --resource pods "${@:2}" >"$T/out.log" 2>&1 || code=$?
	[ "$code" = 1 ] && grep -q -- "$1" "$T/out.log" || fail "informerd ${*:2}: exit code $code, no '$1'"
}
head -c 150 "$T/good" >"$T/kubeconfig"
refused "$T/kubeconfig" --kubeconfig "$T/kubeconfig"
sed 's/^current-context:.*/current-context: other/' "$T/good" >"$T/wrong"
touch -d '1 hour ago' "$T/wrong"
refused "no context 'other'" --kubeconfig "$T/wrong"
grep -q waiting "$T/out.log" && fail "it waits for a file that is complete"
refused 'No such file' --kubeconfig "$T/none" --check
(
	unset KUBECONFIG KUBERNETES_SERVICE_HOST
	HOME=$T refused 'no API server is known'
)
[ ! -e "$S" ] || fail "a socket was made"
echo ok
