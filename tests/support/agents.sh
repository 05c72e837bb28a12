# SPDX-License-Identifier: Apache-2.0
# For scripts that run real agents before informerd, behind script.sh: Debian's programs, and a Deployment whose Pods log.

# find_agent PROGRAM PACKAGE...: $agent is PROGRAM. If it is not installed, Debian's packages are unpacked in $agent_root, below the build:
# syslog-ng and rsyslog cannot be installed together. Else the script is skipped.
agent_root=
find_agent() {
	local packages=$B/agents/$1 library
	agent=$(PATH=$PATH:/usr/sbin command -v "$1") && return
	[ -d "$packages" ] || unpack_agent "$packages" "${@:2}" ||
		{ echo "SKIP: $1 is not installed, nor can its packages be downloaded (${*:2})"; exit 77; }
	agent_root=$(cd "$packages" && pwd)
	agent=$(find "$agent_root"/usr/bin "$agent_root"/usr/sbin -name "$1" 2>/dev/null || true)
	for library in "$agent_root/usr/lib/$1" "$agent_root"/usr/lib/*-linux-gnu* "$agent_root"/lib/*-linux-gnu*; do
		LD_LIBRARY_PATH=$library:${LD_LIBRARY_PATH-}
	done
	export LD_LIBRARY_PATH
}
# unpack_agent FOLDER PACKAGE...: with the packages that they need and the machine lacks
unpack_agent() {
	local part=$T/unpacked package
	mkdir -p "$part" "$T/packages" "${1%/*}"
	apt-get -s --no-install-recommends install "${@:2}" 2>"$T/apt.log" | sed -n 's/^Inst \([^ ]*\).*/\1/p' >"$T/packages/names"
	(cd "$T/packages" && [ -s names ] && xargs timeout 120 apt-get download <names) >"$T/apt.log" 2>&1 || return
	for package in "$T"/packages/*.deb; do
		dpkg-deb -x "$package" "$part" || return
	done
	# another script may have been faster
	mv -T "$part" "$1" 2>/dev/null || [ -d "$1" ]
}

# use_library: programs that load libinformer.so.0 find it
use_library() {
	sanitized && { echo "SKIP: a program without the sanitizer cannot load libinformer.so.0"; exit 77; }
	LD_LIBRARY_PATH=$(cd "$B" && pwd):${LD_LIBRARY_PATH-}
	export LD_LIBRARY_PATH
}

# ---- the Deployment shop/web. Its Pods have one container, c

post() { curl -sf -H 'Content-Type: application/json' "$url$1" -d "$2"; }
owned_by() { echo "[{\"apiVersion\":\"apps/v1\",\"kind\":\"$1\",\"name\":\"$2\",\"uid\":\"$3\",\"controller\":true}]"; }

# start_shop: with the Pods `running`, and `gone`, which is deleted
start_shop() {
	local apps=/apis/apps/v1/namespaces/shop uid
	start_sim --nodes 2 --pods-per-node 3
	uid=$(post $apps/deployments '{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"}}' | jq -r .metadata.uid)
	replica_set=$(post $apps/replicasets "{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\",
		\"metadata\":{\"name\":\"web-1\",\"ownerReferences\":$(owned_by Deployment web "$uid")}}" | jq -r .metadata.uid)
	make_pod running report
	make_pod gone report
	start_daemon --preset node-agent --resource deployments.apps
	wait_ready
	export INFORMER_SOCKET=$S
	curl -sf -X DELETE "$url/api/v1/namespaces/shop/pods/gone?gracePeriodSeconds=0" >"$T/deleted"
	is_gone() { "$B/informerctl" whois -o json "$(id_of gone)" | grep -q '"deleted"'; }
	until_true is_gone || fail "the deleted Pod is not found"
}
# make_pod NAME [report]: a Pod, whose container's ID the kubelet has reported
make_pod() {
	local status=
	[ -z "${2-}" ] || status=",\"status\":{\"phase\":\"Running\",\"containerStatuses\":
		[{\"name\":\"c\",\"containerID\":\"containerd://$(id_of "$1")\",\"state\":{\"running\":{}}}]}"
	post /api/v1/namespaces/shop/pods "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"$1\",
		\"ownerReferences\":$(owned_by ReplicaSet web-1 "$replica_set")},
		\"spec\":{\"nodeName\":\"n\",\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}$status}" >"$T/made" || fail "no Pod: $(cat "$T/made")"
}
# of the Pod NAME: its container's ID, its UID at the server, its container's cgroup and log file
id_of() { printf %s "$1" | sha256sum | cut -c 1-64; }
uid_of() { curl -sf "$url/api/v1/namespaces/shop/pods/$1" | jq -r .metadata.uid; }
log_of() { echo "$1_shop_c-$(id_of "$1").log"; }

# has_read PID FILE: the process has the file open, and has read it to its end
has_read() {
	local fd
	for fd in /proc/"$1"/fd/*; do
		[ "$fd" -ef "$2" ] && [ "$(awk '$1 == "pos:" {print $2}' "/proc/$1/fdinfo/${fd##*/}")" = "$(wc -c <"$2")" ] && return
	done
	return 1
}
