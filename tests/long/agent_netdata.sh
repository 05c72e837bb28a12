#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# netdata, as Debian ships it, names and labels the charts of containers by tools/examples/netdata, also of one that the kubelet reports after
# netdata has met it. The hook keeps netdata's protocol: Pods and containers are named, deleted ones as well; an unknown one is asked for again;
# what is of no Pod goes to netdata's own script.
#
# Not upstream: Pods are created with a status, which the API server leaves to the kubelet.
# Takes 10 s.
. "$(dirname "$0")/../support/script.sh"
. "$(dirname "$0")/../support/agents.sh"
find_agent netdata netdata-core

start_shop
PATH=$(cd "$B" && pwd):$PATH
hook=$PWD/tools/examples/netdata/cgroup-name.sh
uid=$(uid_of running)
gone_uid=$(jq -r '.metadata.uid // .details.uid' "$T/deleted")
# slice UID: a Pod's cgroup; scope UID NAME: its container's
slice() { echo "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod${1//-/_}.slice"; }
scope() { echo "$(slice "$1")/cri-containerd-$(id_of "$2").scope"; }

# ---- the hook, called as netdata calls it

printf '#!/bin/sh\necho "own script: $1 $2"\n' >"$T/own"
chmod +x "$T/own"
export NETDATA_CGROUP_NAME=$T/own
# names EXIT LINE PATH: the start of what it says
names() {
	local code=0 line
	line=$("$hook" "$3" "${3//\//_}") || code=$?
	[ "$code $line" = "$1 $2" ] || fail "$3: exit $code: $line"
}
common() { echo "k8s_namespace=\"shop\",k8s_pod_name=\"$1\",k8s_pod_uid=\"$2\",k8s_node_name=\"n\",k8s_controller_kind=\"Deployment\",k8s_controller_name=\"web\""; }
of_container() { echo "k8s_cntr_shop_$1_c $(common "$1" "$2"),k8s_container_name=\"c\",k8s_container_id=\"$(id_of "$1")\",k8s_kind=\"container\""; }
names 0 "$(of_container running "$uid")" "$(scope "$uid" running)"
names 0 "k8s_pod_shop_running $(common running "$uid"),k8s_kind=\"pod\"" "$(slice "$uid")"
names 0 "$(of_container gone "$gone_uid")" "$(scope "$gone_uid" gone)"
names 2 '' "$(scope "$uid" not-reported)"
names 2 '' "$(slice 00000000-0000-4000-8000-000000000000)"
names 0 'own script: /system.slice/cron.service _system.slice_cron.service' /system.slice/cron.service
names 0 'own script: /kubepods.slice/kubepods-burstable.slice _kubepods.slice_kubepods-burstable.slice' /kubepods.slice/kubepods-burstable.slice

# ---- netdata, on a hierarchy of the test's own

# has_cgroup PATH: from now on
has_cgroup() {
	mkdir -p "$T/made-cgroup" "$T/cgroup${1%/*}"
	printf 'usage_usec 2\nuser_usec 1\nsystem_usec 1\n' >"$T/made-cgroup/cpu.stat"
	mv "$T/made-cgroup" "$T/cgroup$1"
}
has_cgroup "$(scope "$uid" running)"
# the hook, with a record of what it answered
printf '#!/bin/sh\ncode=0\n"%s" "$@" || code=$?\necho "$code $1" >>"%s"\nexit $code\n' "$hook" "$T/asked" >"$T/hook"
chmod +x "$T/hook"
mkdir "$T/etc" "$T/var" "$T/plugins"
cat >"$T/netdata.conf" <<-END
	[global]
	run as user = $(id -un)
	[directories]
	config = $T/etc
	stock config = $T/etc
	log = $T/var
	cache = $T/var
	lib = $T/var
	home = $T/var
	web = $T/var
	plugins = $T/plugins
	[db]
	mode = ram
	[web]
	bind to = unix:$T/netdata.sock
	[health]
	enabled = no
	[ml]
	enabled = no
	[statsd]
	enabled = no
	[plugins]
	enable running new plugins = no
	netdata monitoring = no
	proc = no
	diskspace = no
	timex = no
	idlejitter = no
	tc = no
	[plugin:cgroups]
	check for new cgroups every = 1
	use unified cgroups = yes
	path to unified cgroups = $T/cgroup
	script to get cgroup names = $T/hook
END
"$agent" -D -c "$T/netdata.conf" -P "$T/netdata.pid" >"$T/netdata.log" 2>&1 &
netdata=$!
# labels CHART: k8s_KEY=VALUE of its CPU chart
labels() {
	curl -sf --unix-socket "$T/netdata.sock" "http://netdata/api/v1/chart?chart=cgroup_k8s_$1.cpu" |
		jq -r '.chart_labels | "\(.k8s_namespace) \(.k8s_pod_name) \(.k8s_container_name) \(.k8s_controller_kind)/\(.k8s_controller_name)"'
}
labelled() { [ "$(labels "$1")" = "$2" ]; }
until_true labelled cntr_shop_running_c "shop running c Deployment/web" || fail "no chart of the container: $(labels cntr_shop_running_c)"
# netdata gives up after some seconds: so the container is reported as soon as netdata has asked for it
make_pod young
young_uid=$(uid_of young)
has_cgroup "$(scope "$young_uid" young)"
until_true grep -qF "2 $(scope "$young_uid" young)" "$T/asked" || fail "nobody asks for the young container: $(cat "$T/asked")"
curl -sf -X PATCH -H 'Content-Type: application/merge-patch+json' "$url/api/v1/namespaces/shop/pods/young/status" \
	-d "{\"status\":{\"containerStatuses\":[{\"name\":\"c\",\"containerID\":\"containerd://$(id_of young)\"}]}}" >"$T/patched"
until_true labelled cntr_shop_young_c "shop young c Deployment/web" || fail "no chart of the young container: $(labels cntr_shop_young_c); netdata asked: $(cat "$T/asked")"
kill "$netdata"
wait "$netdata" || true
echo ok
