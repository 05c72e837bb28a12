#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# informerctl wait for objects says what kubectl wait says, with its exit code: conditions, paths, creation, deletion, by name and by
# selector, met at once, met later and never. A wait goes on over informerd's death.
# Takes 18 s.
. "$(dirname "$0")/../support/script.sh"
command -v kubectl >/dev/null || { echo "SKIP: kubectl is not installed"; exit 77; }
start_sim --nodes 2 --pods-per-node 3
start_daemon --resource pods --resource nodes --resource deployments.apps --resource 'configmaps?namespace=kube-system'
wait_ready
export INFORMER_SOCKET=$S KUBECONFIG=$T/kubeconfig HOME=$T

ns=waiting
pod() { # NAME LABEL PHASE READY
	printf '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"%s","namespace":"%s","labels":{"app":"%s"}},"spec":{"containers":[{"name":"c","image":"i"},{"name":"d","image":"j"}]},"status":{"phase":"%s","conditions":[{"type":"Initialized","status":"True"},{"type":"Ready","status":"%s"}]}}' "$1" "$ns" "$2" "$3" "$4"
}
put() { curl -sf -o /dev/null -X POST -H 'Content-Type: application/json' "$url/api/v1/namespaces/$ns/pods" -d "$(pod "$@")"; }
becomes() { # NAME PHASE READY
	curl -sf -o /dev/null -X PATCH -H 'Content-Type: application/merge-patch+json' "$url/api/v1/namespaces/$ns/pods/$1/status" \
		-d "{\"status\":{\"phase\":\"$2\",\"conditions\":[{\"type\":\"Initialized\",\"status\":\"True\"},{\"type\":\"Ready\",\"status\":\"$3\"}]}}"
}
remove() { curl -sf -o /dev/null -X DELETE "$url/api/v1/namespaces/$ns/pods/$1?gracePeriodSeconds=0"; }
cached() { [ "$("$B"/informerctl get pods -n "$ns" -o json | jq "$1")" = true ]; }

kubectl create namespace "$ns" >/dev/null
put ready web Running True
put slow web Pending False
put other job Running True
until_true cached '.items | length == 3' || fail "the pods are not cached"

# ---- both are asked, one after the other: what is on stdout, on stderr, and the exit code
said() { # COMMAND...: into $T/said
	local code=0
	"$@" >"$T/one.out" 2>"$T/one.err" || code=$?
	{ sort "$T/one.out"; echo "--"; sed '/^[EWI][0-9][0-9][0-9][0-9] /d' "$T/one.err" | sort; echo "exit $code"; } >"$T/said"
}
asked=0 failed=0
both() {
	asked=$((asked + 1))
	said kubectl wait "$@"
	cp "$T/said" "$T/theirs"
	said "$B"/informerctl wait "$@"
	cmp -s "$T/theirs" "$T/said" && return
	failed=$((failed + 1))
	echo "DIFFERENT: wait $*"
	diff "$T/theirs" "$T/said" | sed 's/^</  kubectl /; s/^>/  ours    /'
}
both --for=condition=Ready pod/ready -n "$ns"
both --for=condition=ready pods ready other -n "$ns"
both --for=condition=Ready=False pod/slow -n "$ns"
both --for=condition=Ready=false pod slow -n "$ns" --timeout=0
both --for=condition=Ready pod/slow -n "$ns" --timeout=0
both --for=condition=Ready pod/slow -n "$ns" --timeout=1s
both --for=condition=Absent pods --all -n "$ns" --timeout=1s
both --for=condition=Initialized pods --all -n "$ns"
both --for=condition=Initialized pods -l app=web -n "$ns"
both --for=condition=Initialized pods -l app=none -n "$ns"
both --for=condition=Initialized pods -A -l 'app in (web,job)'
both --for=condition=Initialized pods --field-selector=metadata.name=slow -n "$ns"
both --for=condition=Ready pod/absent -n "$ns"
both --for=condition=Ready pod/absent pod/ready -n "$ns"
both --for=condition=Ready pod/absent pod/slow -n "$ns" --timeout=1s
both --for=condition=Ready node --all
both --for=condition=Available deployment.apps/none -n "$ns"
both --for=jsonpath='{.status.phase}'=Running pod/ready -n "$ns"
both --for=jsonpath=.status.phase=Running pod/ready -n "$ns"
both --for=jsonpath='{.status.phase}' pod/ready -n "$ns"
both --for=jsonpath='{.status.conditions[?(@.type=="Ready")].status}=True' pod/ready -n "$ns"
both --for=jsonpath='{.status.conditions[?(@.type=="Ready")].status}=True' pod/slow -n "$ns" --timeout=1s
both --for=jsonpath='{.spec.containers[0].image}'=i pod/ready -n "$ns"
both --for=jsonpath='{.spec.containers[*].image}'=i pod/ready -n "$ns"
both --for=jsonpath='{.spec.containers}'=i pod/ready -n "$ns"
both --for=jsonpath='{.spec.nothing}'=i pod/ready -n "$ns" --timeout=1s
both --for=delete pod/absent -n "$ns"
both --for=delete pod/ready -n "$ns" --timeout=1s
both --for=delete pod/ready -n "$ns" --timeout=0
both --for=delete pods -l app=none -n "$ns"
both --for=create pod/ready -n "$ns"
[ "$failed" = 0 ] || fail "$failed of $asked differ from kubectl"

# ---- met later: both wait at the same time
waiters=
later() { # NAME ARGUMENTS...: kubectl and ours in the background, into $T/NAME.*
	local name=$1; shift
	(code=0; kubectl wait "$@" --timeout="${PATIENCE}s" >"$T/$name.theirs" 2>&1 || code=$?; echo "exit $code" >>"$T/$name.theirs") &
	waiters="$waiters $!"
	(code=0; "$B"/informerctl wait "$@" --timeout="${PATIENCE}s" >"$T/$name.ours" 2>"$T/$name.ctl.log" || code=$?; echo "exit $code" >>"$T/$name.ours") &
	waiters="$waiters $!"
}
put going job Running True
until_true cached 'any(.items[]; .metadata.name == "going")' || fail "the pod that goes is not cached"
later ready --for=condition=Ready pod/slow -n "$ns"
later phase --for=jsonpath='{.status.phase}'=Succeeded pods -l app=web -n "$ns"
later gone --for=delete pod/going -n "$ns"
later came --for=create pod/coming -n "$ns"
sitting() { [ "$(stat '[.readers[] | select(.name == "informerctl")] | length')" = 4 ]; }
until_true sitting || fail "not all wait: $(stat .readers)"
watching() { curl -s "$url/sim/stats" | jq -e '.watches >= 4 + 3'; } # kubectl asks for what is to come again and again
until_true watching || fail "kubectl does not watch: $(curl -s "$url/sim/stats")"
kill -9 "$daemon_pid"
wait "$daemon_pid" 2>/dev/null || true
becomes slow Succeeded True
becomes ready Succeeded True
remove going
put coming web Running True
start_daemon --resource pods --resource nodes --resource deployments.apps --resource 'configmaps?namespace=kube-system'
for p in $waiters; do wait "$p" || fail "a wait failed"; done
for name in ready phase gone came; do
	cmp -s <(sed '/^[EWI][0-9][0-9][0-9][0-9] /d' "$T/$name.theirs" | sort) <(sort "$T/$name.ours") || fail "$name: $(diff "$T/$name.theirs" "$T/$name.ours")"
	grep -q 'condition met' "$T/$name.ours" || fail "$name: $(cat "$T/$name.ours")"
done

# ---- what takes the name of one that went is another one
"$B"/informerctl wait --for=delete pod/ready -n "$ns" --timeout="${PATIENCE}s" >"$T/again" &
waiter=$!
until_true eval '[ "$(stat "[.readers[] | select(.name == \"informerctl\")] | length")" = 1 ]' || fail "nobody waits"
kill -STOP "$daemon_pid"
remove ready
put ready web Running True
kill -CONT "$daemon_pid"
wait "$waiter" || fail "the deletion was not noticed"
[ "$(cat "$T/again")" = "pod/ready condition met" ] || fail "$(cat "$T/again")"

# ---- ours alone: of a namespace that is not cached nothing is called gone
code=0
"$B"/informerctl wait --for=delete configmap/some -n "$ns" >"$T/uncached" 2>&1 || code=$?
[ "$code" = 2 ] && grep -q 'does not cache namespace' "$T/uncached" || fail "not cached: $code $(cat "$T/uncached")"
"$B"/informerctl wait --for=delete configmap/some -n kube-system || fail "what is not there is not gone"

# ---- ours alone: what is selected is waited for to come
"$B"/informerctl wait --for=create pods -l app=late -n "$ns" --timeout="${PATIENCE}s" >"$T/late" &
waiter=$!
until_true eval '[ "$(stat "[.readers[] | select(.name == \"informerctl\")] | length")" = 1 ]' || fail "nobody waits"
put late late Running True
wait "$waiter" || fail "what came was not noticed"
[ "$(cat "$T/late")" = "pod/late condition met" ] || fail "$(cat "$T/late")"
