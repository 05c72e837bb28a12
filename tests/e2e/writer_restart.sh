#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A restart goes on by what was looked at before it: behind SIGHUP by the configuration that was checked, else by program and configuration
# that run. What turns bad on disk meanwhile ends nothing.
# Takes 8 s.
. "$(dirname "$0")/../support/script.sh"
. "$(dirname "$0")/../support/gadgets.sh"

C=$T/config.yaml
config() { cat >"$C"; }
program() { # what is on disk is on standard input
	cat >"$T/informerd.new"
	chmod +x "$T/informerd.new"
	mv "$T/informerd.new" "$T/informerd"
}
reloads=0 refusals=0
reload() { # OK|REFUSED
	case $1 in OK) reloads=$((reloads + 1)) ;; *) refusals=$((refusals + 1)) ;; esac
	kill -HUP "$daemon_pid"
	until_true stat_is '.reload | "\(.succeeded) \(.refused)"' "$reloads $refusals" || fail "reload is not $1: $(stat .reload)"
}

start_sim --nodes 1 --pods-per-node 3
program <"$B/informerd"
config <<<'resources: [pods]'
INFORMERD=$T/informerd start_daemon --config "$C"
wait_ready

# What turns bad behind the check is none of the next run's business: it goes by the text that was checked.
cp "$B/tests/informerd_next" "$T/next"
program <<END
#!/usr/bin/env bash
case "\$*" in *--check*) echo '{broken' >"$C" ;; esac
exec -a "$T/informerd" "$T/next" "\$@"
END
config <<<'resources: [pods, services, nodes]'
reload OK
expect_stat '.resources | length' 3
grep -q broken "$C" || fail "the file is still good"

# Nor is it that of a restart that nobody asked for, here because a definition came back as another one; and the program stays the same.
config <<<'resources: [gadgets.example.com, pods]'
define v1 Namespaced Gadget
gadget v1 Gadget one default
program <"$T/next"
reload OK
until_true shows default/one v1 Gadget || fail "$(stat .resources)"
program <<<'no program'
config <<<'{broken'
reload REFUSED
undefine
expect_stat '.resources[0].activity' refused
define v2 Namespaced Gadget
gadget v2 Gadget two default
until_true shows default/two v2 Gadget || fail "$(stat .resources) $(tail -n 3 "$T/daemon.log")"
expect_stat .pid "$daemon_pid"
stat_is .version 9999.0.0 || fail "$(stat .version)"
[ "$(cat "/proc/$daemon_pid/comm")" = informerd ] || fail "it is called $(cat "/proc/$daemon_pid/comm")"

# A reload that such a restart overtakes is begun anew.
program <<END
#!/usr/bin/env bash
case "\$*" in *--check*) : >"$T/looks"; until [ -e "$T/go" ]; do sleep 0.05; done ;; esac
exec -a "$T/informerd" "$T/next" "\$@"
END
config <<<'resources: [gadgets.example.com, pods, nodes]'
kill -HUP "$daemon_pid"
until_true test -e "$T/looks" || fail "the program on disk is not asked"
undefine
expect_stat '.resources[0].activity' refused
define v3 Namespaced Gadget
gadget v3 Gadget three default
until_true shows default/three v3 Gadget || fail "$(stat .resources)"
stat_is '.resources | length' 2 || fail "nobody has looked at it yet: $(stat .resources)"
: >"$T/go"
expect_stat '.resources | length' 3

# A kubeconfig that is bad by then does not end it: readers have the arena, and it goes on when there is a better one.
cp "$T/kubeconfig" "$T/kubeconfig.good"
program <<END
#!/usr/bin/env bash
case "\$*" in *--check*) "$B/informerd" "\$@"; code=\$?; echo '{broken' >"$T/kubeconfig"; exit \$code ;; esac
exec -a "$T/informerd" "$B/informerd" "\$@"
END
config <<<'resources: [gadgets.example.com, pods]'
kill -HUP "$daemon_pid"
until_true grep -q 'kubeconfig:.*tried again in 2 s' "$T/daemon.log" || fail "$(tail -n 3 "$T/daemon.log")"
[ "$(get gadgets -A -o name)" = gadget.example.com/three ] || fail "the arena is not read: $(get gadgets -A 2>&1)"
cp "$T/kubeconfig.good" "$T/kubeconfig"
expect_stat '.resources[1].state' synced
expect_stat .pid "$daemon_pid"
stop_daemon TERM
[ "$code" = 0 ] || fail "exit code $code"
echo ok
