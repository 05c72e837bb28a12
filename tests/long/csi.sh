#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# informer-csi, called as the kubelet calls a CSI driver (tests/csi):
#   - it registers itself; a refused registration ends it;
#   - a Pod of an allowed service account gets the folder of informerd's socket, and reads through it as a user of a group of access.gids;
#     the volume is read-only, also for root, and serves on when informerd and informer-csi are replaced;
#   - other Pods, volumes and paths are refused, and nothing is mounted for them;
#   - publish and unpublish may be repeated, and unpublish removes nothing that a mount shows.
# csi-sanity finds no fault with what a driver without a controller has. The Pod of the overlay agent-example-csi complies with "restricted", and may
# mount. As root only. The first time Go takes minutes to build it.
# Takes 10 s.
# Not upstream: of the API server it needs a few Pods.
. "$(dirname "$0")/../support/script.sh"
PATH=$PATH:/usr/local/go/bin
command -v go >/dev/null || { echo "SKIP: Go is not installed"; exit 77; }
# what is mounted here goes with the script
if [ -z "${IN_NAMESPACE:-}" ]; then
	unshare --mount true 2>/dev/null || { echo "SKIP: mounts need root"; exit 77; }
	rm -rf "$T"
	IN_NAMESPACE=1 exec unshare --mount --propagation private bash "$0"
fi

# ---- the programs
mkdir -p "$B/csi"
export GOTOOLCHAIN=local
for module in tools/csi tests/csi; do
	(cd "$module" && go list -deps ./... ) >"$T/modules" 2>&1 || { echo "SKIP: modules of $module cannot be had: $(tail -n 1 "$T/modules")"; exit 77; }
done
MAKEFLAGS='' make -s B="$B" csi || fail "make csi"
(cd tests/csi && go build -buildvcs=false -o "$OLDPWD/$B/csi/" . github.com/kubernetes-csi/csi-test/v5/cmd/csi-sanity) >"$T/go.log" 2>&1 ||
	fail "tests/csi does not build"
kubelet() { "$B/csi/csi" "$@"; }

# ---- a node: the kubelet's folders, and informerd with a user of its own
mount -t tmpfs none "$T"
at_end+=("umount -R -l '$T'")
mount --make-shared "$T"
chmod 0755 "$T"
K=$T/kubelet run=$T/run
mkdir -p "$K"/{plugins/informer,plugins_registry,pods} "$run"
pod=$K/pods/0-1/volumes/kubernetes.io~csi
target=$pod/informer/mount
mkdir -p "$pod/informer" # as the kubelet does
csi=$K/plugins/informer/csi.sock registry=$K/plugins_registry/informer-reg.sock

# in mounts of its own, of which the node's are peers: mountPropagation: Bidirectional
start_csi() {
	unshare --mount --propagation unchanged "$B/informer-csi" --kubelet-dir "$K" --source "$run" --node-id node-1 "$@" 2>>"$T/csi.log" &
	csi_pid=$!
	until_true test -S "$registry" || fail "informer-csi does not start"
}
# stop_csi: sets code
stop_csi() {
	code=0
	kill "$csi_pid"
	wait "$csi_pid" || code=$?
}
S=$run/informer.sock
start_informerd() { start_daemon --resource pods --allow-gid 4000; wait_ready; }

# refuses CODE MESSAGE COMMAND...: the driver does, and mounts nothing
refuses() {
	local want="$1 $2" said before
	before=$(mounts)
	! said=$(kubelet "${@:3}") || fail "not refused: ${*:3}"
	[[ $said == *"$1"*"$2"* ]] || fail "${*:3}
expected: $want
got:      $said"
	same "refused: $1, $2" "$before" "$(mounts)"
}
mounts() { awk -v below="$K" 'index($5, below) == 1 {print $5}' /proc/self/mountinfo; }
publish() { kubelet publish "$csi" "$@" >"$T/said" || fail "not published: $(cat "$T/said")"; }
unpublish() { kubelet unpublish "$csi" "$@" >"$T/said" || fail "not unpublished: $(cat "$T/said")"; }

# ---- flags
"$B/informer-csi" --help | grep -q -- '--allow LIST' || fail "--help"
same "--version" "informer-csi $("$B/informerd" --version | awk '{print $2; exit}')" "$("$B/informer-csi" --version)"
for wrong in '--allow agents' '--allow a/b/c' '--allow /b' '--allow a*/b' '--kubelet-dir kubelet' '--no-such' 'word'; do
	code=0
	# shellcheck disable=SC2086
	NODE_NAME=node-1 "$B/informer-csi" $wrong >"$T/said" 2>&1 || code=$?
	same "wrong: $wrong" "2 1" "$code $(wc -l <"$T/said")"
done

# ---- registration
start_csi
same "registration" "CSIPlugin informer [1.0.0]
informer $("$B/informer-csi" --version | cut -d ' ' -f 2)
node-1
$csi" "$(kubelet register "$registry")"
grep -q 'no Pod may mount' "$T/csi.log" || fail "no warning without --allow"
refuses PermissionDenied '--allow=agents/agent' publish "$csi" "$target"
same "only root may connect" "srwx------ srwx------" "$(ls -l "$csi" "$registry" | cut -d ' ' -f 1 | paste -sd ' ')"
kubelet refuse "$registry" >"$T/said" || fail "$(cat "$T/said")"
has_ended() { ! kill -0 "$csi_pid"; }
until_true has_ended || fail "informer-csi goes on after a refused registration"
code=0
wait "$csi_pid" || code=$?
same "after a refused registration" 1 "$code"
# the sockets of one that was killed
start_csi --allow 'other/*,agents/agent'
kill -9 "$csi_pid"
wait "$csi_pid" 2>/dev/null || true
start_csi --allow 'other/*,agents/agent'
until_true kubelet register "$registry" || fail "not registered after a kill"

# ---- a Pod reads
same "with the folder" 'ready: true' "$(kubelet probe "$csi")"
publish "$target"
publish "$target"
same "published twice" "$target" "$(mounts)"
same "mount options" "ro,nosuid,nodev,noexec" "$(findmnt -n -o VFS-OPTIONS "$target" | cut -d , -f 1-4)"
start_sim --nodes 1 --pods-per-node 5
start_informerd
# a Pod's: without its privileges
as_pod() { setpriv --reuid 10001 --regid 10001 "$1" --bounding-set=-all --inh-caps=-all --no-new-privs "${@:2}"; }
get() { as_pod --groups=4000 "$B/informerctl" get pods -A -o name --socket "$target/informer.sock"; }
same "the Pods, through the volume" 5 "$(get | wc -l)"
! as_pod --clear-groups "$B/informerctl" get pods -A --socket "$target/informer.sock" >"$T/said" 2>&1 && grep -q access.gids "$T/said" ||
	fail "without the group: $(cat "$T/said")"
! touch "$target/new" 2>"$T/said" || fail "root can write into the volume"
! rm "$target/informer.sock" 2>"$T/said" || fail "root can remove the socket through the volume"
[ ! -e "$run/new" ] && [ -S "$S" ] || fail "the folder was changed"
mkdir "$run/sub"
mount -t tmpfs none "$run/sub"
same "mounts below the folder stay on the host" "$target" "$(mounts)"
umount "$run/sub"
stop_daemon KILL
start_informerd
same "the Pods, from the next informerd" 5 "$(get | wc -l)"
stop_csi
same "informer-csi after SIGTERM" 0 "$code"
[ ! -e "$csi" ] && [ ! -e "$registry" ] || fail "sockets are left"
start_csi --allow 'other/*' --allow agents/agent
same "the Pods, after informer-csi" 5 "$(get | wc -l)"
publish "$target"
same "published to the next one" "$target" "$(mounts)"

# ---- who and what is refused
mkdir -p "$pod/other"
other=$pod/other/mount
refuses PermissionDenied '--allow=default/agent' publish "$csi" "$other" pod.namespace=default
refuses PermissionDenied '--allow=agents/default' publish "$csi" "$other" serviceAccount.name=default
refuses InvalidArgument podInfoOnMount publish "$csi" "$other" serviceAccount.name=
refuses InvalidArgument 'only ephemeral' publish "$csi" "$other" ephemeral=false
refuses InvalidArgument 'only ephemeral' publish "$csi" "$other" ephemeral=
refuses InvalidArgument readOnly publish "$csi" "$other" readonly=false
refuses InvalidArgument 'block device' publish "$csi" "$other" block=
refuses InvalidArgument filesystem publish "$csi" "$other" fstype=ext4
mkdir -p "$T/outside" "$K/podsy/0-1"
mount -t tmpfs none "$T/outside"
ln -s "$T/outside" "$pod/link"
ln -s "$T/outside" "$pod/other/mount"
for outside in "$T/outside/mount" "$K/podsy/0-1/mount" "$K/pods/../../outside/mount" "$K/pods/0-1/../0-1/mount" "$K/pods" "$K/pods/" "$K/pods/mount" \
	"$K/pods/0-1//mount" "pods/0-1/mount" /; do
	refuses InvalidArgument 'not a clean path' publish "$csi" "$outside"
	refuses InvalidArgument 'not a clean path' unpublish "$csi" "$outside"
done
for link in "$pod/link/mount" "$other"; do
	refuses InvalidArgument '' publish "$csi" "$link"
	refuses InvalidArgument '' unpublish "$csi" "$link"
done
same "what links lead to" '' "$(ls "$T/outside")"
mountpoint -q "$T/outside" || fail "what a link leads to was unmounted"
rm "$other"
publish "$other" pod.namespace=other serviceAccount.name=any
unpublish "$other"
touch "$other"
refuses InvalidArgument '' publish "$csi" "$other"
rm "$other"
mkdir "$other"
mount -t tmpfs none "$other"
touch "$other/file"
refuses AlreadyExists 'delete the Pod' publish "$csi" "$other"
unpublish "$other" # the kubelet's word is enough: the folder may have been another one when it was mounted
mkdir "$other"
touch "$other/file"
refuses Internal 'rmdir: directory not empty' unpublish "$csi" "$other"
[ -e "$other/file" ] || fail "a file was removed"

# ---- the end of the Pod
mount --bind "$run" "$target" # a second one on top
unpublish "$target"
unpublish "$target"
[ ! -e "$target" ] && [ -S "$S" ] || fail "unpublish: $(ls -l "$pod/informer" "$run")"
unpublish "$K/pods/gone/volumes/mount"
same "mounts that are left" '' "$(mounts)"
mv "$run" "$run.away"
same "without the folder" 'ready: false' "$(kubelet probe "$csi")"
refuses Unavailable 'does informerd run there' publish "$csi" "$target"
mv "$run.away" "$run"

# ---- others' rules
# csi-sanity makes its volumes by a controller's calls: what it does with a volume is left out
mkdir "$K/pods/0-2"
"$B/csi/csi-sanity" --csi.endpoint "unix:$csi" --csi.mountdir "$K/pods/0-2/mount" --csi.stagingdir "$T/stage" --ginkgo.no-color \
	--ginkgo.focus '(Identity|Node) Service' --ginkgo.skip 'should remove target path' >"$T/sanity.out" 2>&1 ||
	fail "csi-sanity: $(grep -v '^$' "$T/sanity.out" | tail -n 60)"
same "csi-sanity" '10 Passed' "$(grep -o '[0-9]* Passed' "$T/sanity.out")"
stop_csi
same "informer-csi after SIGTERM" 0 "$code"
if command -v kubectl >/dev/null; then
	kubectl kustomize tools/deploy/overlays/agent-example-csi >"$T/overlay.yaml" 2>"$T/kustomize.log" || fail "the overlay agent-example-csi"
	# informer-sim has no CSIDrivers
	HOME=$T kubectl create --dry-run=client --validate=false -o json -f "$T/overlay.yaml" --server "$url" 2>"$T/kubectl.log" |
		jq -s 'map(.items[]? // .)' >"$T/objects.json"
	jq '.[] | select(.kind == "DaemonSet" and .metadata.name == "pod-changes").spec.template' "$T/objects.json" >"$T/pod.json"
	kubelet restricted <"$T/pod.json" >"$T/said" || fail "not restricted: $(cat "$T/said")"
	# its account is the one that the overlay allows, and its volume is this driver's
	of_pods() { jq -r ".[] | select(.kind == \"DaemonSet\" and .metadata.name == \"$1\") | .metadata.namespace as \$ns | .spec.template.spec | $2" "$T/objects.json"; }
	mapfile -t flags < <(of_pods informer-csi '.containers[0].args[]')
	start_csi "${flags[@]}"
	publish "$target" "pod.namespace=$(of_pods pod-changes '$ns')" "serviceAccount.name=$(of_pods pod-changes .serviceAccountName)" \
		"readonly=$(of_pods pod-changes '.volumes[0].csi.readOnly')"
	unpublish "$target"
	refuses PermissionDenied --allow= publish "$csi" "$target"
	stop_csi
	same "names of the driver" "informer informer" \
		"$(of_pods pod-changes '.volumes[0].csi.driver') $(sed -n '/^kind: CSIDriver/,/^---/s/^  name: //p' "$T/overlay.yaml")"
	! jq '.spec.volumes[0] = {name: "informer", hostPath: {path: "/run/informer"}}' "$T/pod.json" | kubelet restricted >"$T/said" || fail "hostPath is restricted"
fi
echo ok
