#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A named consumer is not forgotten for time in which no informerd ran, nor for a wall clock that is set forward beside one.
# Takes 5 s.
. "$(dirname "$0")/../support/script.sh"

day=$((24 * 3600))
# set_clock SECONDS: how far the daemon's wall clock is ahead
set_clock() {
	echo "$1" >"$T/clock.new"
	mv "$T/clock.new" "$T/clock"
}
start_ahead() {
	SHIFT_CLOCK_FILE=$T/clock LD_PRELOAD=$(realpath "$B/tests/shift_clock.so") start_daemon --resource pods
	wait_ready
}
# visit NAME: it reads until what it acknowledged was taken, which the daemon does where it forgets, and goes
visit() {
	"$B"/tests/consume "$S" "$1" >"$T/$1" 2>>"$T/consume.log" &
	reader_pid=$!
	until_true grep -q SYNCED "$T/$1" || fail "$1 does not get what is there: $(cat "$T/$1")"
	expect_stat ".consumers[] | select(.name == \"$1\") | [.attached, .lag] | @csv" 'true,0'
	kill -9 "$reader_pid"
	wait "$reader_pid" 2>/dev/null || true
	reader_pid=
	expect_stat ".consumers[] | select(.name == \"$1\") | [.attached, .lag] | @csv" 'false,0'
}

start_sim --nodes 1 --pods-per-node 5
set_clock 0
start_ahead
visit agent

kill_daemon() {
	kill -9 "$daemon_pid"
	wait "$daemon_pid" 2>/dev/null || true
}

# the machine is off for eight days; and informerd is killed when it has just committed
kill_daemon
set_clock $((8 * day))
start_ahead
kill_daemon
start_ahead
visit second
expect_stat '[.consumers[].name] | sort | @csv' '"agent","second"'

# its clock is set beside informerd
set_clock $((16 * day))
visit third
expect_stat '[.consumers[].name] | sort | @csv' '"agent","second","third"'

# killed and started once more: what was moved over stays so
kill_daemon
start_ahead
visit fourth
expect_stat '[.consumers[].name] | sort | @csv' '"agent","fourth","second","third"'
