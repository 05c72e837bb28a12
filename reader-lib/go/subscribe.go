// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"
)

const refusedDelay = time.Second

// A subscription asks informerd for a queue. Its goroutine, the watch's, asks; the handle's goroutine takes the
// answer, and leaves the ring to be fetched.
type subscription struct {
	core     *core
	options  WatchOptions
	resource *Resource
	number   uint32
	arrived  atomic.Pointer[ring]

	// with core.mu
	asked  *mapping // the answer of this one's informerd is awaited, or came; nil: ask
	retry  time.Time
	refuse error // why informerd gives no queue
}

// addSubscription gives a subscription its number.
func (c *core) addSubscription(sub *subscription) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.current.Load()
	for number := range uint32(queuesMax) {
		if c.subscriptions[number] == nil && (m == nil || m.unanswered[number] == 0) {
			sub.number = number
			c.subscriptions[number] = sub
			return nil
		}
	}
	return fmt.Errorf("this handle has %d watches: %w", queuesMax, ErrBusy)
}

// remove gives the queue back. If the packet cannot be sent, nobody reads the queue: it ends with the
// connection, or with the number's next use.
func (sub *subscription) remove() {
	c := sub.core
	c.mu.Lock()
	c.subscriptions[sub.number] = nil
	m := sub.asked
	c.mu.Unlock()
	if m != nil && m == c.current.Load() && !m.lost.Load() {
		bye := native.AppendUint32(newPacket(msgUnsubscribe, 8), sub.number)
		m.send(native.AppendUint32(bye, 0))
	}
	if ring := sub.arrived.Swap(nil); ring != nil {
		ring.close()
	}
}

// renew asks for another queue, after a second.
func (sub *subscription) renew() {
	sub.core.mu.Lock()
	sub.asked, sub.retry = nil, time.Now().Add(refusedDelay)
	sub.core.mu.Unlock()
}

// step asks for a queue if there is none. Returns when to call it again; zero: with the next news.
func (sub *subscription) step() (again time.Time) {
	c := sub.core
	m := c.current.Load()
	c.mu.Lock()
	asked, retry := sub.asked, sub.retry
	c.mu.Unlock()
	if m == nil || m.lost.Load() || asked == m {
		return time.Time{}
	}
	if time.Now().Before(retry) {
		return retry
	}
	name, err := (&Informer{c}).canonical(sub.resource)
	if err != nil {
		return time.Time{} // it is not cached yet
	}
	p := native.AppendUint32(newPacket(msgSubscribe, 768), sub.number)
	p = native.AppendUint32(p, uint32(sub.options.Entries))
	for _, field := range []struct {
		text  string
		bytes int
	}{{name, 320}, {sub.options.Namespace, 256}, {sub.options.Consumer, 92}, {sub.options.Name, 92}} {
		p = appendText(p, field.text, field.bytes)
	}
	c.mu.Lock()
	sub.asked = m
	m.unanswered[sub.number]++
	c.mu.Unlock()
	m.send(p)
	return time.Time{}
}

// canonical is informerd's name of a resource.
func (inf *Informer) canonical(r *Resource) (name string, err error) {
	err = inf.View(func(s Snapshot) error {
		name, err = read(s, func(p *pin) (string, error) {
			b, err := p.bind(r)
			if err != nil {
				return "", err
			}
			return b.parts[0].def.canonical(), nil
		})
		return err
	})
	return name, err
}

func (def *definition) canonical() string {
	if def.group == "" {
		return def.resource
	}
	return def.resource + "." + def.group
}

// send sends a packet; a failure is met by who reads the connection.
func (m *mapping) send(packet []byte) error {
	if m.conn == nil {
		return ErrNotReady
	}
	m.conn.SetWriteDeadline(time.Now().Add(time.Second))
	_, err := m.conn.Write(packet)
	return err
}

// want has informerd cache a resource that is on demand. The socket may be full for a moment.
func (m *mapping) want(def *definition) {
	p := appendText(newPacket(msgWant, 320), def.canonical(), 320)
	for !m.lost.Load() && errors.Is(m.send(p), os.ErrDeadlineExceeded) {
	}
}

// answered counts an answer, and returns the subscription that it is for; nil: another answer follows, or
// nobody wants it.
func (c *core) answered(m *mapping, number uint32) *subscription {
	if number >= queuesMax || m.unanswered[number] == 0 {
		return nil
	}
	m.unanswered[number]--
	sub := c.subscriptions[number]
	if sub == nil || sub.asked != m || m.unanswered[number] != 0 {
		return nil
	}
	return sub
}

const (
	subscribedBytes   = 64
	unsubscribedBytes = 28
)

// takeSubscribed takes a queue.
func (c *core) takeSubscribed(m *mapping, p *packet) error {
	if len(p.bytes) != subscribedBytes || len(p.files) != 1 {
		return errPacket
	}
	file := p.files[0]
	p.files = nil
	c.mu.Lock()
	sub := c.answered(m, p.bytes.u32(16))
	c.mu.Unlock()
	if sub == nil {
		file.Close()
		return nil
	}
	m.hold()
	ring, err := newRing(m, p, file)
	if err != nil {
		m.release()
		c.options.Logger.Warn("no queue", "resource", sub.resource.name, "reason", err)
		sub.renew()
		return nil
	}
	if old := sub.arrived.Swap(ring); old != nil {
		old.close()
	}
	c.tell(func() { sub.refuse = nil })
	return nil
}

// takeUnsubscribed: there is no queue.
func (c *core) takeUnsubscribed(m *mapping, p *packet) error {
	if len(p.bytes) < unsubscribedBytes {
		return errPacket
	}
	why := p.refusal(20)
	c.tell(func() {
		if sub := c.answered(m, p.bytes.u32(16)); sub != nil {
			sub.asked, sub.retry, sub.refuse = nil, time.Now().Add(refusedDelay), why
			c.options.Logger.Warn("no events", "resource", sub.resource.name, "reason", why)
		}
	})
	return nil
}
