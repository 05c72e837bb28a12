#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# informerctl get -w prints what kubectl get -w prints while pods change, come and go: tables, names, JSON and YAML, with and without
# the events' names; it goes on over informerd's death, and ends when nobody reads.
# Takes 5 s.
. "$(dirname "$0")/../support/script.sh"
command -v kubectl >/dev/null || { echo "SKIP: kubectl is not installed"; exit 77; }
start_sim --nodes 2 --pods-per-node 4
start_daemon --resource pods --keep-managed-fields
wait_ready
export INFORMER_SOCKET=$S KUBECONFIG=$T/kubeconfig HOME=$T
ns=$(kubectl get pods -A -o json | jq -r '.items[0].metadata.namespace')
first=$(kubectl get pods -n "$ns" -o json | jq -r '.items[0].metadata.name')
pod() { printf '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"%s","namespace":"%s","labels":{"app":"%s"}},"spec":{"containers":[{"name":"c","image":"i"}]}}' "$1" "$ns" "$2"; }

# both FLAGS...: follow with kubectl and with us; one after another in $n
n=0
both() {
	n=$((n + 1))
	echo "$*" >"$T/flags.$n"
	kubectl get pods "$@" >"$T/theirs.$n" 2>"$T/kubectl.$n.log" &
	# we show what informerd keeps
	[ "${*: -1}" != --show-managed-fields ] || set -- "${@:1:$(($# - 1))}"
	"$B"/informerctl get pods "$@" >"$T/ours.$n" 2>"$T/ctl.$n.log" &
}
both -n "$ns" -w
both -A -w -o wide
both -n "$ns" -w -o name
both -n "$ns" -w -o json --show-managed-fields
both -n "$ns" -w -o yaml --show-managed-fields
both -n "$ns" -w --output-watch-events
both -n "$ns" -w --output-watch-events -o json
both -n "$ns" -w --output-watch-events -o yaml
both -n "$ns" -w -l app=ours
both -n "$ns" --watch-only --output-watch-events -o json
both -n "$ns" -w -L app --show-labels --no-headers
started=$n
count=$(kubectl get pods -n "$ns" -o name | wc -l)
# each has listed: the ones that print it show it, all are attached
ageless() { sed 's/ [0-9]\+[smhd][0-9smhd]*\( \|$\) */ AGE /g' "$1"; } # a second may pass between the two
alike() { cmp -s <(ageless "$T/theirs.$1") <(ageless "$T/ours.$1"); }
listed() { [ "$(wc -l <"$T/theirs.1")" = $((count + 1)) ] && alike 1 && alike 7; }
until_true listed || fail "what is there differs: $(diff "$T/theirs.1" "$T/ours.1"; diff "$T/theirs.7" "$T/ours.7" | cut -c1-300)"
all_follow() { [ "$(stat '[.readers[] | select(.name == "informerctl") | .queues[] | select(.open)] | length')" -ge "$started" ]; }
until_true all_follow || fail "not all follow: $(stat .readers)"
subscribed() { curl -s "$url/sim/stats" | jq -e --argjson n $((started + 1)) '.watches >= $n'; }
until_true subscribed || fail "kubectl does not watch: $(curl -s "$url/sim/stats")"

pod new-pod ours | kubectl create --validate=false -f - >/dev/null
kubectl label pod -n "$ns" "$first" "mood=a-label-that-makes-the-last-column-quite-a-bit-wider" >/dev/null
kubectl label pod -n "$ns" new-pod --overwrite app=theirs >/dev/null
kubectl delete pod -n "$ns" "$first" >/dev/null
pod a-pod-with-a-name-that-is-longer-than-all-others-of-this-cluster ours | kubectl create --validate=false -f - >/dev/null
# ages count on while they run; of a deleted object we show the last state, whose resourceVersion is not the deletion's
same() {
	for i in $(seq "$started"); do
		for side in theirs ours; do
			sed 's/\("\?resourceVersion"\?: *\)"[0-9]*"/\1RV/g; s/ [0-9]\+[smhd][0-9smhd]*\( \|$\) */ AGE /g' "$T/$side.$i" >"$T/$side.$i.x"
		done
		cmp -s "$T/theirs.$i.x" "$T/ours.$i.x" || { which=$i; return 1; }
	done
}
until_true same || { same || fail "get pods $(cat "$T/flags.$which") differs: $(diff "$T/theirs.$which.x" "$T/ours.$which.x" | cut -c1-400 | head -20)"; }

# ---- informerd dies: it goes on
stop_daemon KILL
kubectl delete pod -n "$ns" new-pod >/dev/null
start_daemon --resource pods --keep-managed-fields
wait_ready
kubectl label pod -n "$ns" a-pod-with-a-name-that-is-longer-than-all-others-of-this-cluster after=death >/dev/null
goes_on() { tail -n 1 "$T/ours.3" | grep -q a-pod-with && [ "$(tail -n 1 "$T/theirs.3")" = "$(tail -n 1 "$T/ours.3")" ] && [ "$(wc -l <"$T/theirs.3")" = "$(wc -l <"$T/ours.3")" ]; }
until_true goes_on || fail "after informerd's death: $(diff "$T/theirs.3" "$T/ours.3")"
until_true grep -q 'informerd is gone' "$T/ctl.1.log" || fail "informerd's death is not told"

# ---- a reader that goes away ends it, also while nothing happens
timeout "$PATIENCE" "$B"/informerctl get pods -n "$ns" -w 2>"$T/closed.log" | head -n 1 >/dev/null
[ "${PIPESTATUS[0]}" != 124 ] || fail "it does not end when its output is closed"
[ ! -s "$T/closed.log" ] || fail "not quiet: $(cat "$T/closed.log")"

# ---- one object; one that is not there; --timeout
for time in 200ms 20s; do # a busy machine may not come to it in the first
	one=$("$B"/informerctl get pod a-pod-with-a-name-that-is-longer-than-all-others-of-this-cluster -n "$ns" -w -o name --timeout $time)
	[ -z "$one" ] || break
done
[ "$one" = pod/a-pod-with-a-name-that-is-longer-than-all-others-of-this-cluster ] || fail "one pod: $one"
code=0
"$B"/informerctl get pod nosuch -n "$ns" -w 2>"$T/nosuch.log" || code=$?
[ $code = 1 ] && grep -q 'NotFound' "$T/nosuch.log" || fail "a pod that is not there: $code"
"$B"/informerctl get pods,pods -w 2>"$T/two.log" && fail "two resources"
grep -q 'one resource' "$T/two.log" || fail "two resources: $(cat "$T/two.log")"
echo ok
