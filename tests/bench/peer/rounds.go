// SPDX-License-Identifier: Apache-2.0

package main

// Rounds on demand, so that client-go's figures are taken between ours and not before or after: one command a line on stdin,
// one line of figures on stdout.
//
//	peer rounds -pods DIR -n N  builds the indexer; prints "ready HEAP_BYTES_A_POD"
//	get OPS                   GetByKey, the node's name read: ns a lookup
//	index OPS                 ByIndex, each pod's name read: ns a lookup
//	writer OPS RATE           get with a writer that decodes (protobuf) and updates: ns a lookup, worst ns, without those that the
//	                          scheduler had interrupted
//	decode                    ns a real pod: the JSON codec, the protobuf codec
//	ours OPS, typed PODS      with -socket, of Go's reader: get; and ns a typed pod from the arena, and by the protobuf codec, of so many pods

import (
	"bufio"
	"flag"
	"fmt"
	"math/rand"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	sjson "k8s.io/apimachinery/pkg/runtime/serializer/json"
	sproto "k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"
)

// sink takes what is read, so that reading it is not left out.
var sink int64

type rounds struct {
	made  *podMaker
	ix    cache.Indexer
	keys  []string // in random order
	nodes []string
	at    int
	evs   [][]byte
}

func (r *rounds) get(ops, at int) (float64, int) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	n, s := len(r.keys), 0
	t := threadNs()
	for i := 0; i < ops; i++ {
		o, ok, _ := r.ix.GetByKey(r.keys[at])
		if !ok {
			panic("miss " + r.keys[at])
		}
		node := o.(*corev1.Pod).Spec.NodeName
		s += len(node) + int(node[0])
		if at++; at == n {
			at = 0
		}
	}
	d := threadNs() - t
	atomic.AddInt64(&sink, int64(s))
	return float64(d) / float64(ops), at
}

func (r *rounds) index(ops int) float64 {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	s := 0
	t := threadNs()
	for i := 0; i < ops; i++ {
		l, err := r.ix.ByIndex("byNode", r.nodes[r.at%len(r.nodes)])
		die(err)
		for _, o := range l {
			name := o.(*corev1.Pod).Name
			s += len(name) + int(name[0])
		}
		r.at++
	}
	d := threadNs() - t
	atomic.AddInt64(&sink, int64(s))
	return float64(d) / float64(ops)
}

func (r *rounds) writer(ops int, rate float64) {
	var done atomic.Bool
	var wg sync.WaitGroup
	if r.evs == nil {
		for i := 0; i < 512; i++ {
			b, err := decodePod(r.made.json(i * 37 % r.made.pods)).Marshal()
			die(err)
			r.evs = append(r.evs, b)
		}
	}
	wg.Add(1)
	go func() {
		defer wg.Done()
		pace(rate, 1<<40, done.Load, func(i int) {
			p := &corev1.Pod{}
			die(p.Unmarshal(r.evs[i&511]))
			die(r.ix.Update(p))
		})
	}()
	ns, at := r.get(ops, 0)
	runtime.LockOSThread()
	worst, cut := int64(0), interruptions()
	for i := 0; i < ops; i++ {
		a := time.Now()
		o, ok, _ := r.ix.GetByKey(r.keys[at])
		if ok {
			sink += int64(o.(*corev1.Pod).Spec.NodeName[0])
		}
		d := int64(time.Since(a))
		if at++; at == len(r.keys) {
			at = 0
		}
		if d > 20000 {
			if c := interruptions(); c != cut {
				cut = c
				continue
			}
		}
		worst = max(worst, d)
	}
	runtime.UnlockOSThread()
	done.Store(true)
	wg.Wait()
	fmt.Printf("%.1f %d\n", ns, worst)
}

func (r *rounds) decode() {
	gvk := schema.GroupVersionKind{Version: "v1", Kind: "Pod"}
	js := sjson.NewSerializerWithOptions(sjson.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, sjson.SerializerOptions{})
	ps := sproto.NewSerializer(scheme.Scheme, scheme.Scheme)
	var texts, envs [][]byte
	for i := range r.made.templates {
		b := r.made.templates[i].original
		texts = append(texts, append([]byte(`{"kind":"Pod","apiVersion":"v1",`), b[1:]...))
		p := decodePod(b)
		p.Kind, p.APIVersion = "Pod", "v1"
		e, err := apiruntime.Encode(ps, p)
		die(err)
		envs = append(envs, e)
	}
	run := func(d apiruntime.Decoder, in [][]byte, rounds int) float64 {
		runtime.GC()
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		t := threadNs()
		for k := 0; k < rounds; k++ {
			for _, b := range in {
				_, _, err := d.Decode(b, &gvk, nil)
				die(err)
			}
		}
		return float64(threadNs()-t) / float64(rounds*len(in))
	}
	fmt.Printf("%.0f %.0f\n", run(js, texts, 10), run(ps, envs, 60))
}

func (r *rounds) build(directory string, n int) {
	r.made = newPodMaker(directory, n)
	h0 := heapBytes()
	r.ix = cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{
		cache.NamespaceIndex: cache.MetaNamespaceIndexFunc, "byNode": byNode})
	var wg sync.WaitGroup
	workers := runtime.NumCPU()
	for w := 0; w < workers; w++ {
		wg.Add(1)
		go func(w int) {
			defer wg.Done()
			for i := w; i < n; i += workers {
				die(r.ix.Add(decodePod(r.made.json(i))))
			}
		}(w)
	}
	wg.Wait()
	h1 := heapBytes()
	// so many that no branch predictor learns their order, each with a text of its own
	rnd := rand.New(rand.NewSource(1))
	r.keys = make([]string, 0, 1<<19)
	for i := 0; i < 1<<19; i++ {
		r.keys = append(r.keys, string([]byte(r.made.key(rnd.Intn(n)))))
	}
	for i := 0; i < r.made.nodes; i++ {
		r.nodes = append(r.nodes, nodeName(rnd.Intn(r.made.nodes)))
	}
	giveMemoryBack()
	fmt.Printf("ready %d\n", (h1-h0)/uint64(n))
}

func roundsMain(args []string) {
	fs := flag.NewFlagSet("rounds", flag.ExitOnError)
	directory := fs.String("pods", "", "a folder of pods, a file each")
	n := fs.Int("n", 10000, "pods")
	socket := fs.String("socket", "", "informerd's")
	fs.Parse(args)
	debug.SetGCPercent(400)
	var o *ours
	if *socket != "" {
		o = attachOurs(*socket)
	}
	var r rounds
	r.build(*directory, *n)
	at := 0
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var what string
		var ops int
		var rate float64
		fmt.Sscan(in.Text(), &what, &ops, &rate)
		switch what {
		case "get":
			var ns float64
			ns, at = r.get(ops, at)
			fmt.Printf("%.2f\n", ns)
		case "index":
			fmt.Printf("%.1f\n", r.index(ops))
		case "writer":
			r.writer(ops, rate)
		case "decode":
			r.decode()
		case "ours":
			fmt.Printf("%.2f\n", o.get(ops))
		case "typed":
			mine, theirs := o.typed(ops)
			fmt.Printf("%.0f %.0f\n", mine, theirs)
		default:
			fmt.Println("0")
		}
	}
}
