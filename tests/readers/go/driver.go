// SPDX-License-Identifier: Apache-2.0

// The driver of the Go package for the suite of all readers (tests/readers/README.md): a request a line, a JSON
// document; an answer a line, in the same order. It ends at the end of its input.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"informer"
)

type request struct {
	Op, Socket, Resource, Namespace, Name, Index, Value, Labels, Fields, Path, By, Consumer, To string
	Manual, Orphan, Verify                                                                      bool
	Entries, MS                                                                                 int
	Start                                                                                       uint64
}

type driver struct {
	inf     *informer.Informer
	snap    informer.Snapshot
	leave   context.CancelFunc
	changes chan answer // of the watch; unbuffered: the loop goes on when one is asked for
	answers chan answer // to parked keys
}

var changeKinds = map[informer.ChangeKind]string{informer.Added: "added", informer.Updated: "updated",
	informer.Deleted: "deleted", informer.Synced: "synced", informer.Coalesced: "coalesced",
	informer.ResyncBegin: "resync_begin", informer.ResyncEnd: "resync_end", informer.Trouble: "error"}

// describeChange answers with a change. Its objects are read here, within its round of the loop.
func describeChange(c informer.Change) answer {
	a := answer{"change": changeKinds[c.Kind]}
	switch c.Kind {
	case informer.Added:
		a["initial"] = c.Initial
	case informer.Deleted:
		a["final"] = c.FinalStateKnown
	case informer.Updated:
	default:
		return a
	}
	a["key"] = [2]string{c.Namespace, c.Name}
	for _, o := range []struct {
		name   string
		has    bool
		object informer.Object
	}{{"object", c.HasObject, c.Object}, {"old", c.HasOld, c.Old}} {
		if !o.has {
			continue
		}
		described, err := describe(o.object)
		if err != nil {
			return answer{"change": "unreadable"}
		}
		a[o.name] = described
	}
	return a
}

// startWatch starts the loop over the changes, which hands each over when it is asked for.
func (d *driver) startWatch(r *request) error {
	w, err := d.inf.Watch(r.Resource, &informer.WatchOptions{Namespace: r.Namespace, LabelSelector: r.Labels,
		FieldSelector: r.Fields, Consumer: r.Consumer, ManualAck: r.Manual, Entries: r.Entries})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	d.leave, d.changes = cancel, make(chan answer)
	go func(changes chan answer) {
		defer close(changes)
		defer w.Close()
		for c, err := range w.All(ctx) {
			if err != nil {
				return
			}
			select {
			case changes <- describeChange(c):
			case <-ctx.Done():
				return
			}
			if r.Manual {
				w.Acknowledge(c.Cursor)
			}
		}
	}(d.changes)
	return nil
}

func (d *driver) stopWatch() {
	d.leave()
	for range d.changes {
	}
}

// park waits for a key in a goroutine of its own.
func (d *driver) park(r request) {
	if d.answers == nil {
		d.answers = make(chan answer, 1<<16)
	}
	go func(answers chan answer) {
		ctx := context.Background()
		if r.MS >= 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, time.Duration(r.MS)*time.Millisecond)
			defer cancel()
		}
		a := answer{"value": r.Value, "result": ""}
		err := d.inf.Await(ctx, d.inf.Resource(r.Resource), bys[r.By], r.Value, func(o informer.Object) (err error) {
			a["deleted"] = o.Deleted()
			a["object"], err = describe(o)
			return err
		})
		if err != nil {
			a["result"] = nameOf(err)
		}
		answers <- a
	}(d.answers)
}

// received is what comes from a channel within a request's time; {}: nothing.
func received(r *request, from chan answer) answer {
	select {
	case a := <-from:
		return a
	case <-time.After(time.Duration(r.MS) * time.Millisecond):
		return answer{}
	}
}

func (d *driver) verify() (answer, error) {
	v, err := d.snap.Verify()
	a := answer{"blocks": v.Blocks, "bytes": v.Bytes, "tags": v.Tags, "damage": 0, "what": ""}
	var damage *informer.Damage
	if errors.As(err, &damage) {
		a["damage"], a["what"], err = damage.Offset, damage.What, nil
	}
	return a, err
}

var names = map[error]string{
	informer.ErrNotReady: "NOT_READY", informer.ErrBusy: "BUSY", informer.ErrCorrupt: "CORRUPT",
	informer.ErrNotFound: "NOT_FOUND", informer.ErrNoResource: "NO_RESOURCE", informer.ErrNoIndex: "NO_INDEX",
	informer.ErrExpired: "EXPIRED", informer.ErrLayout: "LAYOUT", informer.ErrRefused: "REFUSED",
	informer.ErrAmbiguous: "AMBIGUOUS", unix.ESRCH: "ESRCH", informer.ErrSyntax: "SYNTAX", informer.ErrType: "TYPE", informer.ErrClosed: "EINVAL",
	context.DeadlineExceeded: "ETIMEDOUT",
}

func nameOf(err error) string {
	for known, name := range names {
		if errors.Is(err, known) {
			return name
		}
	}
	return "UNKNOWN"
}

type answer map[string]any

func describe(o informer.Object) ([4]string, error) {
	namespace, err := o.Namespace()
	if err != nil {
		return [4]string{}, err
	}
	name, err := o.Name()
	if err != nil {
		return [4]string{}, err
	}
	version, _ := o.ResourceVersion()
	uid, _ := o.UID()
	return [4]string{namespace, name, version, uid}, nil
}

// all answers with all objects that a field selector (nil: all) matches.
func all(objects iter.Seq2[informer.Object, error], fields *informer.FieldSelector) (answer, error) {
	found, end := [][4]string{}, ""
	for o, err := range objects {
		if err == nil && fields != nil {
			var matches bool
			if matches, err = fields.Matches(o); err == nil && !matches {
				continue
			}
		}
		var described [4]string
		if err == nil {
			described, err = describe(o)
		}
		if err != nil && len(found) == 0 {
			return nil, err
		}
		if err != nil {
			end = nameOf(err)
			break
		}
		found = append(found, described)
	}
	return answer{"objects": found, "end": end}, nil
}

func (d *driver) find(r *request) (informer.Object, error) {
	return d.snap.Get(d.inf.Resource(r.Resource), r.Namespace, r.Name)
}

func (d *driver) findPath(r *request) (informer.Object, *informer.Path, error) {
	o, err := d.find(r)
	if err != nil {
		return o, nil, err
	}
	path, err := informer.CompilePath(r.Path)
	return o, path, err
}

var bys = map[string]informer.By{"key": informer.ByKey, "uid": informer.ByUID, "ip": informer.ByIP,
	"container": informer.ByContainerID}

var kinds = map[informer.Kind]string{informer.Null: "null", informer.Bool: "bool", informer.Int: "int",
	informer.Uint: "uint", informer.Double: "double", informer.Number: "number", informer.String: "string",
	informer.Array: "array", informer.Map: "object"}

var (
	containerKinds = map[informer.ContainerKind]string{informer.ContainerUnknown: "unknown",
		informer.ContainerRegular: "regular", informer.ContainerInit: "init", informer.ContainerEphemeral: "ephemeral"}
	containerStates = map[informer.ContainerState]string{informer.ContainerNoState: "",
		informer.ContainerWaiting: "waiting", informer.ContainerRunning: "running",
		informer.ContainerTerminated: "terminated"}
	addressKinds = map[informer.AddressKind]string{informer.AddressPod: "pod", informer.AddressService: "service",
		informer.AddressNode: "node"}
)

func (d *driver) container(r *request) (answer, error) {
	pods := d.inf.Resource("pods")
	var c informer.Container
	var err error
	switch r.By {
	case "cgroup":
		c, err = d.snap.ContainerByCgroup(pods, r.Value)
	case "pid":
		pid, _ := strconv.Atoi(r.Value)
		c, err = d.snap.ContainerByPID(pods, pid, r.Start)
	default:
		c, err = d.snap.ContainerByID(pods, r.Value)
	}
	if err != nil {
		return nil, err
	}
	pod, err := describe(c.Pod)
	return answer{"pod": pod, "deleted": c.Pod.Deleted(), "kind": containerKinds[c.Kind], "previous": c.Previous,
		"state": containerStates[c.State], "restarts": c.RestartCount, "id": c.ID, "name": c.Name, "image": c.Image,
		"imageID": c.ImageID}, err
}

func (d *driver) workload(r *request) (answer, error) {
	o, err := d.find(r)
	if err != nil {
		return nil, err
	}
	w, err := o.Workload()
	if err != nil {
		return nil, err
	}
	a := answer{"cached": w.Cached, "fromNames": w.FromNames, "group": w.Group, "version": w.Version, "kind": w.Kind,
		"namespace": w.Namespace, "name": w.Name, "uid": w.UID}
	if w.Cached {
		a["object"], err = describe(w.Object)
	}
	return a, err
}

func (d *driver) related(r *request) (answer, error) {
	o, err := d.find(r)
	if err != nil {
		return nil, err
	}
	o, err = map[string]func() (informer.Object, error){"controller": o.Controller, "namespace": o.NamespaceObject,
		"node": o.NodeObject}[r.To]()
	if err != nil {
		return nil, err
	}
	described, err := describe(o)
	return answer{"object": described}, err
}

func (d *driver) address(r *request) (answer, error) {
	found, err := d.snap.ByAddress(r.Value)
	if err != nil {
		return nil, err
	}
	described, err := describe(found.Object)
	return answer{"kind": addressKinds[found.Kind], "object": described, "deleted": found.Object.Deleted(),
		"hostPods": found.HostPods}, err
}

func (d *driver) endpoints(r *request) (answer, error) {
	o, err := d.find(r)
	if err != nil {
		return nil, err
	}
	all := []answer{}
	for e, err := range o.Endpoints() {
		if err != nil {
			return nil, err
		}
		a := answer{"address": e.Address, "node": e.Node, "ready": e.Ready, "serving": e.Serving,
			"terminating": e.Terminating}
		if a["slice"], err = describe(e.Slice); err == nil && e.HasPod {
			a["pod"], err = describe(e.Pod)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return answer{"endpoints": all}, nil
}

func (d *driver) answer(r *request) (answer, error) {
	switch r.Op {
	case "attach":
		inf, err := informer.Attach(&informer.Options{Socket: r.Socket, Name: "reader_driver", Orphan: r.Orphan,
			Verify: r.Verify})
		d.inf = inf
		return answer{}, err
	case "wait":
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		return answer{}, d.inf.WaitSynced(ctx, r.Resource)
	case "begin":
		snap, err := d.inf.Begin()
		if err != nil {
			return nil, err
		}
		d.snap = snap
		m, err := snap.Moment()
		return answer{"generation": m.Generation, "epoch": m.Epoch, "seq": m.Seq}, err
	case "end":
		d.snap.End()
		return answer{}, nil
	case "get":
		o, err := d.find(r)
		if err != nil {
			return nil, err
		}
		described, err := describe(o)
		return answer{"object": described}, err
	case "find":
		o, err := d.snap.Find(d.inf.Resource(r.Resource), bys[r.By], r.Value)
		if err != nil {
			return nil, err
		}
		described, err := describe(o)
		return answer{"object": described, "deleted": o.Deleted()}, err
	case "select":
		labels, err := informer.CompileLabelSelector(r.Labels)
		if err != nil {
			return nil, err
		}
		fields, err := informer.CompileFieldSelector(r.Fields)
		if err != nil {
			return nil, err
		}
		return all(d.snap.Select(d.inf.Resource(r.Resource), r.Namespace, labels), fields)
	case "index":
		return all(d.snap.ByIndex(d.inf.Resource(r.Resource), r.Index, r.Value), nil)
	case "prefix":
		return all(d.snap.ByIndexPrefix(d.inf.Resource(r.Resource), r.Index, r.Value), nil)
	case "count":
		count, err := d.snap.CountByIndex(d.inf.Resource(r.Resource), r.Index, r.Value)
		return answer{"count": count}, err
	case "field":
		o, path, err := d.findPath(r)
		if err != nil {
			return nil, err
		}
		v, err := o.Value(path)
		if err != nil {
			return nil, err
		}
		text, err := v.AppendJSON(nil)
		return answer{"kind": kinds[v.Kind()], "value": json.RawMessage(text)}, err
	case "watch":
		return answer{}, d.startWatch(r)
	case "next":
		return received(r, d.changes), nil
	case "park":
		d.park(*r)
		return answer{}, nil
	case "answer":
		return received(r, d.answers), nil
	case "verify":
		return d.verify()
	case "unwatch":
		d.stopWatch()
		return answer{}, nil
	case "container":
		return d.container(r)
	case "workload":
		return d.workload(r)
	case "related":
		return d.related(r)
	case "address":
		return d.address(r)
	case "services":
		o, err := d.find(r)
		if err != nil {
			return nil, err
		}
		return all(o.Services(), nil)
	case "endpoints":
		return d.endpoints(r)
	case "text":
		o, path, err := d.findPath(r)
		if err != nil {
			return nil, err
		}
		text, err := o.Text(path)
		return answer{"text": text}, err
	case "json":
		o, err := d.find(r)
		if err != nil {
			return nil, err
		}
		text, err := o.JSON()
		return answer{"json": json.RawMessage(text)}, err
	case "info":
		info, err := d.snap.Info(d.inf.Resource(r.Resource))
		return answer{"resource": info.Resource, "kind": info.Kind, "group": info.Group,
			"objects": info.Objects, "synced": info.Synced}, err
	}
	return nil, fmt.Errorf("no operation %q", r.Op)
}

func main() {
	in, out := bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout)
	d := &driver{}
	for {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			break
		}
		var r request
		if err := json.Unmarshal(line, &r); err != nil {
			fmt.Fprintln(os.Stderr, "reader_driver:", err)
			os.Exit(2)
		}
		a, err := d.answer(&r)
		if err != nil {
			a = answer{"error": nameOf(err), "text": err.Error()}
		}
		text, _ := json.Marshal(a)
		out.Write(append(text, '\n'))
		out.Flush()
	}
	d.snap.End()
	if d.inf != nil {
		d.inf.Close()
	}
}
