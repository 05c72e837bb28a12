#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The manifests of tools/deploy: upstream's API server takes all objects of each overlay, with strict fields and its own validation, and warns
# of nothing. Then their containers run, as root only: as the DaemonSets say, each as PID 1 in a root of its own that is read-only, with the
# users, groups, capabilities, volumes and ConfigMaps named there, and as the service account with the roles named there.
#   - informerd syncs all that is configured, and may read no secrets; its roles are those that informerctl rbac prints;
#   - the one of the next revision is ready while the first one serves, and takes over without a LIST;
#   - an agent that has the group reads through a read-only volume, one without the group is refused;
#   - the gateway attaches, and asks for reviews.
# Takes 60 s.
. "$(dirname "$0")/../support/script.sh"
command -v kubectl >/dev/null || { echo "SKIP: kubectl is not installed"; exit 77; }
command -v openssl >/dev/null || { echo "SKIP: openssl is missing"; exit 77; }
# what is mounted here goes with the script
if [ "$(id -u)" = 0 ] && [ -z "${IN_NAMESPACE:-}" ] && unshare --mount true 2>/dev/null; then
	rm -rf "$T"
	IN_NAMESPACE=1 exec unshare --mount --propagation private bash "$0"
fi
export HOME=$T # kubectl's cache
k() { kubectl --kubeconfig "$T/kubeconfig" "$@"; }

# ---- the cluster: the roles that each has, and those of the manifests
account=system:serviceaccount:informer
printf '%s\n' "informerd-token,$account:informerd,u1,\"system:serviceaccounts\"" "gateway-token,$account:informer-gateway,u2,\"system:serviceaccounts\"" \
	'reader-token,reader,u3,' >"$T/tokens.csv"
cat >"$T/cluster.yaml" <<'END'
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: discovery}
rules:
- {nonResourceURLs: [/api, "/api/*", /apis, "/apis/*", /version, /livez], verbs: [get]}
- {apiGroups: [authorization.k8s.io], resources: [selfsubjectaccessreviews], verbs: [create]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: discovery}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: discovery}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: "system:authenticated"}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: "system:auth-delegator"}
rules:
- {apiGroups: [authentication.k8s.io], resources: [tokenreviews], verbs: [create]}
- {apiGroups: [authorization.k8s.io], resources: [subjectaccessreviews], verbs: [create]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: reader}
rules: [{apiGroups: [""], resources: [pods], verbs: [get, list, watch]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: reader}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reader}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: reader}]
END
echo '{"items":[]}' >"$T/rbac.json"
start_sim --nodes 2 --pods-per-node 5 --rbac "$T/rbac.json" --token-file "$T/tokens.csv"

node=$(k get nodes -o jsonpath='{.items[0].metadata.name}')

# ---- the API server takes all objects
overlays=$(cd tools/deploy/overlays && echo *)
# as_json FILE OUT: its objects, a JSON list
as_json() {
	k create --dry-run=client --validate=false -o json -f "$1" 2>"$T/json.err" | jq -s '{items: map(.items[]? // .)}' >"$2" ||
		fail "$1: $(cat "$T/json.err")"
	[ ! -s "$T/json.err" ] || fail "$1: $(cat "$T/json.err")"
}
for overlay in $overlays; do
	kubectl kustomize "tools/deploy/overlays/$overlay" >"$T/$overlay.yaml" 2>"$T/$overlay.err" || fail "$overlay: $(cat "$T/$overlay.err")"
	as_json "$T/$overlay.yaml" "$T/$overlay.json"
	jq '.items |= map(select(.kind == "Namespace")) | .kind = "List" | .apiVersion = "v1"' "$T/$overlay.json" | k apply -f - >"$T/ns.out" 2>&1 ||
		fail "$overlay: $(cat "$T/ns.out")"
	k apply --dry-run=server --validate=strict -f "$T/$overlay.yaml" >"$T/$overlay.out" 2>>"$T/$overlay.err" || fail "$overlay: $(cat "$T/$overlay.err")"
	[ ! -s "$T/$overlay.err" ] || fail "$overlay: $(cat "$T/$overlay.err")"
	# two Pods of a node, old and new, would wait for each other's port
	jq -e '[.items[] | select(.kind == "DaemonSet" and (.spec.updateStrategy.rollingUpdate.maxSurge // 0) != 0).spec.template.spec
		| select(.hostNetwork or any(.containers[].ports[]?; .hostPort))] == []' "$T/$overlay.json" >/dev/null || fail "$overlay: maxSurge with a port of the host"
	same "$overlay: objects" "$(jq '.items | length' "$T/$overlay.json")" "$(grep -c 'server dry run)$' "$T/$overlay.out")"
done
as_json "$T/cluster.yaml" "$T/cluster.json"
roles() { jq -s '{items: map(.items[] | select(.kind | test("Role"))) | unique}' "$T/cluster.json" "$1"; }

# ---- a kubelet for one container
# chosen OVERLAY DAEMONSET [INDEX [FIELD]]: sets pod and one, the spec of it and of its container
chosen() {
	objects=$T/$1.json
	pod=$(jq -e --arg name "$2" '.items[] | select(.kind == "DaemonSet" and .metadata.name == $name) | .spec.template.spec' "$objects") || fail "no $2 in $1"
	one=$(jq --arg field "${4:-containers}" --argjson i "${3:-0}" '.[$field][$i]' <<<"$pod")
	namespace=$(jq -r --arg name "$2" '.items[] | select(.kind == "DaemonSet" and .metadata.name == $name) | .metadata.namespace' "$objects")
}
of() { jq -r --argjson pod "$pod" "$1" <<<"$one"; }
# wanted FIELD: of the container, else of the Pod
wanted() { of "\$pod.securityContext + .securityContext | .$1"; }
# volume NAME DIR: what it holds, in DIR; a hostPath is the same directory for all
volume() {
	local map file
	case $(jq -r --arg name "$1" '.volumes[] | select(.name == $name) | keys[] | select(. != "name")' <<<"$pod") in
	hostPath) mount --bind "$T/node/run" "$2" ;;
	configMap)
		map=$(jq -r --arg name "$1" '.volumes[] | select(.name == $name).configMap.name' <<<"$pod")
		for file in $(jq -r --arg name "$map" --arg ns "$namespace" \
			'.items[] | select(.kind == "ConfigMap" and .metadata.name == $name and .metadata.namespace == $ns).data | keys[]' "$objects"); do
			jq -r --arg name "$map" --arg file "$file" '.items[] | select(.kind == "ConfigMap" and .metadata.name == $name).data[$file]' "$objects" |
				sed -E 's/":(9090|8443)"/"127.0.0.1:0"/' >"$2/$file" # tests share no port
		done ;;
	secret)
		cp "$T/tls.crt" "$T/tls.key" "$2/"
		chown "0:$(wanted fsGroup)" "$2"/*
		chmod 0440 "$2"/* ;;
	*) fail "volume $1" ;;
	esac
}
containers=0
# make_root: sets R, the root of the container: the machine's libraries, the image's programs, the volumes
make_root() {
	local program name path mode
	containers=$((containers + 1))
	R=$T/root.$containers
	mkdir "$R"
	mount -t tmpfs -o mode=0755 none "$R"
	at_end+=("umount -R -l '$R'")
	mkdir -p "$R"/{usr/bin,etc,proc,dev/shm,run,var}
	for path in lib lib64; do
		[ ! -d "/usr/$path" ] || { mkdir "$R/usr/$path" && mount --rbind "/usr/$path" "$R/usr/$path"; }
		cp -a "/$path" "$R/"
	done
	ln -s ../run "$R/var/run"
	mount -t tmpfs -o size=64m none "$R/dev/shm"
	for path in null urandom; do touch "$R/dev/$path" && mount --bind "/dev/$path" "$R/dev/$path"; done
	for program in "$B"/informerd "$B"/informerctl "$B"/informer-gateway "$(command -v install)" "$(command -v setpriv)"; do
		touch "$R/usr/bin/${program##*/}" && mount --bind "$program" "$R/usr/bin/${program##*/}"
	done
	while read -r name path mode; do
		mkdir -p "$R$path"
		volume "$name" "$R$path"
		[ "$mode" != true ] || { mountpoint -q "$R$path" || mount --bind "$R$path" "$R$path"; mount -o remount,bind,ro "$R$path"; }
	done < <(of '.volumeMounts[] | "\(.name) \(.mountPath) \(.readOnly)"')
	if [ "$(jq .automountServiceAccountToken <<<"$pod")" = true ]; then
		path=$R/run/secrets/kubernetes.io/serviceaccount
		mkdir -p "$path"
		case $(jq -r .serviceAccountName <<<"$pod") in informerd) echo informerd-token ;; informer-gateway) echo gateway-token ;; esac >"$path/token"
		cp "$T/server.ca" "$path/ca.crt"
		echo "$namespace" >"$path/namespace"
	fi
	[ "$(wanted readOnlyRootFilesystem)" != true ] || mount -o remount,ro "$R"
}
# as_container COMMAND...: in $R, as the user that the chosen one says
as_container() {
	local groups caps
	groups=$(jq -r '[.securityContext | .supplementalGroups[]?, (.fsGroup // empty)] | join(",")' <<<"$pod")
	[ -z "${NO_GROUPS:-}" ] || groups=
	caps=-all$(of '.securityContext.capabilities.add[]? | ",+" + ascii_downcase' | tr -d '\n')
	[ "$(of '.securityContext.capabilities.drop[0]')" = ALL ] || fail "capabilities are kept"
	[ "$(wanted runAsNonRoot)" != true ] || [ "$(wanted runAsUser)" -gt 0 ] || fail "root, against runAsNonRoot"
	exec env -i KUBERNETES_SERVICE_HOST=127.0.0.1 KUBERNETES_SERVICE_PORT="$sim_port" NODE_NAME="$node" \
		unshare --pid --fork --mount --root="$R" --mount-proc=/proc setpriv --reuid "$(wanted runAsUser)" --regid "$(wanted runAsGroup)" \
		${groups:+--groups "$groups"} $([ -n "$groups" ] || echo --clear-groups) --bounding-set "$caps" --inh-caps=-all --no-new-privs --pdeathsig KILL "$@"
}
command_of() { mapfile -t command < <(of '(.command + (.args // []))[]'); }
# in_background OUT LOG: runs $command so; sets outer, with which it ends, and inner, PID 1 in there
in_background() {
	(as_container "${command[@]}") >"$1" 2>"$2" &
	outer=$!
	runs() { [ "$(cat "/proc/$outer/comm")" = unshare ] && inner=$(cat "/proc/$outer/task/$outer/children") && [ -n "$inner" ]; }
	until_true runs || fail "${command[0]} does not start: $(cat "$2")"
	inner=${inner% }
}

if [ -z "${IN_NAMESPACE:-}" ]; then
	echo "SKIP the containers: mounts and other users need root"
	exit 0
fi
mkdir -p "$T/node/run"
mount -t tmpfs -o mode=0755 none "$T/node/run" # the host's /run/informer, root's at first
at_end+=("umount -l '$T/node/run'")
S=$T/node/run/informer.sock

# ---- informerd: the init container, a start as each overlay has it configured, and what it may
run_init() {
	chosen "$1" informerd 0 initContainers
	make_root
	command_of
	(as_container "${command[@]}") || fail "the init container ends with $?"
}
# start_informerd OVERLAY NAME: sets informerd_pid, the one inside, and log
start_informerd() {
	run_init "$1"
	chosen "$1" informerd
	make_root
	command_of
	log=$T/$2.log
	(as_container "${command[@]}" --check-config) >"$T/check.log" 2>&1 || fail "$1: --check-config: $(cat "$T/check.log")"
	in_background /dev/null "$log"
	has_port() { grep -q '127\.0\.0\.1:[0-9]*/metrics' "$log" || ! kill -0 "$inner"; }
	until_true has_port && kill -0 "$inner" || fail "$1: informerd does not start: $(cat "$log")"
	informerd_pid=$inner informerd_outer=$outer
}
probe() { curl -sf "http://$(grep -o '127\.0\.0\.1:[0-9]*/metrics' "$1" | head -n 1 | sed 's|/metrics||')$2"; }
# granted FILE: who informerd is in this manifest, and each thing that he may do
granted() {
	jq -c '[.items[] | select(.metadata.name == "informerd" and (.kind | test("Role|ServiceAccount")))
		| if .kind == "ClusterRole" then .rules[] | .apiGroups[] as $group | .resources[] as $resource | .verbs[] as $verb | [$verb, $resource, $group, .resourceNames]
		else [.kind, .metadata.namespace, .roleRef.kind, .roleRef.name, .subjects[0].name, .subjects[0].namespace] end] | unique' "$1"
}
end_informerd() {
	kill -TERM "$informerd_pid"
	code=0
	wait "$informerd_outer" || code=$?
	[ "$code" = 0 ] || fail "informerd ends with $code after SIGTERM"
}
for overlay in $overlays; do
	roles "$T/$overlay.json" >"$T/rbac.new" && mv "$T/rbac.new" "$T/rbac.json"
	same "$overlay: the probes' port" 9090 "$(chosen "$overlay" informerd && of '.ports[0].containerPort')"
	start_informerd "$overlay" "$overlay"
	until_true probe "$log" /readyz || fail "$overlay: not ready: $(probe "$log" '/readyz?verbose')"
	while read -r resource; do
		for verb in list watch; do
			k auth can-i "$verb" "$resource" -A --as="$account:informerd" >"$T/can.out" 2>&1 || fail "$overlay: may not $verb $resource: $(cat "$T/can.out")"
		done
	done < <(stat '.resources[] | .resource + if .group // "" == "" then "" else "." + .group end')
	for resource in secrets configmaps; do
		! k auth can-i list "$resource" -A --as="$account:informerd" >"$T/can.out" 2>&1 || fail "$overlay: may list $resource"
	done
	"$B/informerctl" rbac --socket "$S" >"$T/$overlay.rbac" || fail "$overlay: informerctl rbac ends with $?"
	as_json "$T/$overlay.rbac" "$T/$overlay.rbac.json"
	same "$overlay: what informerctl rbac prints" "$(granted "$T/$overlay.json")" "$(granted "$T/$overlay.rbac.json")"
	end_informerd
done

# ---- a rolling update, seen by an agent
start_informerd agent-example first
until_true probe "$log" /readyz || fail "not ready"
first=$informerd_pid first_outer=$informerd_outer
chosen agent-example pod-changes
make_root
command_of
in_background "$T/changes" "$T/agent.log"
got_pods() { [ "$(grep -c "\"nodeName\":\"$node\"" "$T/changes")" -ge 5 ]; }
until_true got_pods || fail "the agent sees no Pods: $(cat "$T/agent.log")"
code=0
(NO_GROUPS=1 as_container /usr/bin/informerctl get pods -A) >"$T/refused" 2>&1 || code=$?
[ "$code" != 0 ] && grep -q 'access.gids' "$T/refused" || fail "an agent without the group: exit code $code: $(cat "$T/refused")"

start_informerd agent-example second
until_true probe "$log" /readyz || fail "the second one is not ready while the first serves: $(cat "$log")"
grep -q 'standing by' "$log" || fail "the second one does not stand by"
kill -TERM "$first"
wait "$first_outer" || fail "the first one ends with $?"
synced() { [ "$(stat '[.resources[] | select(.state != "synced")] | length')" = 0 ]; }
until_true synced || fail "the second one does not take over: $(cat "$log")"
same "lists of the second one" 0 "$(stat '[.resources[] | .lists + .watch_lists] | add')"
k create -f - >/dev/null <<END || fail "no Pod"
apiVersion: v1
kind: Pod
metadata: {name: after-the-update, namespace: default}
spec: {nodeName: $node, containers: [{name: c, image: i}]}
END
until_true grep -q after-the-update "$T/changes" || fail "the agent sees no more changes: $(cat "$T/agent.log")"

# ---- the gateway, which has another user than informerd
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$T/tls.key" -out "$T/tls.crt" -days 2 -subj /CN=gateway \
	-addext subjectAltName=IP:127.0.0.1 2>/dev/null || fail "no certificate"
roles "$T/with-gateway.json" >"$T/rbac.new" && mv "$T/rbac.new" "$T/rbac.json"
chosen with-gateway informer-gateway
make_root
command_of
in_background /dev/null "$T/gateway.log"
gateway_says() {
	local port
	port=$(grep -o '127\.0\.0\.1:[0-9]*' "$T/gateway.log" | tail -n 1)
	curl -q -sf --cacert "$T/tls.crt" "https://$port$1" "${@:2}"
}
until_true gateway_says /readyz || fail "the gateway is not ready: $(cat "$T/gateway.log")"
gateway_says /api/v1/namespaces/default/pods/after-the-update -H 'Authorization: Bearer reader-token' >"$T/pod.json" || fail "no Pod from the gateway"
! gateway_says /api/v1/nodes -H 'Authorization: Bearer reader-token' >"$T/nodes.json" || fail "what RBAC refuses is served"
end_informerd
echo ok
