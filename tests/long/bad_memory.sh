#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A memory cgroup's limit, past which a process that fills a tmpfs is killed: informerd stops before it, says what to do, keeps what it knows,
# and goes on when there is less to keep.
# Not upstream: it is about readers, limits or broken answers, which are the same there.
# Takes 5 s.
. "$(dirname "$0")/../support/script.sh"
. "$(dirname "$0")/../support/bad.sh"
. "$(dirname "$0")/../support/small.sh"

small_memory $((64 << 20))
small_tmpfs 200m # more than the memory

head -c 45000000 /dev/urandom | base64 -w 60000 >"$T/random"
# items NAME RV COUNT: config maps of 60 KB that share nothing
items() {
	printf '{"kind":"ConfigMapList","metadata":{"resourceVersion":"%s"},"items":[%s' "$2" "$(object d first 5)"
	head -n "$3" "$T/random" |
		awk '{printf ",{\"metadata\":{\"name\":\"m-%d\",\"namespace\":\"d\",\"uid\":\"u-%d\",\"resourceVersion\":\"6\"},\"data\":{\"x\":\"%s\"}}", NR, NR, $0}'
	printf ']}'
}
items x 10 20 >"$R/configmaps.list.1"
items x 20 1000 >"$R/configmaps.list"
: >"$R/configmaps.watch.1"
list ServiceList 7 "$(object n s 6)" >"$R/services.list"
start_bad_server
start_daemon --no-watch-list --arena-dir "$A" --resource configmaps --resource services
echo "$daemon_pid" >"$G/cgroup.procs"
wait_ready

expired >>"$R/configmaps.watch.1"
refused() { stat '.resources[0].last_error' | grep -q 'LIST failed: the arena is full: raise arena.maxBytes, .* or the memory limit'; }
until_true refused || fail "60 MB fit into 64 MiB, or nobody is told: $(stat '.resources[0]')"
kill -0 "$daemon_pid" || fail "the daemon was killed"
[ "$(stat '.resources[0] | "\(.state) \(.objects) \(.rv)"')" = 'synced 21 10' ] || fail "what was known is lost: $(stat '.resources[0]')"
[ "$(stat '.resources[1] | "\(.state) \(.activity) \(.objects)"')" = 'synced watching 1' ] || fail "services: $(stat '.resources[1]')"
"$B"/informerctl --socket "$S" verify >"$T/verify.log" 2>&1 || fail "$(cat "$T/verify.log")"

items x 30 100 >"$R/new"
mv "$R/new" "$R/configmaps.list"
rm "$R/configmaps.watch.1"
fits() { [ "$(stat '.resources[0] | "\(.state) \(.objects) \(.rv)"')" = 'synced 101 30' ]; }
until_true fits || fail "the smaller list does not come: $(stat '.resources[0]')"
stop_daemon TERM
[ "$code" = 0 ] || fail "exit code $code"
echo ok
