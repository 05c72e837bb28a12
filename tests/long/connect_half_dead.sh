#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A server that is frozen, though its kernel still acknowledges everything, is noticed within a minute; here with seconds for half
# minutes. Its watches end, and go on where they were when it comes back: no LIST, and nothing is missed. One that has nothing to
# tell, and answers, is left alone, and its resources stay young.
# Takes 15 s.
. "$(dirname "$0")/../support/script.sh"

export HTTP2_READ_IDLE_TIMEOUT_SECONDS=2 HTTP2_PING_TIMEOUT_SECONDS=4
start_sim --nodes 2 --pods-per-node 5
again() { stat '[.resources[].watches] | add'; }
listed() { stat '[.resources[] | .lists + .watch_lists] | add'; }
deaths() { grep -c 'taken for dead' "$T/daemon.log" || true; }

frozen_and_back() { # HOW it is connected
	: >"$T/daemon.log"
	start_daemon --resource pods --resource services --resource nodes
	wait_ready
	expect_stat '.resources[0].objects' "$(on_server /api/v1/pods)"
	before=$(again) lists=$(listed)
	sleep 9 # two questions at least: not a condition, but the time in which nothing must happen
	[ "$(again)" = "$before" ] || fail "$1: a quiet watch was ended: $(cat "$T/daemon.log")"
	age=$(stat '[.resources[].age_ns] | max')
	[ "$age" -lt 7000000000 ] || fail "$1: a server that answers counts as silent for $age ns"
	kill -STOP "$sim_pid"
	until_true sh -c "grep -c 'taken for dead' '$T/daemon.log' | grep -q 3" || fail "$1: $(deaths) of 3 watches ended"
	kill -CONT "$sim_pid"
	until_true sh -c "grep -c 'watching again' '$T/daemon.log' | grep -q 3" || fail "$1: they do not come back"
	pod=$(curl -s "$url/api/v1/pods" | jq -r '.items[0].metadata | "\(.namespace)/pods/\(.name)"')
	curl -sf -X DELETE "$url/api/v1/namespaces/$pod" >/dev/null || fail "$1: no delete"
	expect_stat '.resources[0].objects' "$(on_server /api/v1/pods)"
	[ "$(listed)" = "$lists" ] || fail "$1: listed again"
	stop_daemon TERM
	[ "$code" = 0 ] || fail "$1: exit code $code"
}

frozen_and_back "as the server offers"
if [ "$SERVER" = apiserver ]; then
	export DISABLE_HTTP2=1
	frozen_and_back "HTTP/1.1 with TLS"
fi
echo ok
