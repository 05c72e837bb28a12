// SPDX-License-Identifier: Apache-2.0

// Package informer reads the node's one cache of Kubernetes objects.
//
// The daemon informerd lists and watches the API server once per node. It keeps all objects, indexed, in a
// shared-memory file, the arena. This package maps the arena read-only. A lookup is a few memory reads: no
// network, no system call, no parse, no cgo.
//
//	inf, err := informer.Attach(nil)             // also without the daemon; Options.Orphan reads what it left
//	defer inf.Close()
//	err = inf.WaitSynced(ctx, "pods")            // optional: wait for the first list
//	pods := inf.Resource("pods")
//	err = inf.View(func(snap informer.Snapshot) error {
//		pod, err := snap.Get(pods, "default", "web-0")
//		...
//	})
//
// # Snapshots
//
// A [Snapshot] shows all resources and indexes of one commit. Later commits do not change it. An open
// snapshot makes informerd keep all object states replaced since, so end it soon. informerd revokes the
// oldest snapshot if it is 60 s old and open snapshots hold back 64 MiB, and earlier when memory is short
// (informerd(8), Snapshots and the arena's size). Calls on a revoked snapshot return [ErrExpired]; the handle
// attaches again by itself. A handle has 63 pins, so 63 snapshots may be open; beyond, [ErrBusy].
//
// What a call returns is a copy, but for methods whose names begin with Lent: what they return lies in the
// arena, is valid until the snapshot's End, and may be read within [Snapshot.Read] only.
//
// [Object.Decode] sets a struct from an object, by its json tags: a corev1.Pod in less time than client-go takes to
// decode its protobuf. [RegisterText] and [RegisterInt] make times, quantities and ports quick.
//
// # Changes
//
// A [Watch] gives every object of a resource, then each change, in order (client-go's rules):
//
//	watch, err := inf.Watch("pods", nil)
//	defer watch.Close()
//	for change, err := range watch.All(ctx) {
//		...
//	}
//
// A change's objects belong to the loop's round; what is kept is copied, as by Text or Unstructured. A loop that
// is slow delays neither other watches nor informerd: its queue overflows, it is told so ([Coalesced]), and gets
// the newest states. Under a consumer's name a watch goes on after a restart of its process.
//
// [Informer.Await] waits for one object by its key, container ID, UID or address, and thousands of callers share one
// goroutine:
//
//	err := inf.Await(ctx, pods, informer.ByContainerID, id, func(pod informer.Object) error {
//		...
//	})
//
// # The node's view
//
// [Snapshot.ContainerByPID], ContainerByCgroup and ContainerByID lead to a container and its Pod; [Object.Workload],
// Controller, NamespaceObject, NodeObject and Services from a Pod on; [Snapshot.ByAddress] to what has an address.
//
// # Errors
//
// All errors can be told apart with errors.Is: [ErrNotFound], [ErrNotReady], [ErrExpired], … The arena's
// bytes are input: whatever they are, calls return [ErrCorrupt] and do not panic. Options.Verify also checks the
// integrity tag of each block. [Snapshot.Verify] checks all that a snapshot reaches.
//
// # Goroutines
//
// Any number of goroutines may use a handle. A snapshot, with its objects and values, belongs to one
// goroutine at a time. Close may be called at any time: open snapshots stay readable until their End.
package informer
