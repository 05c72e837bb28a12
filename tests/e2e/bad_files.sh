#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What is wrong in a file: the configuration is refused with line and column, and nothing is touched; an arena file that is not what it
# should be is neither followed nor believed nor, if it is someone else's, written to, and a new one is built from a LIST.
# Not upstream: it is about readers, limits or broken answers, which are the same there.
# Takes 5 s.
. "$(dirname "$0")/../support/script.sh"

start_sim --nodes 1 --pods-per-node 5

# ---- the configuration: refused PATTERN, stdin is the file
refused() {
	cat >"$T/config.yaml"
	code=0
	timeout "$PATIENCE" "$B"/informerd --kubeconfig "$T/kubeconfig" --arena-dir "$T" --socket "$S" --config "$T/config.yaml" >"$T/out.log" 2>&1 || code=$?
	[ "$code" = 2 ] || fail "exit code $code for: $(cat "$T/config.yaml")"
	grep -q -- "$1" "$T/out.log" || fail "no '$1' for: $(cat "$T/config.yaml")"
}
refused "config.yaml:2:1: .*'resurces'; did you mean resources?" <<<$'socket: /x\nresurces: [pods]'
refused "config.yaml:3:5: .*'labelselector'; did you mean labelSelector?" <<<$'resources:\n  - resource: pods\n    labelselector: a=b'
refused 'config.yaml:1:22: ' <<<$'access: {maxReaders: many}\nresources: [pods]'
refused 'config.yaml:2:19: maxBytes must be a size' <<<$'resources: [pods]\narena: {maxBytes: [1]}'
refused 'config.yaml:1:12: resources must be a list' <<<'resources: pods'
refused "config.yaml:[0-9]*:1: .*expected ',' or ']'" <<<$'resources: [pods\n'
refused 'config.yaml:2:1: .resources. stands here a second time' <<<$'resources: [pods]\nresources: [services]'
refused "config.yaml:4:12: path 'metadata..name', character 10" <<<$'resources: [pods]\nindexes:\n  - {name: x, resource: pods,\n     path: "metadata..name"}'
refused "config.yaml:3:37: path 'spec\[', character 5: this bracket is never closed" <<<$'resources: [pods]\nindexes:\n  - {name: x, resource: pods, path: "spec["}'
refused 'config.yaml:1:13: .*allowSecrets: true' <<<'resources: [secrets]'
refused "config.yaml:3:12: 'metadata.name' cannot be dropped" <<<$'resources:\n  - resource: pods\n    drop: ["metadata.name"]'
printf 'resources: [pods]\nsocket: "\xff\xfe"\n' | refused 'config.yaml: not text at byte 27'
[ -z "$(find "$T" -name 'informer*.[0-9]*')" ] && [ ! -e "$S" ] || fail "something was touched: $(ls "$T")"

# ---- the arena's file
start_daemon --resource pods
wait_ready
arena=$T/$(stat .arena.file)
stop_daemon TERM
cp -p "$arena" "$T/good"
name=${arena%.*}

# rebuilt PATTERN: it starts with what lies there, says so, and lists
rebuilt() {
	before=$(lists pods)
	: >"$T/daemon.log"
	start_daemon --resource pods
	wait_ready
	grep -q -- "$1" "$T/daemon.log" || fail "no '$1'"
	grep -q 'built anew from the API server' "$T/daemon.log" || fail "$1: nobody is told what follows"
	stat_is '.resources[0].objects' 5 || fail "$1: $(stat '.resources[0].objects') objects"
	[ "$(lists pods)" = $((before + 1)) ] || fail "$1: $(lists pods) LISTs instead of $((before + 1))"
	stop_daemon TERM
	[ "$code" = 0 ] || fail "$1: exit code $code"
	rm -rf "$name".*
}

printf 'not ours' >"$T/victim"
chmod 600 "$T/victim"
rm "$arena"
ln -s "$T/victim" "$arena"
rebuilt 'it is a symbolic link'
[ "$(cat "$T/victim")" = 'not ours' ] || fail "the symbolic link was followed"

ln "$T/victim" "$name.7"
rebuilt 'not a file of ours alone'
[ "$(cat "$T/victim")" = 'not ours' ] || fail "the hard link was written to"

cp -p "$T/good" "$name.7"
chmod 644 "$name.7"
rebuilt 'not a file of ours alone (owner, mode 0600, one link)'

if [ "$(id -u)" = 0 ]; then
	cp -p "$T/good" "$name.7"
	chown 65534 "$name.7"
	: >"$T/daemon.log"
	before=$(lists pods)
	start_daemon --resource pods
	wait_ready
	grep -q "1 file of other users in the arena's directory has its name: left alone" "$T/daemon.log" || fail "a stranger's file"
	[ "$(lists pods)" = $((before + 1)) ] || fail "a stranger's file was adopted"
	stop_daemon TERM
	[ -e "$name.7" ] || fail "a stranger's file was removed"
	rm -rf "$name".*
fi

mkfifo -m 600 "$name.7"
rebuilt 'not a file of ours alone'

printf 'short' >"$name.7"
chmod 600 "$name.7"
rebuilt 'it is shorter than a header'

cp -p "$T/good" "$name.7"
printf '\377\377' | dd of="$name.7" bs=1 seek=8 conv=notrunc status=none # the layout's major version
rebuilt "cannot be used: .*layout.*; set aside as"

cp -p "$T/good" "$name.7"
truncate -s 12288 "$name.7"
rebuilt 'cannot be used: .*; set aside as'

cp -p "$T/good" "$name.7"
printf '\377' | dd of="$name.7" bs=1 seek=257 conv=notrunc status=none # where the root is
rebuilt 'cannot be used\|is damaged: .*root'

# the key file
mv "$S.key" "$T/key"
cp -p "$T/good" "$name.7"
rebuilt 'it was made with another key file'
mv "$T/key" "$S.key"
chmod 644 "$S.key"
code=0
timeout "$PATIENCE" "$B"/informerd --kubeconfig "$T/kubeconfig" --arena-dir "$T" --socket "$S" --resource pods >"$T/out.log" 2>&1 || code=$?
[ "$code" = 1 ] && grep -q 'key' "$T/out.log" || fail "a key file that all can read: exit code $code"

# and what is whole is adopted
chmod 600 "$S.key"
cp -p "$T/good" "$name.7"
before=$(lists pods)
start_daemon --resource pods
wait_ready
[ "$(lists pods)" = "$before" ] || fail "the good arena was not adopted"
echo ok
