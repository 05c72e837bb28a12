#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# kubectl cannot tell informer-sim from upstream's API server, nor a gateway (OURS=gateway): one list of commands to both, what they print and
# their exit codes compared. Ages, UIDs, RVs, times and managedFields are made equal first. Not asked is what informer-sim does not have and
# says so: server-side apply, dry runs on the server, and protobuf, which kubectl's generators (create configmap) send. Of a gateway differ:
#   - its warning that the API server was not heard of for 15 s: a quiet resource's watch has a bookmark each minute;
#   - "(no change)" behind a patch: kubectl compares what it read with what the patch answers, and there are no managedFields in the arena.
# Takes 60 s.
. "$(dirname "$0")/../support/script.sh"
. "$(dirname "$0")/../support/sides.sh"
command -v kubectl >/dev/null || { echo "SKIP: kubectl is not installed"; exit 77; }
export HOME=$T # its cache

mkdir "$T/in"
start_sides
failed=0 asked=0
at_gateway=
[ "$OURS" != gateway ] || at_gateway='/^Warning: the API server was last heard of [0-9]+ s ago/d; s/ patched \(no change\)$/ patched/'

normal() {
	sed -E '/^[EW][0-9]{4} /d; s/"managedFields":.*\],("name":"[^"]*","namespace")/\1/; s/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}/UID/g; s/20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9:]+Z/TIME/g
		s/(resourceVersion"?: ?)"[0-9]+"/\1"RV"/g; s/(^| )([0-9]+m)?[0-9]+s( |$)/\1AGE\3/g; s/ +/ /g; s/127\.0\.0\.1:[0-9]+/SERVER/g
		'"$at_gateway"
}
run() { # SIDE ARGUMENTS...
	local side=$1 code=0; shift
	kubectl --kubeconfig "$T/$side.kubeconfig" "$@" >"$T/$side.out" 2>"$T/$side.err" || code=$?
	{ normal <"$T/$side.out"; normal <"$T/$side.err"; echo "exit $code"; } >"$T/$side.said"
}
both() {
	asked=$((asked + 1))
	settle
	run ours "$@"
	run real "$@"
	cmp -s "$T/ours.said" "$T/real.said" && return
	failed=$((failed + 1))
	echo "DIFFERENT: kubectl $*"
	diff "$T/real.said" "$T/ours.said" | sed "s/^</  upstream /; s/^>/  $OURS /" | cut -c 1-400 | head -30 || true
}
put() { cat >"$T/in/$1.yaml"; }

put pod <<'END'
apiVersion: v1
kind: Pod
metadata: {name: web-1, namespace: default, labels: {app: web}}
spec: {nodeName: node-a, containers: [{name: c, image: "nginx:1.27", resources: {}}]}
END
put pods <<'END'
apiVersion: v1
kind: Pod
metadata: {name: web-2, namespace: default, labels: {app: web, tier: back}}
spec: {containers: [{name: c, image: "nginx:1.27", resources: {}}, {name: d, image: i, resources: {}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: db-1, namespace: team, labels: {app: db}}
spec: {containers: [{name: c, image: i, resources: {}}]}
status: {phase: Running, podIP: 10.1.2.3, podIPs: [{ip: 10.1.2.3}],
  containerStatuses: [{name: c, image: i, imageID: x, ready: true, restartCount: 3, lastState: {},
    state: {running: {startedAt: "2026-01-01T00:00:00Z"}}}]}
END
put map <<'END'
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: default}
data: {text: "a\nb\n"}
END
put deploy <<'END'
apiVersion: apps/v1
kind: Deployment
metadata: {name: front, namespace: default}
spec:
  replicas: 2
  strategy: {}
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec:
      containers:
      - {name: one, image: "i:1", ports: [{containerPort: 80}], resources: {}}
      - {name: two, image: "i:1", resources: {}}
status: {}
END
sed 's/- {name: two.*/- {name: three, image: "i:3", resources: {}}/; s/"i:1"/"i:2"/' "$T/in/deploy.yaml" >"$T/in/deploy2.yaml"
put wrong <<'END'
apiVersion: v1
kind: Pod
metadata: {name: Bad_/Name, namespace: default}
spec: {containers: []}
END
put unknown <<'END'
apiVersion: example.com/v1
kind: Widget
metadata: {name: w, namespace: default}
END
put held <<'END'
apiVersion: v1
kind: ConfigMap
metadata: {name: held, namespace: default, finalizers: [example.com/hold]}
END

# ---- create, and what is refused
both create -f "$T/in/pod.yaml"
both create -f "$T/in/pod.yaml"
both create -f "$T/in/pods.yaml" --validate=false
both create -f "$T/in/map.yaml" -o yaml
both create -f "$T/in/wrong.yaml"
both create -f "$T/in/unknown.yaml" --validate=false
both run third --image=x --restart=Never --labels=app=run
both apply -f "$T/in/deploy.yaml"
both apply -f "$T/in/deploy.yaml"
both apply -f "$T/in/deploy2.yaml"
both apply -f "$T/in/pod.yaml"
both diff -f "$T/in/deploy2.yaml"

# ---- get
for what in pods "pods -A" "pods -A -o wide" "pods -A --no-headers" "pods -A --show-labels" "pods -A -L app,tier" "pod web-1" "pod/web-1 pod/web-2" \
		"pods -l app=web" "pods -l app!=web -A" "pods -l app -o name" "pods -A --field-selector spec.nodeName=node-a" \
		"pods -A --field-selector status.phase=Running,metadata.name!=x" "pods -A --field-selector spec.nope=x" "pods -l a==b==c" \
		"pods -A --chunk-size=1" "pods -A --chunk-size=1 -o name" "pods -A --sort-by=.metadata.name -o name" \
		"pods -A -o custom-columns=N:.metadata.name,P:.status.phase" "pod web-1 -o jsonpath={.metadata.labels.app}" \
		"pod web-1 -o yaml" "pods -A -o json" "pod nope" "pods nope -o json" "nope" "pods -n nowhere" "po,cm -o name" \
		"configmap settings -o json" "configmaps" "namespaces -o name" "nodes" "secrets" "services -A" "deployments.v1.apps front -o json" \
		"deployments -o name" "pods -A --output-watch-events" "pods --raw /api/v1/namespaces/default/pods/nope" \
		"pods web-1 --subresource=status -o name" "pods web-1 --ignore-not-found" "pods nope --ignore-not-found"; do
	# shellcheck disable=SC2086
	both get $what
done
both get --raw /api/v1/namespaces/none/pods
both get --raw '/api/v1/pods?limit=x'
both get --raw /apis/apps/v1/namespaces/default/deployments/nope
both describe configmap settings
both wait --for=jsonpath='{.status.phase}'=Running pod/db-1 -n team --timeout=5s
both wait --for=condition=Ready pod/web-1 --timeout=1s
both wait --for=delete pod/nope --timeout=1s

# ---- change
both label pod web-1 tier=front
both label pod web-1 tier=front
both label pod web-1 tier=back
both label pod web-1 tier=back --overwrite
both label pods --all seen=yes
both label pod web-1 seen-
both label pod web-1 'bad=not a value'
both label pod nope a=b
both annotate pod web-1 note='a b'
both annotate pod web-1 note-
both patch pod web-1 --type=merge -p '{"metadata":{"labels":{"m":"1"}}}'
both patch pod web-1 --type=merge -p '{"metadata":{"labels":{"m":"1"}}}'
both patch pod web-1 -p '{"spec":{"containers":[{"name":"c","image":"nginx:2"}]}}' -o jsonpath='{.spec.containers[*].image}'
both patch pod web-1 --type=json -p '[{"op":"replace","path":"/metadata/labels/m","value":"2"}]' -o jsonpath='{.metadata.labels.m}'
both patch pod web-1 --subresource=status --type=merge -p '{"status":{"phase":"Running"}}'
both patch pod nope --type=merge -p '{}'
both patch pod web-1 --type=merge -p 'nonsense'
both patch deployment front -p '{"spec":{"template":{"spec":{"containers":[{"name":"one","image":"i:10"}]}}}}' -o json
both set image deployment/front one=i:9
both scale deployment front --replicas=5
both scale deployment front --current-replicas=5 --replicas=3
both scale deployment front --current-replicas=5 --replicas=9
both scale deployment nope --replicas=1
both scale pod web-1 --replicas=1
both get deployment front -o jsonpath='{.spec.replicas}'
both get deployment front --subresource=scale -o jsonpath='{.kind} {.spec.replicas} {.status.selector}'
both replace -f "$T/in/map.yaml" -o name
both replace -f "$T/in/unknown.yaml" --validate=false

# ---- watch: what happens to one object while it is watched, as table, as names, as documents
curl -s -X DELETE "$ours_control/sim/log" >/dev/null
curl -s -X DELETE "$real_control/sim/log" >/dev/null
n=0
for how in "pods" "pods -o name" "pods --output-watch-events" "pods -l app=watched -o name" "pods --output-watch-events -o json" "pods --watch-only"; do
	n=$((n + 1))
	for side in ours real; do
		# shellcheck disable=SC2086
		kubectl --kubeconfig "$T/$side.kubeconfig" get $how -w >"$T/$side.watch.$n" 2>&1 &
	done
done
for side in ours real; do
	until_true watching $side $n || fail "$side: not all watch"
done
sed 's/web-1/watched/; s/app: web/app: watched/' "$T/in/pod.yaml" >"$T/in/watched.yaml"
both create -f "$T/in/watched.yaml"
both label pod watched x=y
both label pod watched app=other --overwrite
both delete pod watched
ended() {
	for i in $(seq $n); do
		for side in ours real; do normal <"$T/$side.watch.$i" | grep -v '^exit' >"$T/$side.w"; done
		cmp -s "$T/ours.w" "$T/real.w" || { which=$i; return 1; }
	done
}
until_true ended || { ended || { failed=$((failed + 1)); echo "DIFFERENT: watch $which"; diff "$T/real.w" "$T/ours.w" | head -30; }; }
grep -c watched "$T/ours.watch.1" | grep -qx 4 || fail "the watch shows $(cat "$T/ours.watch.1")"

# ---- delete
both delete pod web-2
both delete pod web-2
both delete pod web-2 --ignore-not-found
both delete pods -l app=run
both delete -f "$T/in/deploy.yaml"
both delete pod db-1 -n team --wait=false
both create -f "$T/in/held.yaml"
both delete configmap held --timeout=1s
both get configmap held -o jsonpath='{.metadata.finalizers}'
both patch configmap held --type=merge -p '{"metadata":{"finalizers":null}}'
both get configmap held
both delete pods --all
both get pods

# ---- what is there
for side in ours real; do kubectl --kubeconfig "$T/$side.kubeconfig" api-resources --no-headers | awk '{$1 = $1; print}' | sort >"$T/$side.resources"; done
comm -12 <(cut -d ' ' -f 1 "$T/ours.resources") <(cut -d ' ' -f 1 "$T/real.resources") >"$T/common"
[ "$(wc -l <"$T/common")" -ge 10 ] || fail "they have hardly a resource in common: $(cat "$T/common")"
while read -r resource; do
	grep "^$resource " "$T/real.resources" | diff - <(grep "^$resource " "$T/ours.resources") || failed=$((failed + 1))
done <"$T/common"
for side in ours real; do
	kubectl --kubeconfig "$T/$side.kubeconfig" api-versions | grep -qx apps/v1 || fail "api-versions of $side"
	kubectl --kubeconfig "$T/$side.kubeconfig" explain pods >"$T/explained" || fail "explain of $side"
	head -n 2 "$T/explained" | tr -s ' ' | tr '\n' ' ' | grep -qx 'KIND: Pod VERSION: v1 ' || fail "explain of $side: $(cat "$T/explained")"
done
[ "$asked" -gt 90 ] || fail "$asked commands"
[ "$failed" = 0 ] || { echo "FAILED: $failed of $asked commands differ"; exit 1; }
echo "ok: $asked commands print the same"
