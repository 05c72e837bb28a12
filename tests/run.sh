#!/bin/sh
# Run test programs: run.sh BUILD_DIR TEST...  A test is a program or a .sh
# script; exit 0 passed, 77 skipped (it says why), anything else failed.
# A failed test's output is shown whole, of another what it skipped. ONLY=PART runs
# those whose name has PART in it. A script drives several processes, kills some, and meets
# the machine's moods: one that fails is shown and tried once more, and said to be AGAIN ok if it
# passes then; a program is not. Ends with "N passed, N failed, N skipped".
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
	word=ok
	case $t in
	*.sh)
		bash "$t" >"$log" 2>&1 </dev/null
		rc=$?
		case $rc in 0|77) ;; *)
			printf 'once  %s (exit %s)\n' "$t" "$rc"; cat "$log"
			word='AGAIN ok'
			bash "$t" >"$log" 2>&1 </dev/null
			rc=$? ;;
		esac ;;
	*)
		"$t" >"$log" 2>&1 </dev/null
		rc=$? ;;
	esac
	took=$(($(date +%s) - start))
	case $rc in
	0)  passed=$((passed + 1)); printf '%-5s %s (%ss)\n' "$word" "$t" "$took"; awk '/^SKIP|^\[  SKIPPED \] [a-z]/ && !seen[$0]++' "$log" ;;
	77) skipped=$((skipped + 1)); printf 'SKIP  %s: %s\n' "$t" "$(tail -n 1 "$log")" ;;
	*)  failed=$((failed + 1)); printf 'FAIL  %s (exit %s, %ss)\n' "$t" "$rc" "$took"; cat "$log" ;;
	esac
done
printf '%s passed, %s failed, %s skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" = 0 ]
