// SPDX-License-Identifier: Apache-2.0

package clientgo

import (
	"errors"
	"sync"

	"informer"
)

// handles have the watches of a factory: its own handle and, as one has 64 watches, further ones.
type handles struct {
	mu  sync.Mutex
	all []*informer.Informer // the factory's first
}

// watch makes a watch with the first handle that has room, or with one more.
func (h *handles) watch(resource string, options *informer.WatchOptions) (*informer.Watch, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, handle := range h.all {
		if watch, err := handle.Watch(resource, options); !errors.Is(err, informer.ErrBusy) {
			return watch, err
		}
	}
	another, err := h.all[0].Another()
	if err != nil {
		return nil, err
	}
	h.all = append(h.all, another)
	return another.Watch(resource, options)
}
