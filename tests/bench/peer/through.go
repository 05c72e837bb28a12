// SPDX-License-Identifier: Apache-2.0

package main

// client-go's informers of pods, at the server and through a gateway, held against all that the server's own watch told.
//
//	peer through -direct KUBECONFIG -gateway KUBECONFIG
//	                 starts at each of the two a typed, a dynamic, a metadata and a typed informer with a selector; prints "ready PODS"
//	                 when all have synced
//	swap N           deletes N pods at the server and makes them anew, each under its name; answers "swapped N"
//	delete N         deletes N pods at the server; answers "deleted N"
//	gone N           until one of the gateway's informers was told of N deletions behind the last "delete"; answers "gone TOLD"
//	reach            until the server's watch has told what the server has by now; answers "reached RV"
//	compare SECONDS  until all show what the server has, at most so long. "same PODS CHANGES" and for each informer " NAME=TOLD/EXACT/LISTS":
//	                 what it was told since the comparison before, in how much of that it had each state that the server had, one by one, and
//	                 how often it asked for all; or "other: " and the first difference; or "wrong: " and what should not have been told: a
//	                 state that never was, an RV of a key or of the informer that goes back, a change of what had not been told before,
//	                 a pod that takes another's name without a deletion in between and without a list

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"reflect"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

const runningOnly = "status.phase=Running"

var podsResource = corev1.SchemeGroupVersion.WithResource("pods")

// through is all that is compared: one lock for all, so that what one was told and what the server told are seen at one time.
type through struct {
	mu       sync.Mutex
	all      *history
	running  *history
	watched  []*watched
	server   kubernetes.Interface
	problems chan string
	swaps    int
}

// wrong tells what must not be; the first is enough.
func (t *through) wrong(format string, args ...any) {
	select {
	case t.problems <- fmt.Sprintf(format, args...):
	default:
	}
}

// watched is one informer, and what its handler was told. Of the lock: through.mu.
type watched struct {
	name     string
	of       *through
	history  *history
	informer cache.SharedIndexInformer
	handler  cache.ResourceEventHandlerRegistration
	lists    int // requests for all that is there, since the start

	states  map[string]state
	newest  map[string]int64 // RV that was told of a key, deletions included
	listsAt map[string]int   // lists when the key was last told
	sum     uint64           // of states
	listed  int              // lists since the last comparison
	gone    int              // deletions that were told since they were ordered
	events  []notice         // and what was told since then

	position int64 // of what was settled
	exact    bool  // it had what the server had at position
}

// notice is what a handler was told, and the sum of all it was told.
type notice struct {
	key   string
	state state
	gone  bool
	sum   uint64
}

// counted counts what asks for all.
type counted struct {
	next http.RoundTripper
	w    *watched
}

func (c counted) RoundTrip(request *http.Request) (*http.Response, error) {
	query := request.URL.Query()
	if query.Get("watch") == "" || query.Get("sendInitialEvents") == "true" {
		c.w.of.mu.Lock()
		c.w.lists++
		c.w.listed++
		c.w.of.mu.Unlock()
	}
	return c.next.RoundTrip(request)
}

func (w *watched) start(config *rest.Config, kind string, protobuf bool) {
	config = rest.CopyConfig(config)
	config.QPS = -1
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return counted{next, w} })
	if protobuf {
		config.ContentType = "application/vnd.kubernetes.protobuf"
		config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	}
	stop := make(chan struct{})
	switch kind {
	case "typed", "running":
		client, err := kubernetes.NewForConfig(config)
		die(err)
		factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTweakListOptions(func(o *metav1.ListOptions) {
			if kind == "running" {
				o.FieldSelector = runningOnly
			}
		}))
		w.informer = factory.Core().V1().Pods().Informer()
		defer factory.Start(stop)
	case "dynamic":
		client, err := dynamic.NewForConfig(config)
		die(err)
		factory := dynamicinformer.NewDynamicSharedInformerFactory(client, 0)
		w.informer = factory.ForResource(podsResource).Informer()
		defer factory.Start(stop)
	case "metadata":
		client, err := metadata.NewForConfig(config)
		die(err)
		factory := metadatainformer.NewSharedInformerFactory(client, 0)
		w.informer = factory.ForResource(podsResource).Informer()
		defer factory.Start(stop)
	}
	die(w.informer.SetWatchErrorHandler(func(*cache.Reflector, error) {}))
	var err error
	w.handler, err = w.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { w.tell(nil, object) },
		UpdateFunc: w.tell,
		DeleteFunc: w.forget,
	})
	die(err)
	go w.look()
}

// look that the RV of the informer does not go back, for ever.
func (w *watched) look() {
	for newest := int64(0); ; time.Sleep(5 * time.Millisecond) {
		if rv := w.informer.LastSyncResourceVersion(); rv != "" && rv != "0" {
			if number(rv) < newest {
				w.of.wrong("%s: it went back from %d to %s", w.name, newest, rv)
			}
			newest = number(rv)
		}
	}
}

func identity(object any) (key string, s state) {
	m, err := meta.Accessor(object)
	die(err)
	return m.GetNamespace() + "/" + m.GetName(), state{string(m.GetUID()), number(m.GetResourceVersion())}
}

// tell is an object that came or changed.
func (w *watched) tell(old, object any) {
	w.of.mu.Lock()
	defer w.of.mu.Unlock()
	key, now := identity(object)
	before, was := w.states[key]
	if was != (old != nil) {
		w.of.wrong("%s: %s came as %v while it had %v", w.name, key, now, before)
	}
	if old != nil {
		if _, given := identity(old); given != before {
			w.of.wrong("%s: %s was %v, and its change says it was %v", w.name, key, before, given)
		}
		if before.uid != now.uid && w.lists == w.listsAt[key] {
			w.of.wrong("%s: %s became %v from %v without its deletion", w.name, key, now, before)
		}
	}
	if now.rv < w.newest[key] || (now.rv == w.newest[key] && now != before) {
		w.of.wrong("%s: %s went back to %v from %d", w.name, key, now, w.newest[key])
	}
	w.states[key] = now
	w.sum += now.hash(key)
	if was {
		w.sum -= before.hash(key)
	}
	w.came(key, now, false)
}

// forget is an object that went, or does not match any more.
func (w *watched) forget(object any) {
	w.of.mu.Lock()
	defer w.of.mu.Unlock()
	last, unknown := object.(cache.DeletedFinalStateUnknown)
	if unknown {
		object = last.Obj
	}
	w.gone++
	key, end := identity(object)
	before, was := w.states[key]
	if was && (before.uid != end.uid || end.rv < before.rv) || !was && (unknown || end.rv <= w.newest[key]) {
		w.of.wrong("%s: %s went as %v while it had %v", w.name, key, end, before)
	}
	if was { // else it came and went while nobody told
		delete(w.states, key)
		w.sum -= before.hash(key)
	}
	w.came(key, end, !unknown)
}

// came leaves what was told to be checked when the server's own watch has told of it, too.
func (w *watched) came(key string, now state, gone bool) {
	w.newest[key] = now.rv
	w.listsAt[key] = w.lists
	w.events = append(w.events, notice{key, now, gone, w.sum})
}

// settle checks what was told; the server's own watch is up to date. Lock held.
func (w *watched) settle() (told, exactly int) {
	for _, e := range w.events {
		if !w.history.was(e) {
			w.of.wrong("%s: %s never was %v (gone: %v)", w.name, e.key, e.state, e.gone)
		}
		next := w.history.next(w.position)
		step := w.exact && next != nil && next.rv == e.state.rv && next.key == e.key
		w.position = max(w.position, e.state.rv)
		w.exact = e.sum == w.history.sum(w.position)
		if step && !w.exact {
			w.of.wrong("%s: at %d it has not what the server had", w.name, w.position)
		}
		if w.exact {
			exactly++
		}
	}
	told = len(w.events)
	w.events = w.events[:0]
	return told, exactly
}

// differs says what is not as the server has it; the server's own watch is up to date. Lock held.
func (w *watched) differs() string {
	for key, now := range w.history.states {
		if w.states[key] != now {
			return fmt.Sprintf("%s: %s is %v, not %v", w.name, key, w.states[key], now)
		}
	}
	if len(w.states) != len(w.history.states) {
		return fmt.Sprintf("%s: it has %d pods, not %d", w.name, len(w.states), len(w.history.states))
	}
	if got := len(w.informer.GetStore().ListKeys()); got != len(w.states) {
		return fmt.Sprintf("%s: its handler was told of %d pods, and its store has %d", w.name, len(w.states), got)
	}
	return ""
}

// contentDiffers compares whole pods of two typed informers that have the same states, beside what a gateway does not keep.
func contentDiffers(here, there *watched) string {
	for _, object := range here.informer.GetStore().List() {
		mine := object.(*corev1.Pod).DeepCopy()
		other, is, _ := there.informer.GetStore().Get(mine)
		if !is {
			return mine.Name + " is not at " + there.name
		}
		theirs := other.(*corev1.Pod).DeepCopy()
		mine.ManagedFields, theirs.ManagedFields = nil, nil
		if !reflect.DeepEqual(mine, theirs) {
			return fmt.Sprintf("%s is not the same at %s and %s: %v, %v", mine.Name, here.name, there.name, mine, theirs)
		}
	}
	return ""
}

// reach waits until the server's own watch has told all there is, and answers its RV.
func (t *through) reach() int64 {
	list, err := t.server.CoreV1().Pods("").List(context.TODO(), metav1.ListOptions{})
	die(err)
	target := int64(0) // the list's RV counts other resources' changes too
	for i := range list.Items {
		target = max(target, number(list.Items[i].ResourceVersion))
	}
	for {
		t.mu.Lock()
		at := t.all.newest()
		same := at >= target && (len(list.Items) == len(t.all.states) || at > target)
		t.mu.Unlock()
		if same {
			return at
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func (t *through) compare(seconds float64) {
	t.reach()
	end := time.Now().Add(time.Duration(seconds * float64(time.Second)))
	for {
		t.mu.Lock()
		why := ""
		for _, w := range t.watched {
			if why == "" {
				why = w.differs()
			}
		}
		if why == "" {
			why = contentDiffers(t.watched[0], t.watched[len(t.watched)/2])
		}
		if why == "" {
			t.report()
		}
		t.mu.Unlock()
		if why == "" {
			return
		}
		if time.Now().After(end) {
			fmt.Println("other:", why)
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// report says what was told, and begins anew. Lock held.
func (t *through) report() {
	line := fmt.Sprint("same ", len(t.all.states), " ", t.all.told)
	t.all.told = 0
	for _, w := range t.watched {
		told, exactly := w.settle()
		line += fmt.Sprintf(" %s=%d/%d/%d", w.name, told, exactly, w.listed)
		w.listed = 0
	}
	select {
	case problem := <-t.problems:
		fmt.Println("wrong:", problem)
	default:
		fmt.Println(line)
	}
}

// swap deletes pods and makes others of their names.
func (t *through) swap(n int) {
	ctx, now := context.TODO(), int64(0)
	list, err := t.server.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	die(err)
	swapped := 0
	for i := 0; i < len(list.Items) && swapped < n; i++ {
		pod := list.Items[(i*7+t.swaps)%len(list.Items)].DeepCopy()
		pods := t.server.CoreV1().Pods(pod.Namespace)
		if err := pods.Delete(ctx, pod.Name, metav1.DeleteOptions{GracePeriodSeconds: &now}); err != nil {
			continue // churn was faster
		}
		pod.UID, pod.ResourceVersion, pod.DeletionTimestamp, pod.ManagedFields = "", "", nil, nil
		_, err := pods.Create(ctx, pod, metav1.CreateOptions{})
		die(err)
		swapped++
	}
	t.swaps++
	fmt.Println("swapped", swapped)
}

func (t *through) delete(n int) {
	ctx, now := context.TODO(), int64(0)
	list, err := t.server.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	die(err)
	t.mu.Lock()
	for _, w := range t.watched {
		w.gone = 0
	}
	t.mu.Unlock()
	for i := 0; i < n && i < len(list.Items); i++ {
		pod := &list.Items[i]
		die(t.server.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{GracePeriodSeconds: &now}))
	}
	fmt.Println("deleted", n)
}

// mostGone counts the deletions that were told the one of the gateway's informers that is ahead of the others.
func (t *through) mostGone() (most int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, w := range t.watched[len(t.watched)/2:] {
		most = max(most, w.gone)
	}
	return most
}

func (t *through) awaitGone(n int) {
	for t.mostGone() < n {
		time.Sleep(100 * time.Microsecond)
	}
	fmt.Println("gone", t.mostGone())
}

func throughMain(args []string) {
	fs := flag.NewFlagSet("through", flag.ExitOnError)
	direct := fs.String("direct", "", "")
	gateway := fs.String("gateway", "", "")
	fs.Parse(args)
	t := &through{all: newHistory(""), running: newHistory(runningOnly), problems: make(chan string, 1)}
	for _, side := range []struct{ name, kubeconfig string }{{"direct", *direct}, {"gateway", *gateway}} {
		config, err := clientcmd.BuildConfigFromFlags("", side.kubeconfig)
		die(err)
		if t.server == nil {
			config.QPS = -1
			t.server, err = kubernetes.NewForConfig(config)
			die(err)
			t.follow()
		}
		for _, kind := range []string{"typed", "dynamic", "metadata", "running"} {
			w := &watched{name: side.name + "-" + kind, of: t, history: t.all, states: map[string]state{},
				newest: map[string]int64{}, listsAt: map[string]int{}}
			if kind == "running" {
				w.history = t.running
			}
			w.start(config, kind, kind == "typed")
			t.watched = append(t.watched, w)
		}
	}
	for _, w := range t.watched {
		for !w.handler.HasSynced() {
			time.Sleep(time.Millisecond)
		}
	}
	fmt.Println("ready", len(t.watched[0].informer.GetStore().ListKeys()))
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var seconds float64
		var n int
		switch what, _, _ := strings.Cut(in.Text(), " "); what {
		case "swap":
			fmt.Sscanf(in.Text(), "swap %d", &n)
			t.swap(n)
		case "delete":
			fmt.Sscanf(in.Text(), "delete %d", &n)
			t.delete(n)
		case "gone":
			fmt.Sscanf(in.Text(), "gone %d", &n)
			t.awaitGone(n)
		case "reach":
			fmt.Println("reached", t.reach())
		case "compare":
			fmt.Sscanf(in.Text(), "compare %g", &seconds)
			t.compare(seconds)
		}
	}
}
