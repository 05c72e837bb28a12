#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# rsyslog's mmexternal, as Debian ships it, labels the lines of containers by tools/examples/rsyslog_helper.c: of a Pod that runs, of one that
# is created after its line, and of one that is deleted. The helper answers any input with a line, and goes on without informerd.
#
# Not upstream: Pods are created with a status, which the API server leaves to the kubelet.
# Takes 3 s.
. "$(dirname "$0")/../support/script.sh"
. "$(dirname "$0")/../support/agents.sh"
PATH=$PATH:/usr/sbin
command -v rsyslogd >/dev/null || { echo "SKIP: rsyslogd is not installed"; exit 77; }
[ -n "$(find /usr/lib /usr/lib64 -name mmexternal.so 2>/dev/null)" ] || { echo "SKIP: rsyslog has no mmexternal"; exit 77; }

start_shop
mkdir "$T/containers" "$T/work"
helper=$(realpath "$B/rsyslog_helper")
# the wait is long, so that a loaded machine changes nothing
cat >"$T/rsyslog.conf" <<-END
	global(workDirectory="$T/work")
	module(load="imfile")
	module(load="mmexternal")
	template(name="labelled" type="string" string="%msg% %\$!k8s!namespace% %\$!k8s!pod% %\$!k8s!container% %\$!k8s!workload%\n")
	input(type="imfile" file="$T/containers/*.log" tag="pod" addMetadata="on" ruleset="pods")
	ruleset(name="pods") {
		action(type="mmexternal" binary="$helper $S $((PATIENCE * 1000))" interface.input="fulljson")
		action(type="omfile" file="$T/labelled" template="labelled")
	}
END
rsyslogd -n -f "$T/rsyslog.conf" -i "$T/rsyslog.pid" >"$T/rsyslog.log" 2>&1 &
rsyslog=$!
catches_term() { catches "$rsyslog" TERM; }
until_true test -s "$T/rsyslog.pid" && until_true catches_term || fail "rsyslogd does not start"

# labelled NAME: its line came out with its labels
labelled() { until_true grep -qx "line-of-$1 shop $1 c Deployment/web" "$T/labelled" || fail "no labels of $1: $(cat "$T/labelled")"; }
logs() { echo "line-of-$1" >>"$T/containers/$(log_of "$1")"; }
logs running
labelled running
logs gone
labelled gone

# read before the Pod is there. The kubelet reports its container later
logs young
until_true has_read "$rsyslog" "$T/containers/$(log_of young)" || fail "rsyslog does not read"
make_pod young
labelled young
kill "$rsyslog"
wait "$rsyslog" || true

# any input
stop_daemon TERM
message() { printf '{"$!":{"metadata":{"filename":"%s"}}}\n' "$1"; }
{
	echo 'no JSON'
	echo '{"$!":{"metadata":{"filename":[1]}}}'
	message a
	message "$(printf 'a%.0s' $(seq 600))_shop_c-$(id_of a).log"
	message "a_shop_$(printf 'c%.0s' $(seq 600))-$(id_of a).log"
	message "$(log_of nobody)"
	message "$(log_of running)"
} | "$helper" "$S" 1 >"$T/answers"
[ "$(sort "$T/answers" | uniq -c | tr -s ' ')" = ' 7 {}' ] || fail "$(cat "$T/answers")"
echo ok
