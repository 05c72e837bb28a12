#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Run tests on a machine that has no time for them: busy.sh BUILD_DIR TEST...  Beside them are as many busy
# loops as there are processors. N (3) is how often each test runs; ONLY, JOBS and TEST_SECONDS are run.sh's.
# DRAW=SEED: a fifth of the tests, the same for the same SEED. The loops end with this script, however it
# ends: also a kill -9 they notice within a second. It says at the end how many runs of each test there were.
set -u
B=$1; shift
n=${N:-3}
loops= run=
export VERDICTS
VERDICTS=$(mktemp)
end() {
	for pid in $loops $run; do kill "$pid" 2>/dev/null; done
	rm -f "$VERDICTS"
}
trap end EXIT
trap 'exit 1' HUP INT TERM

if [ -n "${DRAW:-}" ]; then
	all=$#
	set -- $(for t in "$@"; do echo "$(printf '%s %s' "$DRAW" "$t" | md5sum | cut -c 1-32) $t"; done |
		sort | awk -v n="$all" 'NR <= (n + 4) / 5 {print $2}')
	echo "DRAW=$DRAW: $# of $all tests"
fi
spin() {
	while kill -0 $$ 2>/dev/null; do
		i=0
		while [ $i -lt 200000 ]; do i=$((i + 1)); done
	done
}
cpus=$(nproc 2>/dev/null || echo 2)
for _ in $(seq "$cpus"); do
	spin &
	loops="$loops $!"
done

sh "$(dirname "$0")/run.sh" "$B" $(for _ in $(seq "$n"); do echo "$@"; done) &
run=$!
code=0
wait "$run" || code=$?
run=
echo "with $cpus busy loops, of each test:"
awk '{runs[$2]++; n[$1, $2]++}
	END {
		for (t in runs) {
			if (t !~ /\.sh$/ && !n["failed", t]) { programs++; program_runs += runs[t]; continue }
			printf "%s: %d runs", t, runs[t]
			split("passed failed skipped", v, " ")
			for (i = 1; i <= 3; i++) if (n[v[i], t]) printf ", %d %s", n[v[i], t], v[i]
			print ""
		}
		if (programs) printf "unit tests: %d runs of %d programs, none failed\n", program_runs, programs
	}' "$VERDICTS" | sort
exit "$code"
