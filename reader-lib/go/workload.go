// SPDX-License-Identifier: Apache-2.0

package informer

import "strings"

// A Workload is what a Pod belongs to: the topmost controller, as a Deployment. Texts are empty where nothing
// is known.
type Workload struct {
	// Object is the workload, and it has no controller. False: the workload is known by a reference to it, but
	// its resource is not cached, or lacks it; a controller above it would be unknown.
	Cached bool
	// The workload's name was taken from its ReplicaSet's, because the ReplicaSet is not cached.
	FromNames bool
	Object    Object // if Cached

	Group, Version, Kind, Namespace, Name string // "apps" and "v1"; the core group is ""
	UID                                   string // "" if FromNames
}

// controllersMax one above the other. More is a mistake, or a circle.
const controllersMax = 8

// makers: Pods of a ReplicaSet have its hash as a label, which tells what made the ReplicaSet.
var makers = []struct{ label, group, version, kind string }{
	{"rollouts-pod-template-hash", "argoproj.io", "v1alpha1", "Rollout"},
	{"pod-template-hash", "apps", "v1", "Deployment"},
}

// An owner is a reference to the object that controls another.
type owner struct{ group, version, kind, name, uid string }

// controller is what controls an object; ok is false if nothing does.
func (o *Object) controller(p *pin) (of owner, ok bool) {
	d := o.decoder(p)
	metadata, _, ok := d.in(o.body(&d), "metadata")
	if !ok {
		return owner{}, false
	}
	for reference := range d.elements(metadata, "ownerReferences") {
		if !d.flagIn(reference, "controller", false) {
			continue
		}
		text := func(name string) string { return string(d.textIn(reference, name)) }
		of = owner{kind: text("kind"), name: text("name"), uid: text("uid")}
		if of.group, of.version, ok = strings.Cut(text("apiVersion"), "/"); !ok {
			of.group, of.version = "", of.group
		}
		return of, true
	}
	return owner{}, false
}

// find is the object that a reference means: of its name, and of its UID.
func (of *owner) find(p *pin, s Snapshot, namespace string) (Object, error) {
	o, err := p.ofKind(s, of.group, of.kind, namespace, of.name)
	if err != nil {
		return Object{}, err
	}
	if uid, ok := o.head(p, tagName+2); !ok || uid != of.uid {
		return Object{}, ErrNotFound
	}
	return o, nil
}

// Controller is the object that controls an object, in the same snapshot: one step of Workload. Errors:
// ErrNotFound (the object has no controller, or the snapshot lacks it), ErrNoResource (informerd does not cache
// the controller's resource).
func (o Object) Controller() (Object, error) {
	return read(o.s, func(p *pin) (Object, error) {
		of, ok := o.controller(p)
		if !ok {
			return Object{}, ErrNotFound
		}
		namespace, _ := o.head(p, tagName+1)
		return of.find(p, o.s, namespace)
	})
}

// Workload is the workload of a Pod, or of any object, by its controllers: Pod, ReplicaSet, Deployment; Pod, Job,
// CronJob; StatefulSet, DaemonSet, and custom controllers. An object without a controller is its own workload; so
// is a static Pod, which its Node controls. ReplicaSets and Jobs may be cached as metadata alone. A deleted
// object has its workload too, if that is present.
//
// If a ReplicaSet is not cached, the Deployment's (or Argo's Rollout's) name is what stands before the hash in
// the ReplicaSet's name: the Pod has that hash as a label.
func (o Object) Workload() (Workload, error) {
	return read(o.s, func(p *pin) (w Workload, err error) {
		w.Namespace, _ = o.head(p, tagName+1)
		for range controllersMax {
			of, ok := o.controller(p)
			if !ok || of.kind == "Node" {
				break
			}
			above, err := of.find(p, o.s, w.Namespace)
			if err == ErrNotFound || err == ErrNoResource {
				w.Group, w.Version, w.Kind, w.Name, w.UID = of.group, of.version, of.kind, of.name, of.uid
				w.goOnByName(p, &o)
				return w, nil
			}
			if err != nil {
				return Workload{}, err
			}
			o = above
		}
		w.Cached, w.Object = true, o
		w.Group, w.Version, w.Kind = o.GroupVersionKind()
		w.Name, _ = o.head(p, tagName)
		w.UID, _ = o.head(p, tagName+2)
		return w, nil
	})
}

// goOnByName: the workload is a ReplicaSet that is not cached; the Pod below may have the hash of its name.
func (w *Workload) goOnByName(p *pin, pod *Object) {
	if w.Kind != "ReplicaSet" || w.Group != "apps" {
		return
	}
	for _, maker := range makers {
		hash, err := pod.label(p, maker.label)
		name, ok := strings.CutSuffix(w.Name, "-"+hash)
		if err != nil || hash == "" || !ok || name == "" {
			continue
		}
		w.FromNames, w.Name, w.UID = true, name, ""
		w.Group, w.Version, w.Kind = maker.group, maker.version, maker.kind
		return
	}
}

// label is a copy of a label's value.
func (o *Object) label(p *pin, name string) (string, error) {
	d := o.decoder(p)
	labels, _, ok := d.follow(o.body(&d), labelsPath)
	if !ok {
		return "", ErrNotFound
	}
	s, tag, ok := d.in(labels, name)
	switch {
	case !ok:
		return "", ErrNotFound
	case kindOf(tag) != String:
		return "", ErrType
	}
	return string(d.text(s, tag)), nil
}

var nodeNamePath = MustCompilePath("spec.nodeName")

// NamespaceObject is an object's Namespace, in the same snapshot: for its labels and annotations. Errors:
// ErrNotFound (the object is cluster-scoped, or the snapshot lacks the Namespace), ErrNoResource (informerd does
// not cache namespaces).
func (o Object) NamespaceObject() (Object, error) {
	return read(o.s, func(p *pin) (Object, error) {
		name, _ := o.head(p, tagName+1)
		return p.coreObject(o.s, "Namespace", name)
	})
}

// NodeObject is a Pod's Node, in the same snapshot: for its labels and annotations. Errors: ErrNotFound (the Pod
// is not scheduled, or the snapshot lacks the Node), ErrNoResource (informerd does not cache nodes).
func (o Object) NodeObject() (Object, error) {
	return read(o.s, func(p *pin) (Object, error) {
		d := o.decoder(p)
		name, err := d.textAt(&o, nodeNamePath)
		if err != nil {
			return Object{}, err
		}
		return p.coreObject(o.s, "Node", string(name))
	})
}

func (p *pin) coreObject(s Snapshot, kind, name string) (Object, error) {
	if name == "" {
		return Object{}, ErrNotFound
	}
	return p.ofKind(s, "", kind, "", name)
}
