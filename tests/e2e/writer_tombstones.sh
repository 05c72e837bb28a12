#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Deletions are remembered by the daemon within the limits of its configuration, over its own end, and forgotten by age.
# Takes 5 s.
. "$(dirname "$0")/../support/script.sh"

pods=/api/v1/namespaces/default/pods
create() {
	printf '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"%s","namespace":"default"},"spec":{"containers":[{"name":"c","image":"i"}]}}' "$1" |
		curl -sf -X POST -H 'Content-Type: application/json' --data-binary @- "$url$pods" >/dev/null
}
delete() { curl -sf -X DELETE "$url$pods/$1" >/dev/null; }

start_sim --nodes 1 --pods-per-node 5
cat >"$T/config.yaml" <<'Y'
resources:
- pods
- resource: services
  tombstones: {count: 0}
tombstones: {count: 3, seconds: 600}
Y
start_daemon --config "$T/config.yaml"
wait_ready
floor=$(stat '.resources[0].tombstones.floor')
for i in 1 2 3 4 5; do create "gone-$i"; done
expect_stat '.resources[0].objects' "$(on_server /api/v1/pods)"
for i in 1 2; do delete "gone-$i"; done
expect_stat '.resources[0].tombstones.count' 2
stat_is '.resources[0].tombstones.floor' "$floor" || fail "the floor rose for nothing"
for i in 3 4 5; do delete "gone-$i"; done
expect_stat '.resources[0].objects' "$(on_server /api/v1/pods)"
expect_stat '.resources[0].tombstones.count' 3
[ "$(stat '.resources[0].tombstones.floor')" -gt "$floor" ] || fail "two went, and the floor is where it was"
stat_is '.resources[1].tombstones.count' 0 || fail "services have tombstones"

# the next writer goes on with them …
kill -9 "$daemon_pid"
wait "$daemon_pid" 2>/dev/null || true
start_daemon --config "$T/config.yaml"
wait_ready
stat_is '.resources[0].tombstones.count' 3 || fail "$(stat '.resources[0].tombstones') after the restart"

# … and forgets them when it is told a shorter time
stop_daemon TERM
sed -i 's/seconds: 600/seconds: 1/' "$T/config.yaml"
start_daemon --config "$T/config.yaml"
wait_ready
expect_stat '.resources[0].tombstones.count' 0
