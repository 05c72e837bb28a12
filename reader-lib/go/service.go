// SPDX-License-Identifier: Apache-2.0

package informer

import "iter"

// Between Pods and Services, by EndpointSlices: a slice names its Service in a label, and the Pods behind it in
// its endpoints.

const serviceLabel = "kubernetes.io/service-name"

// slicesWith ranges over the EndpointSlices with a value in an index.
func (o *Object) slicesWith(index, value string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		p, err := o.s.open()
		if err != nil {
			yield(Object{}, err)
			return
		}
		o.s.ByIndex(p.m.slices, index, value)(yield)
	}
}

// Services ranges over the Services that send traffic to a Pod, each once; by EndpointSlices, which say more than
// selectors. An error comes last, with the zero Object: ErrNoResource (informerd does not cache endpointslices or
// services), ErrNotFound (the Pod has no UID); else as Get.
func (o Object) Services() iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		uid, err := o.UID()
		if err != nil {
			yield(Object{}, err)
			return
		}
		given := map[[2]string]bool{}
		for slice, err := range o.slicesWith("targetUID", uid) {
			var service Object
			if err == nil {
				service, err = slice.service(given)
			}
			if err == ErrNotFound { // it was given, or the slice is no Service's, or that is gone
				continue
			}
			if !yield(service, err) || err != nil {
				return
			}
		}
	}
}

// service is a slice's Service, if it was not given yet.
func (o *Object) service(given map[[2]string]bool) (Object, error) {
	return read(o.s, func(p *pin) (Object, error) {
		name, err := o.label(p, serviceLabel)
		if err != nil {
			return Object{}, err
		}
		namespace, _ := o.head(p, tagName+1)
		if given[[2]string{namespace, name}] {
			return Object{}, ErrNotFound
		}
		given[[2]string{namespace, name}] = true
		return p.ofKind(o.s, "", "Service", namespace, name)
	})
}

// An Endpoint is an endpoint of a Service. Texts are empty where the slice says nothing.
type Endpoint struct {
	Slice  Object // the EndpointSlice; its "ports" are the endpoint's
	HasPod bool   // Pod is the cached Pod behind the endpoint
	Pod    Object
	// Address is the endpoint's first, as kube-proxy uses it.
	Address, Node string
	// The endpoint's conditions; what the slice does not say counts as ready.
	Ready, Serving, Terminating bool
}

// Endpoints ranges over the endpoints of a Service, by EndpointSlices. Errors as for Services.
func (o Object) Endpoints() iter.Seq2[Endpoint, error] {
	return func(yield func(Endpoint, error) bool) {
		namespace, err := o.Namespace()
		name := ""
		if err == nil {
			name, err = o.Name()
		}
		if err != nil {
			yield(Endpoint{}, err)
			return
		}
		for slice, err := range o.slicesWith("labels", serviceLabel+"="+name) {
			var endpoints []Endpoint
			if err == nil {
				endpoints, err = slice.endpoints(namespace)
			}
			if err != nil {
				yield(Endpoint{}, err)
				return
			}
			for _, e := range endpoints {
				if !yield(e, nil) {
					return
				}
			}
		}
	}
}

// endpoints are a slice's, if it is in the namespace.
func (o *Object) endpoints(namespace string) ([]Endpoint, error) {
	return read(o.s, func(p *pin) (all []Endpoint, err error) {
		if its, _ := o.head(p, tagName+1); its != namespace {
			return nil, nil
		}
		d := o.decoder(p)
		for s := range d.elements(o.body(&d), "endpoints") {
			e := Endpoint{Slice: *o, Node: string(d.textIn(s, "nodeName")), Ready: true, Serving: true}
			for address, tag := range d.elements(s, "addresses") {
				if kindOf(tag) == String {
					e.Address = string(d.text(address, tag))
				}
				break
			}
			if conditions, _, ok := d.in(s, "conditions"); ok {
				e.Ready = d.flagIn(conditions, "ready", true)
				e.Serving = d.flagIn(conditions, "serving", e.Ready)
				e.Terminating = d.flagIn(conditions, "terminating", false)
			}
			if target, _, ok := d.in(s, "targetRef"); ok && string(d.textIn(target, "kind")) == "Pod" {
				e.Pod, err = p.ofKind(o.s, "", "Pod", namespace, string(d.textIn(target, "name")))
				if e.HasPod = err == nil; err != nil && err != ErrNotFound && err != ErrNoResource {
					return nil, err
				}
			}
			all = append(all, e)
		}
		return all, nil
	})
}
