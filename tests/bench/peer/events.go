// SPDX-License-Identifier: Apache-2.0

package main

// client-go's informer of pods, with one handler.
//
//	peer events -server URL | -kubeconfig FILE [-json] | -socket SOCKET [-watch]
//	                            a protobuf (JSON) informer of pods with one handler, or one over informerd's cache, or (-watch) a loop over a
//	                            watch of Go's reader; prints "ready PODS" when that has synced
//	run RATE N                  has the server make N changes at RATE a second (0: as fast as the slowest watcher takes them):
//	                            events got, p50, p99 µs from made to handler entered, events/s, µs of CPU an event
//	begin                       forgets what came; answers 0
//	await SECONDS N             until N adds and updates came since then, at most so long: how many; p50, p99 µs from made to handler entered; when
//	                            the last one came, µs
//	pss                         bytes of this process

import (
	"bufio"
	"flag"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

type eventSink struct {
	mu   sync.Mutex
	ns   []int64
	last int64
	got  atomic.Int64
}

func (s *eventSink) begin() {
	s.mu.Lock()
	if s.ns == nil { // not before the informer's memory is measured
		s.ns = make([]int64, 0, 1<<20)
	}
	s.ns = s.ns[:0]
	s.mu.Unlock()
	s.got.Store(0)
}

func (s *eventSink) take(text string) {
	now := time.Now().UnixNano()
	made, _ := strconv.ParseInt(text, 10, 64)
	s.mu.Lock()
	s.ns = append(s.ns, now-made)
	s.last = now
	s.mu.Unlock()
	s.got.Add(1)
}

func (s *eventSink) await(seconds float64, n int) int64 {
	for end := time.Now().Add(time.Duration(seconds) * time.Second); s.got.Load() < int64(n) && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	return s.got.Load()
}

func (s *eventSink) run(server string, rate float64, n int) {
	s.begin()
	cpu, start := cpuSeconds(), time.Now()
	response, err := http.Get(fmt.Sprintf("%s/churn?rate=%g&n=%d", server, rate, n))
	die(err)
	response.Body.Close()
	s.await(20, n)
	s.mu.Lock()
	defer s.mu.Unlock()
	us := sorted(s.ns)
	seconds := time.Unix(0, s.last).Sub(start).Seconds()
	fmt.Printf("%d %.1f %.1f %.0f %.2f\n", len(us), float64(percentile(us, .5))/1e3, float64(percentile(us, .99))/1e3, float64(len(us))/seconds,
		(cpuSeconds()-cpu)/float64(max(1, len(us)))*1e6)
}

func (s *eventSink) print() {
	s.mu.Lock()
	defer s.mu.Unlock()
	us := sorted(s.ns)
	fmt.Printf("%d %.1f %.1f %d\n", len(us), float64(percentile(us, .5))/1e3, float64(percentile(us, .99))/1e3, s.last/1000)
}

func eventsMain(args []string) {
	fs := flag.NewFlagSet("events", flag.ExitOnError)
	server := fs.String("server", "", "")
	kubeconfig := fs.String("kubeconfig", "", "")
	socket := fs.String("socket", "", "")
	watch := fs.Bool("watch", false, "")
	json := fs.Bool("json", false, "")
	fs.Parse(args)
	sink := &eventSink{}
	if *watch {
		fmt.Println("ready", watchOurs(*socket, sink))
	} else {
		fmt.Println("ready", inform(sink, *server, *kubeconfig, *socket, *json))
	}
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var what string
		var rate float64
		var n int
		fmt.Sscan(in.Text(), &what, &rate, &n)
		switch what {
		case "run":
			sink.run(*server, rate, n)
		case "begin":
			sink.begin()
			fmt.Println("0")
		case "await":
			sink.await(rate, n)
			sink.print()
		case "pss":
			fmt.Println(pssBytes())
		default:
			fmt.Println("0")
		}
	}
}

// inform starts an informer with a handler, and returns how many pods it has when that has synced.
func inform(sink *eventSink, server, kubeconfig, socket string, json bool) int {
	config := &rest.Config{Host: server}
	if kubeconfig != "" {
		var err error
		config, err = clientcmd.BuildConfigFromFlags("", kubeconfig)
		die(err)
	}
	config.QPS = -1
	config.ContentType = "application/json"
	if !json {
		config.ContentType = "application/vnd.kubernetes.protobuf"
		config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	}
	client, err := kubernetes.NewForConfig(config)
	die(err)
	factory := informers.NewSharedInformerFactory(client, 0)
	if socket != "" {
		factory = factoryOver(socket)
	}
	informer := factory.Core().V1().Pods().Informer()
	die(informer.AddIndexers(cache.Indexers{"byNode": byNode}))
	handler, err := informer.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(o any, initial bool) {
			if !initial {
				sink.take(o.(*corev1.Pod).Annotations[madeAnnotation])
			}
		},
		UpdateFunc: func(_, o any) { sink.take(o.(*corev1.Pod).Annotations[madeAnnotation]) },
	})
	die(err)
	stop := make(chan struct{})
	factory.Start(stop)
	for !handler.HasSynced() {
		time.Sleep(time.Millisecond)
	}
	return len(informer.GetStore().ListKeys())
}
