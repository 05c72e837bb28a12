#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What waits for room goes on as soon as there is some, without a restart: the tmpfs is mounted anew with another size, arena.maxBytes is
# raised by a reload. And nothing is lost meanwhile. Of /dev/shm the arena takes three quarters, unless arena.maxBytes says more.
# Takes 11 s.
. "$(dirname "$0")/../support/script.sh"
. "$(dirname "$0")/../support/small.sh"

small_tmpfs 6m
in_trouble() { stat '.trouble + .resources[0].last_error' | grep -q 'the arena is full'; }
n=0
fill() {
	for _ in $(seq 300); do
		n=$((n + 1))
		create "big-$n"
		! in_trouble || return 0
	done
	until_true in_trouble || fail "all of it fits: $(stat .arena)"
}

start_sim --nodes 1 --pods-per-node 5
printf 'resources: [pods]\n' >"$T/config.yaml"
start_daemon --config "$T/config.yaml" --arena-dir "$A"
wait_ready
fill
stat_is '.arena.present_bytes <= .arena.limit_bytes' true || fail "$(stat .arena)"
mount -o remount,size=16m "$A" || fail "it cannot be remounted"
until_true same || fail "the tmpfs has grown, and $(stat '.resources[0].objects') pods; trouble: $(stat .trouble)"
logged 'the file system of the arena has another size: 16 MiB, it was 6' || fail "it is not said"

printf 'resources: [pods]\narena: {maxBytes: 12Mi}\n' >"$T/config.yaml"
kill -HUP "$daemon_pid"
until_true stat_is '.arena.limit_bytes' $((12 << 20)) || fail "$(stat .reload) $(stat .arena)"
fill
stat_is '.arena.present_bytes <= .arena.limit_bytes' true || fail "$(stat .arena)"
printf 'resources: [pods]\n' >"$T/config.yaml"
kill -HUP "$daemon_pid"
until_true same || fail "maxBytes is raised, and $(stat '.resources[0].objects') pods; trouble: $(stat .trouble)"
stop_daemon TERM
[ "$code" = 0 ] || fail "exit code $code"

# in /dev/shm a quarter is left to other programs; --arena-max takes it
cat >"$T/in_shm" <<-END
	#!/bin/sh
	exec unshare --mount sh -c 'mount -t tmpfs -o size=16m informer-test /dev/shm && exec "\$@"' sh "$B/informerd" "\$@"
END
chmod +x "$T/in_shm"
INFORMERD=$T/in_shm start_daemon --resource nodes --arena-dir /dev/shm
wait_ready
stat_is .arena.limit_bytes $((12 << 20)) || fail "of 16 MiB in /dev/shm: $(stat .arena)"
stop_daemon TERM
INFORMERD=$T/in_shm start_daemon --resource nodes --arena-dir /dev/shm --arena-max 14Mi
wait_ready
stat_is .arena.limit_bytes $((14 << 20)) || fail "--arena-max 14Mi in /dev/shm: $(stat .arena)"
stop_daemon TERM
echo ok
