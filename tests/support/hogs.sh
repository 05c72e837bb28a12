# SPDX-License-Identifier: Apache-2.0
# For end-to-end tests with readers of other users: sourced after script.sh. Needs root and setpriv, and skips the test without.
[ "$(id -u)" = 0 ] && command -v setpriv >/dev/null || { echo "SKIP: only root can become another user, with setpriv"; exit 77; }
chmod 711 "$T"
cp "$B/tests/hog" "$B/informerctl" "$T" # another user may not reach the build directory
mkfifo "$T/hogs"
exec 8<>"$T/hogs"
hogs=

# as UID COMMAND...
as() { setpriv --reuid "$1" --regid "$1" --clear-groups "${@:2}"; }

# start_hog UID CONNECTIONS QUEUES [ROUNDS]: it takes what it gets, and keeps it (prog/hog.c). Sets hog_pid, and hog_out where it says
# what it got.
hog_count=0
start_hog() {
	hog_count=$((hog_count + 1))
	hog_out=$T/hog.$hog_count.out
	setpriv --reuid "$1" --regid "$1" --clear-groups "$T/hog" "$S" "${@:2}" <&8 >"$hog_out" 2>>"$T/hog.log" &
	hog_pid=$!
	hogs="$hogs $hog_pid"
	until_true grep -q ^READY "$hog_out" || fail "a hog gets nothing"
}

# hog_has FIELD: how many it got
hog_has() { sed -n "s/^READY.* $1=\([0-9]*\).*/\1/p" "$hog_out"; }
