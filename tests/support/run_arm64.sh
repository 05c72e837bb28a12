#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run_arm64.sh COMMAND...: run a command where the kernel runs arm64 programs by qemu-user, also those that the command starts by path. They
# are registered in a user namespace, which has a list of its own (Linux 6.7), so that the machine stays as it is. Needs root, for other users'
# ids in there. Exit 77 where that cannot be done, with the reason; else the command's.
set -eu
[ "$(id -u)" = 0 ] || { echo "SKIP: to run arm64 programs by path needs root, or qemu-user in binfmt_misc"; exit 77; }
T=$(mktemp -d)
mkfifo "$T/mapped"
inside=
trap '[ -z "$inside" ] || kill "$inside" 2>/dev/null || true; rm -rf "$T"' EXIT
trap 'exit 1' HUP INT TERM
# of the ELF header: 64 bits, little-endian, a program or shared object, for AArch64
magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
unshare --user --mount sh -c 'read -r _ <"$0"
	mount -t binfmt_misc none /proc/sys/fs/binfmt_misc && printf %s "$1" >/proc/sys/fs/binfmt_misc/register || {
		echo "SKIP: the kernel does not take qemu-user into a namespace'\''s binfmt_misc"; exit 77; }
	shift; exec "$@"' "$T/mapped" ":qemu-aarch64:M::$magic:$mask:$(command -v qemu-aarch64):OC" "$@" &
inside=$!
while [ "$(readlink "/proc/$inside/ns/user")" = "$(readlink /proc/self/ns/user)" ]; do sleep 0.05; done
echo '0 0 4294967295' >"/proc/$inside/uid_map"
echo '0 0 4294967295' >"/proc/$inside/gid_map"
echo >"$T/mapped"
code=0
wait "$inside" || code=$?
inside=
exit "$code"
