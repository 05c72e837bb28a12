#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# netdata's hook for the names of cgroups: names and labels the charts of Pods and containers from the node's cache.
# netdata's own script asks the API server for all Pods of the node whenever it meets an unknown container. The labels
# have the same names; k8s_controller_kind and k8s_controller_name are those of the workload ("Deployment", "web").
#
# Install: copy this file, run informerd --preset node-agent, and write to netdata.conf:
#
#	[plugin:cgroups]
#	    script to get cgroup names = /usr/local/libexec/cgroup-name.sh
#
# It needs informerctl and jq. netdata calls it with a cgroup's path and its name in charts, and reads a line: k8s_NAME
# LABEL="VALUE",... Exit code 2: netdata asks again. Other cgroups go to netdata's own script, $NETDATA_CGROUP_NAME.
named=$(informerctl whois --start-timeout 0 -o json "$1" 2>/dev/null | jq -r '
	def pair(name; value): value | values | "k8s_\(name)=\"\(.)\"";
	# a container that the kubelet has not reported yet is not named after its Pod alone
	if .container or (.who | test("[0-9a-f]{64}") | not) then
		(["k8s", if .container then "cntr" else "pod" end, .namespace, .pod, (.container.name | values)] | join("_")) + " " +
		([pair("namespace"; .namespace), pair("pod_name"; .pod), pair("pod_uid"; .uid), pair("node_name"; .node),
		  pair("controller_kind"; .workload.kind), pair("controller_name"; .workload.name),
		  pair("container_name"; .container.name), pair("container_id"; .container.id),
		  pair("kind"; if .container then "container" else "pod" end)] | join(","))
	else empty end')
if [ -n "$named" ]; then
	echo "$named"
	exit 0
fi
case $1 in
*kubepods*[-/]pod*) exit 2 ;;
*) exec "${NETDATA_CGROUP_NAME:-/usr/lib/netdata/plugins.d/cgroup-name.sh}" "$@" ;;
esac
