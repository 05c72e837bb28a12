# SPDX-License-Identifier: Apache-2.0
# For end-to-end tests on small machines: sourced after script.sh. What cannot be made small here skips the test; what was made goes with it.

# small_tmpfs SIZE: A, a directory for the arena with so much room; again with another size once informerd has ended.
A=$T/shm
small_tmpfs() {
	if [ -d "$A" ]; then
		umount -l "$A"
	else
		mkdir "$A"
		at_end+=('umount -l "$A"')
	fi
	if ! mount -t tmpfs -o "size=$1,mode=0700" informer-test "$A" 2>"$T/mount.log"; then
		echo "SKIP: a small tmpfs cannot be mounted: $(cat "$T/mount.log")"
		exit 77
	fi
}

# small_memory BYTES: G, a memory cgroup that has no more, for pids in $G/cgroup.procs
small_memory() {
	local limit
	for G in /sys/fs/cgroup/memory/informer-$$ /sys/fs/cgroup/informer-$$; do
		mkdir "$G" || continue
		for limit in "$G/memory.limit_in_bytes" "$G/memory.max"; do
			if echo "$1" >"$limit"; then
				at_end+=('until_true rmdir "$G" || echo "$G is left"')
				return
			fi
		done
		rmdir "$G"
	done 2>/dev/null
	echo "SKIP: no memory cgroup can be made here"
	exit 77
}

# Pods of 60 KB that share nothing with others.
pods=/api/v1/namespaces/default/pods
create() {
	printf '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"%s","namespace":"default","annotations":{"x":"%s"}},"spec":{"containers":[{"name":"c","image":"i"}]}}' \
		"$1" "$(head -c 45000 /dev/urandom | base64 -w0)" |
		curl -sf -X POST -H 'Content-Type: application/json' --data-binary @- "$url$pods" >/dev/null
}
delete() { curl -sf -X DELETE "$url$pods/$1" >/dev/null; }

# same: informerd has as many as the server, and nothing waits for room.
same() { [ "$(stat '.resources[0].objects')" = "$(on_server /api/v1/pods)" ] && stat_is .trouble ''; }
