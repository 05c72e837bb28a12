#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Readers and informerds of two releases side by side, the next one with a newer minor layout: both releases' readers read the older informerd's
# arena. After an upgrade of informerd the older release's readers are told which release to install, and one that follows goes on with the
# older informerd, without a loss.
# Takes 200 s.
. "$(dirname "$0")/../support/script.sh"
command -v kubectl >/dev/null || { echo "SKIP: kubectl is not installed"; exit 77; }
export INFORMER_SOCKET=$S
minor=$(sed -n 's/^#define LAYOUT_MINOR \([0-9]*\)u$/\1/p' shm-layout/header.h)

mkdir "$T/next" "$T/bin"
git ls-files -z | tar --null -T - -c | tar -x -C "$T/next"
sed -i "s/^\(#define LAYOUT_MINOR\) .*/\1 $((minor + 1))u/" "$T/next/shm-layout/header.h"
make -s -j2 -C "$T/next" B=build VERSION=7.7.7 build/informerd build/informerctl >"$T/make.log" 2>&1 || fail "the next release does not build"
next_ctl() { "$T/next/build/informerctl" "$@"; }
# switch BINARY: as a package does it
switch() { cp "$1" "$T/bin/new" && mv "$T/bin/new" "$T/bin/informerd"; }
switch "$B/informerd"
INFORMERD=$T/bin/informerd

start_sim --nodes 3 --pods-per-node 4
start_daemon --resource pods
wait_ready
pods=$(on_server /api/v1/pods)
[ "$(next_ctl get pods -A -o name | wc -l)" = "$pods" ] || fail "the next release's reader does not read this one's arena"
"$B/informerctl" get pods -A -w -o name >"$T/follow.out" 2>"$T/follow.log" &
all_there() { [ "$(sort -u "$T/follow.out" | wc -l)" -ge "$1" ]; }
until_true all_there "$pods" || fail "the follower has $(wc -l <"$T/follow.out") pods of $pods"

switch "$T/next/build/informerd"
kill -HUP "$daemon_pid"
until_true grep -q 'informerd 7.7.7' "$T/daemon.log" || fail "no upgrade"
until_true next_ctl get pods -A -o name || fail "the next release's reader does not read its own arena"
said="it has layout 1.$((minor + 1)), this program knows 1.$minor: upgrade the program (its libinformer); informerd is release 7.7.7"
until_true grep -qF "$said" "$T/follow.log" || fail "the follower is not told what to install"
! "$B/informerctl" get pods -A >"$T/get.log" 2>&1 || fail "this release reads an arena of a newer minor"
grep -qF "$said" "$T/get.log" || fail "informerctl does not say what to install"

# what happens meanwhile is not lost
kubectl --kubeconfig "$T/kubeconfig" run while-refused --image=i >"$T/kubectl.log" 2>&1 || fail "no pod is made"
switch "$B/informerd"
kill -HUP "$daemon_pid"
until_true grep -q while-refused "$T/follow.out" || fail "the follower does not go on"
[ "$(grep -cF "$said" "$T/follow.log")" = 1 ] || fail "it is told more than once an hour"
echo ok
