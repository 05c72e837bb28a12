#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Run test programs: run.sh BUILD_DIR TEST...  A test is a program or a .sh script; exit 0 passed, 77 skipped
# (it says why), anything else failed, and nothing is tried a second time. A failed test's output is shown
# whole, of another what it skipped. ONLY=PART runs those whose name has PART in it, JOBS=N so many at a time
# (default: two a processor, for most of a test is waiting; tests share no port and no path). What hangs is
# ended after TEST_SECONDS (900), exit 124. VERDICTS=FILE gets a line for each run: passed, failed or skipped,
# and the test. Ends with "N passed, N failed, N skipped"; when it is ended itself, its tests end with it.
set -u

# One test: its report to stdout at once, its verdict as a line of $VERDICTS.
if [ "$1" = --one ]; then
	t=$2
	report=$(mktemp "$RUN/report.XXXXXX") log=$(mktemp "$RUN/log.XXXXXX")
	start=$(date +%s) limit=${TEST_SECONDS:-900}
	case $t in
	*.sh) timeout --foreground -k 30 "$limit" bash "$t" >"$log" 2>&1 </dev/null ;;
	*) timeout --foreground -k 30 "$limit" "$t" >"$log" 2>&1 </dev/null ;;
	esac
	rc=$?
	took=$(($(date +%s) - start))
	case $rc in
	0)	verdict=passed
		printf 'ok    %s (%ss)\n' "$t" "$took" >"$report"
		awk '/^SKIP|^\[  SKIPPED \] [a-z]/ && !seen[$0]++' "$log" >>"$report" ;;
	77)	verdict=skipped
		printf 'SKIP  %s: %s\n' "$t" "$(tail -n 1 "$log")" >"$report" ;;
	*)	verdict=failed
		{ printf 'FAIL  %s (exit %s, %ss)\n' "$t" "$rc" "$took"; cat "$log"; } >"$report" ;;
	esac
	flock "$RUN" cat "$report"
	echo "$verdict $t" >>"$VERDICTS"
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
	case $t in *"${ONLY:-}"*) printf '%s\n' "$t" ;; esac
done >"$RUN/tests"
setsid xargs -r -P "${JOBS:-$((2 * $(nproc 2>/dev/null || echo 2)))}" -I '{}' sh "$0" --one '{}' <"$RUN/tests" &
session=$!
wait "$session"
session=

count() { awk -v v="$1" '$1 == v' "$VERDICTS" | wc -l | tr -d ' '; }
failed=$(count failed)
printf '%s passed, %s failed, %s skipped\n' "$(count passed)" "$failed" "$(count skipped)"
[ "$failed" = 0 ]
