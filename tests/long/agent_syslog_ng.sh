#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# syslog-ng, as Debian ships it, labels the lines of containers by tools/examples/syslog-ng: of a Pod that runs, of one that is created after
# its line, and of one that is deleted; by the log file's name, a container's ID and a cgroup.
#
# Not upstream: Pods are created with a status, which the API server leaves to the kubelet.
# Takes 3 s.
. "$(dirname "$0")/../support/script.sh"
. "$(dirname "$0")/../support/agents.sh"
use_library
find_agent syslog-ng syslog-ng-core syslog-ng-mod-python
modules=$(find "$agent_root"/usr/lib/syslog-ng -name libmod-python.so -o -name 'libmod-python.*.so' 2>/dev/null | head -n 1)
[ -n "$modules" ] || { echo "SKIP: syslog-ng has no python() (Debian: syslog-ng-mod-python)"; exit 77; }
modules=${modules%/*}

start_shop
mkdir "$T/containers"
# the waits are long, so that a loaded machine changes nothing
cat >"$T/syslog-ng.conf" <<-END
	@version: $("$agent" --version | sed -n 's/^Config version: //p')
	source containers { wildcard-file(base-dir("$T/containers") filename-pattern("*.log") flags(no-parse)
		monitor-method("poll") follow-freq(0.1)); };
	source keys { file("$T/keys" flags(no-parse) follow-freq(0.1)); };
	parser by_file { python(class("informer_parser.Labels") options("wait_ms" "$((PATIENCE * 1000))")); };
	parser by_key { python(class("informer_parser.Labels") options("key" "MESSAGE" "wait_ms" "1")); };
	destination labelled { file("$T/labelled" template("\$MESSAGE \${k8s.namespace} \${k8s.pod} \${k8s.container} \${k8s.workload}\n")); };
	log { source(containers); parser(by_file); destination(labelled); };
	log { source(keys); parser(by_key); destination(labelled); };
END
: >"$T/keys"
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$PWD/tools/examples/syslog-ng:$modules/python "$agent" -F --stderr --no-caps --module-path "$modules" -f "$T/syslog-ng.conf" \
	-p "$T/pid" -c "$T/control" -R "$T/persist" >"$T/syslog-ng.log" 2>&1 &
syslog_ng=$!

# labelled LINE LABELS: the line came out so
labelled() { until_true grep -qx "$1 $2" "$T/labelled" || fail "'$1 $2' is missing: $(cat "$T/labelled")"; }
logs() { echo "line-of-$1" >>"$T/containers/$(log_of "$1")"; }

logs running
labelled line-of-running "shop running c Deployment/web"
logs gone
labelled line-of-gone "shop gone c Deployment/web"

# read before the Pod is there. The kubelet reports its container later
logs young
until_true has_read "$syslog_ng" "$T/containers/$(log_of young)" || fail "syslog-ng does not read"
make_pod young
labelled line-of-young "shop young c Deployment/web"

for pod in running gone; do
	echo "containerd://$(id_of $pod)" >>"$T/keys"
	labelled "containerd://$(id_of $pod)" "shop $pod c Deployment/web"
done
cgroup=/kubepods.slice/kubepods-pod$(uid_of running | tr - _).slice/cri-containerd-$(id_of running).scope
echo "$cgroup" >>"$T/keys"
labelled "$cgroup" "shop running c Deployment/web"
# of nobody: passed on as it is
echo "$(id_of nobody)" >>"$T/keys"
labelled "$(id_of nobody)" "   "

kill "$syslog_ng"
code=0
wait "$syslog_ng" || code=$?
[ "$code" = 0 ] || fail "syslog-ng ends with $code"
echo ok
