#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The measured figures of informer-scale(7), One large cache: wall time, CPU and memory of informerd's first list, from informer-sim on the same
# machine. Takes REAL_PODS (a folder of pods in JSON, which are repeated), COUNTS (about 100000 and 1000000 pods), WIRE from the environment.
# A million pods take 10 GiB for informer-sim, 1.3 GiB for informerd, and two to five minutes.
TMPDIR=/dev/shm
. "$(dirname "$0")/../support/script.sh"
: "${COUNTS:=100000 1000000}" "${REAL_PODS:?a folder of pods in JSON}"

field() { awk -v key="$1:" '$1 == key {print $2}' "/proc/$daemon_pid/status"; }
synced() { stat_is '.resources[0].state' synced; }
for count in $COUNTS; do
	files=$(find "$REAL_PODS" -name '*.json' | wc -l)
	start_sim --load "$REAL_PODS" --replicas $(((count + files - 1) / files))
	began=$EPOCHREALTIME
	start_daemon --resource pods --arena-max 8Gi
	until_true synced || fail "no list within $PATIENCE s"
	ended=$EPOCHREALTIME
	cpu=$(awk -v tick="$(getconf CLK_TCK)" '{sub(/.*\) /, ""); print ($12 + $13) * 1e6 / tick}' "/proc/$daemon_pid/stat")
	awk -v n="$(stat '.resources[0].objects')" -v cpu="$cpu" -v wall="$(echo "$ended $began" | awk '{print $1 - $2}')" \
		-v arena="$(du -k "$T"/informer* | awk '{n += $1} END {print n}')" -v private="$(field RssAnon)" 'BEGIN {
		printf "%d pods: %.1f s, %.1f s of CPU, %.1f us a pod; arena %.0f MiB, %.0f bytes a pod; private %.1f MiB\n",
			n, wall, cpu / 1e6, cpu / n, arena / 1024, arena * 1024 / n, private / 1024}'
	stop_daemon KILL
	stop_sim
	sim_port=0
	rm -f "$T"/informer*
done
