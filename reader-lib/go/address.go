// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"errors"
	"fmt"
	"net/netip"
)

// AddressKind is what has an address.
type AddressKind uint8

const (
	AddressPod AddressKind = iota
	AddressService
	AddressNode
)

// An Address is what has an IP address.
type Address struct {
	Kind   AddressKind // of Object
	Object Object      // a Pod, which may be deleted (Object.Deletion tells when), a Service or a Node
	// Of a Node: how many cached Pods use its address, because they are on the host's network.
	HostPods uint64
}

// ByAddress finds what has an IP address: a Pod that has it as its own and has not ended; else a Service, by its
// cluster, external or load balancer's address; else a Node; else the newest Pod that had the address and has
// ended, or was deleted a short while ago. Resources that are not cached are left out. ip is IPv4 or IPv6, in any
// spelling; "::ffff:10.0.0.1" is 10.0.0.1.
//
// Errors: ErrNotFound, ErrNoResource (neither pods nor services nor nodes are cached), ErrSyntax (no IP address);
// else as Get.
func (s Snapshot) ByAddress(ip string) (Address, error) {
	p, err := s.open()
	if err != nil {
		return Address{}, err
	}
	parsed, err := netip.ParseAddr(ip)
	if err != nil || parsed.Zone() != "" {
		return Address{}, fmt.Errorf("%q is no IP address: %w", ip, ErrSyntax)
	}
	ip = parsed.Unmap().String() // as the API server writes it
	pods, answer := p.m.pods, ErrNoResource
	// ends keeps a step's error: the search goes on if the step found nothing, but a resource that is there counts
	ends := func(err error) bool {
		lacks := errors.Is(err, ErrNotFound) || errors.Is(err, ErrNoResource) || errors.Is(err, ErrNotReady)
		if !lacks || answer != ErrNotFound {
			answer = err
		}
		return !lacks
	}
	o, err := s.PodByIP(pods, ip)
	if ends(err) {
		return Address{Kind: AddressPod, Object: o}, answer
	}
	if o, err = s.firstAt(p.m.services, ip); ends(err) {
		return Address{Kind: AddressService, Object: o}, answer
	}
	if o, err = s.firstAt(p.m.nodes, ip); ends(err) {
		sharing, _ := s.CountByIndex(pods, "podIP", ip)
		return Address{Kind: AddressNode, Object: o, HostPods: sharing}, answer
	}
	if o, err = s.Find(pods, ByIP, ip); ends(err) {
		return Address{Kind: AddressPod, Object: o}, answer
	}
	return Address{}, answer
}

// firstAt is the first object of a resource that has the address.
func (s Snapshot) firstAt(r *Resource, ip string) (Object, error) {
	for o, err := range s.ByIndex(r, "address", ip) {
		return o, err
	}
	return Object{}, ErrNotFound
}
