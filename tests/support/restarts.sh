# SPDX-License-Identifier: Apache-2.0
# For end-to-end tests whose program restarts informerd: it runs $RESTART, and waits for its end. Sourced after script.sh.
# The script defines start(), which starts informerd with its arena in $T/arena. Files beside $RESTART say how: .anew, without an arena;
# .without, of a pod's name: it is deleted meanwhile, which nobody can watch any more; .stop: none is started.
export RESTART=$T/restart
cat >"$RESTART" <<END
#!/bin/sh
kill -USR1 $$
while [ ! -e "$T/restarted" ]; do sleep 0.05; done
rm "$T/restarted"
END
chmod +x "$RESTART"
restart() {
	[ -z "$daemon_pid" ] || stop_daemon KILL
	[ ! -e "$RESTART.anew" ] || rm "$T"/arena/* "$RESTART.anew"
	if [ -e "$RESTART.without" ]; then
		curl -sf -X DELETE "$url/api/v1/namespaces/default/pods/$(cat "$RESTART.without")" >"$T/log"
		forget_history
		rm "$RESTART.without"
	fi
	if [ -e "$RESTART.stop" ]; then
		rm "$RESTART.stop"
	else
		start
		wait_ready
	fi
	: >"$T/restarted"
}
trap restart USR1

# with_restarts PROGRAM...: run it, and restart informerd when it asks.
with_restarts() {
	local code= program
	"$@" &
	program=$!
	while [ -z "$code" ]; do # each restart interrupts the wait
		if wait "$program"; then code=0; else code=$?; fi
		! kill -0 "$program" 2>/dev/null || code=
	done
	return "$code"
}
