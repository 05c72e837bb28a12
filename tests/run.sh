#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Run tests: run.sh BUILD_DIR TEST...  A test is a room's program (tests/room.h) or a .sh script. Exit 0 is passed, 77 skipped (its
# last line says why), anything else failed. Nothing is tried twice. A failed test's output is shown whole.
# upstream:SCRIPT, and those of tests/upstream, run on upstream's API server, with less to do, for that server is slower than informer-sim.
#
# From the environment:
#   ONLY=PART       the scripts with PART in their name, and of the rooms the tests with PART in their name, ROOM/FILE/TEST
#   JOBS=N          tests at a time; default two a processor, for scripts mostly wait. Tests share no port and no path.
#   TEST_SECONDS=N  what takes longer is ended, exit 124 (default 900)
#   VERDICTS=FILE   gets a line for each test: passed, failed or skipped, its seconds, its name
# The last line is "N passed, N failed, N skipped". When run.sh is ended itself, its tests end with it.
set -u

# One test: its report to stdout at once, its verdict as a line of $VERDICTS.
if [ "$1" = --one ]; then
	t=$2 path=${2#upstream:} PART=
	case $t in upstream:*|tests/upstream/*) export SERVER=apiserver CHANGES=3000 RATE=500 REPLICAS=8 ;; esac
	case $t in *.sh|*"${ONLY:-}"*) ;; *) PART=$ONLY ;; esac
	report=$(mktemp "$RUN/report.XXXXXX") log=$(mktemp "$RUN/log.XXXXXX")
	start=$(date +%s) limit=${TEST_SECONDS:-900} verdicts=$VERDICTS
	unset VERDICTS # a test that runs tests has its own
	case $t in
	*.sh) timeout --foreground -k 30 "$limit" bash "$path" >"$log" 2>&1 </dev/null ;;
	*) timeout --foreground -k 30 "$limit" "$t" ${PART:+"$PART"} >"$log" 2>&1 </dev/null ;;
	esac
	rc=$?
	took=$(($(date +%s) - start))
	case $rc in
	0)	verdict=passed
		case $t in *.sh) said= ;; *) said=": $(tail -n 1 "$log")" ;; esac
		printf 'ok    %s (%ss)%s\n' "$t" "$took" "$said" >"$report"
		awk '/^SKIP/ && !seen[$0]++' "$log" >>"$report" ;;
	77)	verdict=skipped
		printf 'SKIP  %s: %s\n' "$t" "$(tail -n 1 "$log")" >"$report" ;;
	*)	verdict=failed
		{ printf 'FAIL  %s (exit %s, %ss)\n' "$t" "$rc" "$took"; cat "$log"; } >"$report" ;;
	esac
	flock "$RUN" cat "$report"
	echo "$verdict $took $t" >>"$verdicts"
	rm -f "$report" "$log"
	exit 0
fi

B=$1; shift
RUN=$(mktemp -d)
: "${VERDICTS:=$RUN/verdicts}"
export B RUN VERDICTS
session=
# Whatever tests have started is in their session, and ends with it.
end() {
	[ -z "$session" ] || kill -TERM "-$session" 2>/dev/null
	rm -rf "$RUN"
}
trap end EXIT
trap 'exit 1' HUP INT TERM
: >"$VERDICTS"
for t in "$@"; do
	case $t in
	*"${ONLY:-}"*) printf '%s\n' "$t" ;;
	*.sh|*/explorer/*) ;;
	*) ! "$t" -l | grep -qF -- "$ONLY" || printf '%s\n' "$t" ;;
	esac
done >"$RUN/tests"
setsid xargs -r -P "${JOBS:-$((2 * $(nproc 2>/dev/null || echo 2)))}" -I '{}' sh "$0" --one '{}' <"$RUN/tests" &
session=$!
wait "$session"
session=

count() { awk -v v="$1" '$1 == v' "$VERDICTS" | wc -l | tr -d ' '; }
failed=$(count failed)
printf '%s passed, %s failed, %s skipped\n' "$(count passed)" "$failed" "$(count skipped)"
[ "$failed" = 0 ]
