#!/bin/sh
# Run test programs: run.sh BUILD_DIR TEST...  A test is a program or a .sh
# script; exit 0 passed, 77 skipped (it says why), anything else failed.
# A failed test's output is shown whole, of another what it skipped. ONLY=PART runs
# those whose name has PART in it. Ends with "N passed, N failed, N skipped".
set -u
B=$1; shift
export B
passed=0; failed=0; skipped=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT
only=${ONLY:-}
for t in "$@"; do
	case $t in *"$only"*) ;; *) continue ;; esac
	start=$(date +%s)
	case $t in
	*.sh) bash "$t" >"$log" 2>&1 </dev/null ;;
	*)    "$t" >"$log" 2>&1 </dev/null ;;
	esac
	rc=$?
	took=$(($(date +%s) - start))
	case $rc in
	0)  passed=$((passed + 1)); printf 'ok    %s (%ss)\n' "$t" "$took"; awk '/^SKIP|^\[  SKIPPED \] [a-z]/ && !seen[$0]++' "$log" ;;
	77) skipped=$((skipped + 1)); printf 'SKIP  %s: %s\n' "$t" "$(tail -n 1 "$log")" ;;
	*)  failed=$((failed + 1)); printf 'FAIL  %s (exit %s, %ss)\n' "$t" "$rc" "$took"; cat "$log" ;;
	esac
done
printf '%s passed, %s failed, %s skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" = 0 ]
