#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Run test programs: run.sh BUILD_DIR TEST...  A test is a program or a .sh
# script; exit 0 passed, 77 skipped (it says why), anything else failed.
# A failed test's output is shown whole, of another what it skipped. ONLY=PART runs
# those whose name has PART in it, JOBS=N so many at a time (default: one a processor; tests
# share no port and no path). A script drives several processes, kills some, and meets the
# machine's moods: one that fails is shown and tried once more, alone, and said to be AGAIN ok if it
# passes then; a program is not. What hangs is ended after TEST_SECONDS (900), exit 124. Ends with "N passed, N failed, N skipped".
set -u

# One test: its report to stdout at once, its verdict as a line of $RUN/verdicts.
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
		printf '%-5s %s (%ss)\n' "${WORD:-ok}" "$t" "$took" >"$report"
		awk '/^SKIP|^\[  SKIPPED \] [a-z]/ && !seen[$0]++' "$log" >>"$report" ;;
	77)	verdict=skipped
		printf 'SKIP  %s: %s\n' "$t" "$(tail -n 1 "$log")" >"$report" ;;
	*)	verdict=failed
		case $t in *.sh) [ -n "${WORD:-}" ] || verdict=again ;; esac
		[ $verdict = again ] && word=once || word=FAIL
		{ printf '%-5s %s (exit %s, %ss)\n' $word "$t" "$rc" "$took"; cat "$log"; } >"$report" ;;
	esac
	flock "$RUN" cat "$report"
	echo "$verdict $t" >>"$RUN/verdicts"
	exit 0
fi

B=$1; shift
RUN=$(mktemp -d)
export B RUN
trap 'rm -rf "$RUN"' EXIT
trap 'exit 1' INT TERM
: >"$RUN/verdicts"
jobs=${JOBS:-$(nproc 2>/dev/null || echo 2)}
for t in "$@"; do
	case $t in *"${ONLY:-}"*) printf '%s\n' "$t" ;; esac
done | xargs -r -P "$jobs" -I '{}' sh "$0" --one '{}'
awk '$1 == "again" { print $2 }' "$RUN/verdicts" >"$RUN/again"
while read -r t; do
	WORD='AGAIN ok' sh "$0" --one "$t" </dev/null
done <"$RUN/again"

count() { awk -v v="$1" '$1 == v' "$RUN/verdicts" | wc -l | tr -d ' '; }
failed=$(count failed)
printf '%s passed, %s failed, %s skipped\n' "$(count passed)" "$failed" "$(count skipped)"
[ "$failed" = 0 ]
