#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a named consumer acknowledged outlives reader and daemon, killed at once: it goes on with what it has not seen. Readers are told when
# the API server is away, and when it is back.
# Takes 5 s.
. "$(dirname "$0")/../support/script.sh"

pods=/api/v1/namespaces/default/pods
create() {
	printf '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"%s","namespace":"default"},"spec":{"containers":[{"name":"c","image":"i"}]}}' "$1" |
		curl -sf -X POST -H 'Content-Type: application/json' --data-binary @- "$url$pods" >/dev/null
}
reader_pid=
consume() {
	"$B"/tests/consume "$S" agent >"$T/$1" 2>>"$T/consume.log" &
	reader_pid=$!
	until_true grep -q SYNCED "$T/$1" || fail "the reader does not get what is there: $(cat "$T/$1")"
}
end_reader() {
	kill -9 "$reader_pid"
	wait "$reader_pid" 2>/dev/null || true
	reader_pid=
}

start_sim --nodes 1 --pods-per-node 5
start_daemon --resource pods
wait_ready
consume first
[ "$(grep -c ^initial "$T/first")" = "$(on_server /api/v1/pods)" ] || fail "initial adds: $(cat "$T/first")"
create seen
until_true grep -q '^add default/seen' "$T/first" || fail "no event: $(cat "$T/first")"
expect_stat '.readers[] | .queues[] | [.resource, .consumer, .open, .unread] | @csv' '"pods","agent",true,0'
expect_stat '.consumers[] | [.name, .attached, .lag] | @csv' '"agent",true,0'
"$B"/informerctl --socket "$S" stat >"$T/table" || fail "no table"
grep -q '^pods *agent *consume *[0-9]* *agent *open *0/4096' "$T/table" || fail "no queue in $(cat "$T/table")"
grep -q '^agent .* attached' "$T/table" || fail "no consumer in $(cat "$T/table")"

# nothing more is committed; it is kept all the same, since the lag became 0
kill -9 "$daemon_pid"
end_reader
wait "$daemon_pid" 2>/dev/null || true
create missed
start_daemon --resource pods
wait_ready
expect_stat '.consumers[] | [.name, .attached] | @csv' '"agent",false'
consume second
until_true grep -q '^add default/missed' "$T/second" || fail "it was missed: $(cat "$T/second")"
! grep -q 'initial\|seen' "$T/second" || fail "told again: $(cat "$T/second")"

stop_sim
until_true grep -q '^error 0' "$T/second" || fail "no error: $(cat "$T/second")"
start_sim --nodes 1 --pods-per-node 5
until_true grep -q '^recovered' "$T/second" || fail "not recovered: $(cat "$T/second")"
