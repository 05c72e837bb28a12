// SPDX-License-Identifier: Apache-2.0

package main

// Queues whose memory makes no sense: a watch gets errors or asks for another queue, and goes on.

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand"
	"net"
	"os"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"informer"
)

const (
	subscribe   = 6
	subscribed  = 7
	queueHeader = 4096
	entryBytes  = 24
	capacity    = 64
)

// A queue is what the broker answers a SUBSCRIBE with.
type queue struct {
	file   *os.File
	memory []byte
}

func newQueue(t testing.TB) *queue {
	const bytes = queueHeader + capacity*entryBytes
	fd, err := unix.MemfdCreate("queue", unix.MFD_CLOEXEC)
	must(t, err)
	must(t, unix.Ftruncate(fd, bytes))
	q := &queue{file: os.NewFile(uintptr(fd), "queue")}
	q.memory, err = unix.Mmap(fd, 0, bytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	must(t, err)
	t.Cleanup(func() { q.file.Close(); unix.Munmap(q.memory) })
	q.open()
	return q
}

// open makes an empty queue of it.
func (q *queue) open() {
	q.set(0, 0)
	q.set(8, 0)
	q.set(16, 1)
	binary.NativeEndian.PutUint32(q.memory[24:], 0)
	binary.NativeEndian.PutUint32(q.memory[28:], capacity)
}

func (q *queue) head() uint64 { return atomic.LoadUint64((*uint64)(unsafe.Pointer(&q.memory[0]))) }

func (q *queue) set(at int, word uint64) {
	atomic.StoreUint64((*uint64)(unsafe.Pointer(&q.memory[at])), word)
}

func (q *queue) put(n int, seq uint64, kind, resource uint16, old, new uint32) {
	e := q.memory[queueHeader+n%capacity*entryBytes:]
	binary.NativeEndian.PutUint64(e, seq)
	binary.NativeEndian.PutUint16(e[8:], kind)
	binary.NativeEndian.PutUint16(e[10:], resource)
	binary.NativeEndian.PutUint32(e[12:], old)
	binary.NativeEndian.PutUint32(e[16:], new)
}

// gives has the broker answer each SUBSCRIBE with a queue; change may change the answer. Returns how many it answered.
func (b *broker) gives(q *queue, change func(answer []byte, files []int) ([]byte, []int)) *atomic.Int32 {
	answers := new(atomic.Int32)
	attached := func(conn *net.UnixConn) {
		packet := make([]byte, 65536)
		for {
			n, err := conn.Read(packet)
			if err != nil {
				return
			}
			if n < 20 || binary.NativeEndian.Uint16(packet[6:]) != subscribe {
				continue
			}
			if st, err := q.file.Stat(); err == nil && st.Size() > 0 {
				q.open()
			}
			answer := make([]byte, 64)
			copy(answer, packet[:20])
			binary.NativeEndian.PutUint16(answer[6:], subscribed)
			binary.NativeEndian.PutUint32(answer[8:], 64)
			binary.NativeEndian.PutUint32(answer[20:], capacity)
			files := []int{int(q.file.Fd())}
			if change != nil {
				answer, files = change(answer, files)
			}
			answers.Add(1)
			conn.WriteMsgUnix(answer, unix.UnixRights(files...), nil)
		}
	}
	b.attached.Store(&attached)
	return answers
}

// A hostile is a broker with a queue, and a handle that is attached to it.
type hostile struct {
	*broker
	*queue
	inf     *informer.Informer
	watch   *informer.Watch
	answers *atomic.Int32
	seq     uint64 // of the arena's root
}

func newHostile(t *testing.T, change func([]byte, []int) ([]byte, []int)) *hostile {
	h := &hostile{broker: newBroker(t), queue: newQueue(t)}
	h.answers = h.gives(h.queue, change)
	h.inf = attach(t, h.place)
	snap := begin(t, h.inf)
	moment, err := snap.Moment()
	must(t, err)
	snap.End()
	h.seq = moment.Seq
	h.watch = watch(t, h.inf, nil)
	return h
}

// loop counts the changes that are told until ctx ends; their objects can be read or are an error.
func (h *hostile) loop(t *testing.T, ctx context.Context) (told int) {
	t.Helper()
	for change, err := range h.watch.All(ctx) {
		if err != nil {
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
			break
		}
		told++
		for _, object := range []informer.Object{change.Object, change.Old} {
			object.JSON()
			object.Decode(&podLike{})
		}
	}
	return told
}

func within(t *testing.T, limit time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	t.Cleanup(cancel)
	return ctx
}

// goesOn: after all that, the watch gets to what there is through a queue that makes sense.
func (h *hostile) goesOn(t *testing.T) {
	t.Helper()
	clear(h.memory[queueHeader:])
	h.open()
	w := watch(t, h.inf, nil)
	until(t, w, isSynced)
	w.Close()
	must(t, h.inf.View(func(snap informer.Snapshot) error {
		_, err := snap.Info(h.inf.Resource("pods"))
		return err
	}))
}

func TestAnswersThatMakeNoSense(t *testing.T) {
	for what, change := range map[string]func(answer []byte, files []int) ([]byte, []int){
		"no capacity":    func(a []byte, f []int) ([]byte, []int) { return putUint32(a, 20, 0), f },
		"a capacity":     func(a []byte, f []int) ([]byte, []int) { return putUint32(a, 20, 100), f },
		"a large one":    func(a []byte, f []int) ([]byte, []int) { return putUint32(a, 20, 128), f },
		"the largest":    func(a []byte, f []int) ([]byte, []int) { return putUint32(a, 20, 1<<31), f },
		"another number": func(a []byte, f []int) ([]byte, []int) { return putUint32(a, 16, 5), f },
		"no number":      func(a []byte, f []int) ([]byte, []int) { return putUint32(a, 16, 1<<31), f },
		"no file":        func(a []byte, f []int) ([]byte, []int) { return a, nil },
		"two files":      func(a []byte, f []int) ([]byte, []int) { return a, append(f, f...) },
		"short":          func(a []byte, f []int) ([]byte, []int) { return putUint32(a, 8, 60)[:60], f },
		"another length": func(a []byte, f []int) ([]byte, []int) { return putUint32(a, 8, 80), f },
	} {
		t.Run(what, func(t *testing.T) {
			h := newHostile(t, change)
			if told := h.loop(t, within(t, 150*time.Millisecond)); told != 0 {
				t.Error(told, "changes")
			}
			if h.answers.Load() == 0 {
				t.Error("it was not asked")
			}
		})
	}
}

func putUint32(bytes []byte, at int, word uint32) []byte {
	binary.NativeEndian.PutUint32(bytes[at:], word)
	return bytes
}

func TestAQueueThatIsGoneIsAnError(t *testing.T) {
	for _, left := range []int64{0, queueHeader} {
		h := newHostile(t, nil)
		until(t, h.watch, isSynced)
		h.set(0, 3)
		must(t, h.file.Truncate(left))
		before := h.answers.Load()
		if told := h.loop(t, within(t, 1500*time.Millisecond)); told != 0 {
			t.Error(told, "changes")
		}
		if h.answers.Load() == before {
			t.Error("no other queue is asked for")
		}
		must(t, h.file.Truncate(queueHeader+capacity*entryBytes))
		h.goesOn(t)
	}
}

// What does not change is not read again and again: each of these costs a RESYNC at most.
func TestEntriesThatMakeNoSense(t *testing.T) {
	if os.Getenv("LONG") == "" {
		t.Skip("LONG=1 has it: it compares the processor time of seconds")
	}
	const every = 8
	for _, e := range []struct {
		what           string
		head, base     uint64
		kind, resource uint16
		later          uint64
	}{{"head", 1000, 0, 1, 0, 0}, {"head below", ^uint64(0), 0, 1, 0, 0}, {"base", 1, 1 << 62, 1, 0, 0}, {"kind 0", every, 0, 0, 0, 0},
		{"kind 7", every, 0, 7, 0, 0}, {"later", every, 0, 1, 0, 1}, {"much later", every, 0, 3, 0, 1 << 62}, {"added", every, 0, 1, 0, 0},
		{"updated", every, 0, 2, 0, 0}, {"deleted", every, 0, 3, 0, 0}, {"synced of nothing", every, 0, 4, 200, 0},
		{"reset of nothing", every, 0, 5, 200, 0}, {"status of nothing", every, 0, 6, 200, 0}, {"status", every, 0, 6, 0, 0},
		{"added of nothing", every, 0, 1, 200, 0}} {
		t.Run(e.what, func(t *testing.T) {
			h := newHostile(t, nil)
			first := 0
			for range h.watch.Batch(within(t, 5*time.Second)) {
				first++
			}
			h.loop(t, within(t, 50*time.Millisecond))
			for n := range every {
				h.put(n, h.seq+e.later, e.kind, e.resource, 3, 0x7fffffff)
			}
			h.set(8, e.base)
			h.set(0, e.head)
			told := h.loop(t, within(t, 300*time.Millisecond))
			before := processorTime(t)
			told += h.loop(t, within(t, 300*time.Millisecond))
			if spent := processorTime(t) - before; told > 2000 || spent > 150*time.Millisecond {
				t.Error(told, "changes; 300 ms cost", spent)
			}
			h.goesOn(t)
		})
	}
}

func TestAQueueThatChangesAllTheTime(t *testing.T) {
	random := rand.New(rand.NewSource(seed(t)))
	h := newHostile(t, nil)
	st, err := h.arena.Stat()
	must(t, err)
	ended, stop := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for n := uint64(0); ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			ref := func() uint32 {
				if random.Intn(2) == 0 {
					return random.Uint32()
				}
				return uint32(random.Int63n(st.Size())) / 16
			}
			h.put(random.Intn(capacity), h.seq+uint64(random.Intn(8))-6, uint16(random.Intn(8)), uint16(random.Intn(20)), ref(), ref())
			switch random.Intn(1000) {
			case 0:
				h.set([]int{0, 8, 16, 24}[random.Intn(4)], random.Uint64()>>random.Intn(64))
			case 1, 2:
				h.set(8, h.seq-uint64(random.Intn(3)))
			default:
				h.set(0, h.head()+1)
			}
			time.Sleep(20 * time.Microsecond)
		}
	}()
	told := h.loop(t, within(t, 4*time.Second))
	close(stop)
	<-ended
	if told < 200 || h.answers.Load() < 2 {
		t.Error(told, "changes,", h.answers.Load(), "queues")
	}
	h.goesOn(t)
}
