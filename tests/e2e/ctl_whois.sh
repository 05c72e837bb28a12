#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# informerctl whois: a container's ID or its first digits, a cgroup, a process, an address and a UID lead to the Pod and its Deployment, also
# when the Pod is deleted; what is of the node, unknown or unclear is said, with an exit code of its own.
# Takes 3 s.
. "$(dirname "$0")/../support/script.sh"

start_sim --nodes 3 --pods-per-node 20
start_daemon --preset node-agent --resource deployments.apps
wait_ready
export INFORMER_SOCKET=$S HOST_PROC=$T/proc
ctl=$B/informerctl

# a Pod of a Deployment, with its own address and a running container
pod=$("$ctl" get pods -A -o json | jq -c '[.items[] | select(.status.phase == "Running" and .spec.hostNetwork != true and
	(.metadata.ownerReferences[0].kind == "ReplicaSet") and .status.containerStatuses[0].state.running)][0]')
of() { jq -r "$1" <<<"$pod"; }
ns=$(of .metadata.namespace) name=$(of .metadata.name) uid=$(of .metadata.uid) ip=$(of .status.podIP)
container=$(of '.status.containerStatuses[0].name') id=$(of '.status.containerStatuses[0].containerID')
cgroup="0::/kubepods.slice/kubepods-pod${uid//-/_}.slice/cri-containerd-${id#*://}.scope"
deployment=$("$ctl" get "replicaset/$(of '.metadata.ownerReferences[0].name')" -n "$ns" -o json | jq -r '.metadata.ownerReferences[0].name')
mkdir -p "$T/proc/4711" "$T/proc/1"
echo "$cgroup" >"$T/proc/4711/cgroup"
echo 0::/init.scope >"$T/proc/1/cgroup"

whois() { "$ctl" whois -o json "$1" | jq -r '[.namespace, .pod, .container.name // "-", .workload.kind, .workload.name] | join(" ")'; }
digits=${id#*://}
for word in "$id" "$digits" "${digits:0:12}" "${digits:0:32}" "${digits:0:63}" "${id:0:$((${#id} - 50))}" "$cgroup" 4711; do
	[ "$(whois "$word")" = "$ns $name $container Deployment $deployment" ] || fail "$word: $(whois "$word")"
done
for word in "$ip" "$uid" "/kubepods/pod$uid"; do
	[ "$(whois "$word")" = "$ns $name - Deployment $deployment" ] || fail "$word: $(whois "$word")"
done
"$ctl" whois "$id" "$ip" >"$T/table"
[ "$(wc -l <"$T/table")" = 3 ] && grep -q "$name *$container *running *Deployment/$deployment" "$T/table" || fail "$(cat "$T/table")"

# what whois names, get takes: the Pods of the Deployment, over ReplicaSets that are cached
"$ctl" get pods -n "$ns" --workload "Deployment/$deployment" -o name | grep -qx "pod/$name" || fail "--workload"
[ "$("$ctl" get all -n "$ns" --workload "deploy/$deployment" -o name | grep -c '^\(deployment\|replicaset\).apps/')" = 2 ] ||
	fail "$("$ctl" get all -n "$ns" --workload "deploy/$deployment" -o name)"

[ "$("$ctl" whois -o json "$uid" | jq -c .services)" != null ] || fail "no services: $("$ctl" whois -o json "$uid")"
service=$("$ctl" get services -A -o json | jq -c '[.items[] | select(.spec.clusterIP // "None" != "None")][0]')
[ "$("$ctl" whois -o json "$(jq -r .spec.clusterIP <<<"$service")" | jq -r '.workload.kind + " " + .workload.name')" = \
	"Service $(jq -r .metadata.name <<<"$service")" ] || fail "a service's address: $service"
node=$("$ctl" get nodes -o json | jq -c '.items[0]')
address=$(jq -r '.status.addresses[] | select(.type == "InternalIP").address' <<<"$node")
host=$("$ctl" get pods -A -o json | jq --arg ip "$address" '[.items[] | select(.status.podIP == $ip)] | length')
[ "$("$ctl" whois -o json "$address" | jq -r '.workload.kind + " " + .workload.name + " " + (.hostPods | tostring)')" = \
	"Node $(jq -r .metadata.name <<<"$node") $host" ] || fail "a node's address: $("$ctl" whois -o json "$address"), $host pods"

said() { # EXIT WORDS COMMAND...
	local code=$1 words=$2 rc=0
	"${@:3}" >"$T/out" 2>&1 || rc=$?
	[ "$rc" = "$code" ] && grep -q -- "$words" "$T/out" || fail "${*:3}: exit $rc: $(cat "$T/out")"
}
said 1 'of the node itself' "$ctl" whois 1
said 1 'no such process' "$ctl" whois 2
said 1 'nothing in the cache has it' "$ctl" whois 10.255.255.254
said 2 "'web' is no pid" "$ctl" whois web
said 2 "'${digits:0:11}' is no pid" "$ctl" whois "${digits:0:11}"
said 1 'nothing in the cache has it' "$ctl" whois ffffffffffff

# another container's ID begins with the same 20 digits
other=$("$ctl" get pods -A -o json | jq -r --arg name "$name" '[.items[] | select(.metadata.name != $name and
	.status.containerStatuses[0].containerID)][0].metadata | .namespace + "/pods/" + .name')
twin=${digits:0:20}$(tr 0-9a-f 1-9a-f0 <<<"${digits:20}")
curl -sf -X PATCH -H 'Content-Type: application/merge-patch+json' "$url/api/v1/namespaces/$other/status" \
	-d "{\"status\":{\"containerStatuses\":[{\"name\":\"twin\",\"containerID\":\"containerd://$twin\",\"state\":{\"running\":{}}}]}}" >"$T/patched"
has_twin() { "$ctl" whois "$twin" >"$T/twin" 2>&1; }
until_true has_twin || fail "$(cat "$T/twin")"
said 1 ' is ambiguous' "$ctl" whois "${digits:0:12}"
grep -q "$digits" "$T/out" && grep -q "$twin" "$T/out" || fail "$(cat "$T/out")"
said 1 ' is ambiguous' "$ctl" whois "${id:0:$((${#id} - 44))}"
[ "$(whois "${digits:0:21}")" = "$ns $name $container Deployment $deployment" ] || fail "by 21 digits: $(whois "${digits:0:21}")"
said 2 'whois what?' "$ctl" whois
said 1 "Deployment/$deployment" "$ctl" whois 1 "$ip" # one answer is given though another is not

# deleted a moment ago: found by the same words
curl -sf -X DELETE "$url/api/v1/namespaces/$ns/pods/$name?gracePeriodSeconds=0" >"$T/deleted"
is_deleted() { "$ctl" whois "$id" | grep -q "$name *$container *deleted .* ago *Deployment/$deployment"; }
until_true is_deleted || fail "$("$ctl" whois "$id")"
for word in "$cgroup" 4711 "$uid" "$ip" "${digits:0:21}"; do
	[ "$("$ctl" whois -o json "$word" | jq -r '.pod + " " + (.deleted | type)')" = "$name string" ] || fail "deleted, by $word"
done
