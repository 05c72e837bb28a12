// SPDX-License-Identifier: Apache-2.0

package clientgo

// Agents that use client-go's informers get the same from clientgo's. It needs KUBECONFIG of an API server with pods,
// and SOCKET of an informerd that caches them; long/readers_clientgo.sh runs it, also with the race detector.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"

	"informer"
	"informer/clientgo"
)

const (
	patience  = 20 * time.Second
	nameLabel = "app.kubernetes.io/name"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func server(t testing.TB) kubernetes.Interface {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	must(t, err)
	config.ContentType, config.QPS = "application/json", -1
	client, err := kubernetes.NewForConfig(config)
	must(t, err)
	return client
}

func context_(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// agent is a factory that ends with the test.
func agent(t testing.TB, resync time.Duration, options ...clientgo.Option) clientgo.SharedInformerFactory {
	t.Helper()
	options = append(options, clientgo.WithSocket(os.Getenv("SOCKET")))
	factory := clientgo.NewSharedInformerFactoryWithOptions(nil, resync, options...)
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() {
		cancel()
		factory.Shutdown()
	})
	contexts.Store(factory, ctx)
	return factory
}

var contexts sync.Map // of factories

func start(t testing.TB, factory clientgo.SharedInformerFactory) {
	t.Helper()
	ctx, _ := contexts.Load(factory)
	factory.StartWithContext(ctx.(context.Context))
	result := factory.WaitForCacheSyncWithContext(context_(t))
	must(t, result.AsError())
}

var serial = time.Now().UnixNano()

func create(t testing.TB, client kubernetes.Interface, edit func(*corev1.Pod)) *corev1.Pod {
	t.Helper()
	serial++
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("pod-", serial), Namespace: "default"},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.com/main:1"}}}}
	if edit != nil {
		edit(pod)
	}
	pod, err := client.CoreV1().Pods(pod.Namespace).Create(context_(t), pod, metav1.CreateOptions{})
	must(t, err)
	pod.ManagedFields = nil // which informerd drops
	return pod
}

func remove(t testing.TB, client kubernetes.Interface, pod *corev1.Pod) {
	t.Helper()
	now := int64(0)
	must(t, client.CoreV1().Pods(pod.Namespace).Delete(context_(t), pod.Name, metav1.DeleteOptions{GracePeriodSeconds: &now}))
}

func label(t testing.TB, client kubernetes.Interface, pod *corev1.Pod, name, value string) *corev1.Pod {
	t.Helper()
	pod = pod.DeepCopy()
	if pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	pod.Labels[name] = value
	pod, err := client.CoreV1().Pods(pod.Namespace).Update(context_(t), pod, metav1.UpdateOptions{})
	must(t, err)
	pod.ManagedFields = nil
	return pod
}

// told is what a handler was told.
type told struct {
	what     string // add, update, delete
	old, new *corev1.Pod
	initial  bool
	tomb     bool
}

// listener is a handler that passes on what it is told of one pod; "": of all.
type listener struct {
	name string
	ch   chan told
}

func listen(name string) *listener { return &listener{name, make(chan told, 100000)} }

func (l *listener) pass(e told) {
	if l.name == "" || e.new.Name == l.name {
		l.ch <- e
	}
}

func (l *listener) OnAdd(object any, initial bool) {
	l.pass(told{what: "add", new: object.(*corev1.Pod), initial: initial})
}

func (l *listener) OnUpdate(old, object any) {
	l.pass(told{what: "update", old: old.(*corev1.Pod), new: object.(*corev1.Pod)})
}

func (l *listener) OnDelete(object any) {
	tomb, unknown := object.(cache.DeletedFinalStateUnknown)
	if unknown {
		object = tomb.Obj
	}
	l.pass(told{what: "delete", new: object.(*corev1.Pod), tomb: unknown})
}

func (l *listener) next(t testing.TB, what string) told {
	t.Helper()
	select {
	case e := <-l.ch:
		if e.what != what {
			t.Fatalf("told %s of %s, not %s", e.what, e.new.Name, what)
		}
		return e
	case <-time.After(patience):
		t.Fatalf("not told of %s", what)
	}
	return told{}
}

func (l *listener) nothing(t testing.TB) {
	t.Helper()
	select {
	case e := <-l.ch:
		t.Fatalf("told %s of %s", e.what, e.new.Name)
	default:
	}
}

func names(pods []*corev1.Pod) []string {
	all := []string{}
	for _, pod := range pods {
		all = append(all, pod.Namespace+"/"+pod.Name)
	}
	slices.Sort(all)
	return all
}

func ofServer(t testing.TB, client kubernetes.Interface, namespace string, options metav1.ListOptions) []*corev1.Pod {
	t.Helper()
	list, err := client.CoreV1().Pods(namespace).List(context_(t), options)
	must(t, err)
	pods := []*corev1.Pod{}
	for i := range list.Items {
		list.Items[i].ManagedFields = nil // which informerd drops
		pods = append(pods, &list.Items[i])
	}
	return pods
}

func same[T any](t testing.TB, what string, got, want T) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\n got %.900v\nwant %.900v", what, got, want)
	}
}

// ---- listers

func TestListersAnswerAsTheServer(t *testing.T) {
	client := server(t)
	factory := agent(t, 0)
	lister := factory.Core().V1().Pods().Lister()
	start(t, factory)

	all, err := lister.List(labels.Everything())
	must(t, err)
	server := ofServer(t, client, "", metav1.ListOptions{})
	same(t, "all pods", names(all), names(server))
	for _, want := range server {
		got, err := lister.Pods(want.Namespace).Get(want.Name)
		must(t, err)
		same(t, want.Name, got, want)
	}
	in, err := lister.Pods(server[0].Namespace).List(labels.Everything())
	must(t, err)
	same(t, "a namespace's pods", names(in), names(ofServer(t, client, server[0].Namespace, metav1.ListOptions{})))
	app := server[0].Labels[nameLabel]
	selected, err := lister.List(labels.SelectorFromSet(labels.Set{nameLabel: app}))
	must(t, err)
	same(t, "by label", names(selected), names(ofServer(t, client, "", metav1.ListOptions{LabelSelector: nameLabel + "=" + app})))
	if len(selected) == 0 {
		t.Error("no pod has the label")
	}
	if _, err = lister.Pods("default").Get("none"); err == nil || !strings.Contains(err.Error(), `pod "none" not found`) {
		t.Error("a pod that is not there:", err)
	}
}

func TestAStateIsMadeOnceWhileItIsKept(t *testing.T) {
	client := server(t)
	pod := create(t, client, nil)
	defer remove(t, client, pod)
	for _, keep := range []bool{true, false} {
		var options []clientgo.Option
		if !keep {
			options = append(options, clientgo.WithCacheBytes(0))
		}
		factory := agent(t, 0, options...)
		listener := listen(pod.Name)
		_, err := factory.Core().V1().Pods().Informer().AddEventHandler(listener)
		must(t, err)
		start(t, factory)
		told := listener.next(t, "add").new
		got, err := factory.Core().V1().Pods().Lister().Pods(pod.Namespace).Get(pod.Name)
		must(t, err)
		again, err := factory.Core().V1().Pods().Lister().Pods(pod.Namespace).Get(pod.Name)
		must(t, err)
		same(t, "the value", got, again)
		if (got == again) != keep || keep && got != told {
			t.Errorf("kept: %v; the same value: %v", keep, got == again)
		}
	}
}

func TestInformersThatShareKeepValuesUpToOneBound(t *testing.T) {
	shared, err := clientgo.Share(clientgo.WithSocket(os.Getenv("SOCKET")), clientgo.WithCacheBytes(64<<10))
	must(t, err)
	pod := ofServer(t, server(t), "", metav1.ListOptions{})[0]
	stores := [2]cache.Store{}
	for i := range stores {
		informer := clientgo.NewSharedIndexInformer(corev1.SchemeGroupVersion.WithResource("pods"), &corev1.Pod{}, 0, nil, shared)
		stores[i] = informer.GetStore()
	}
	get := func() any {
		object, _, err := stores[0].Get(pod)
		must(t, err)
		return object
	}
	first := get()
	same(t, "kept", get() == first, true)
	if len(stores[1].List()) == 0 {
		t.Error("the store is empty")
	}
	same(t, "kept after many others", get() == first, false)
}

func TestAStoreIsReadOnly(t *testing.T) {
	factory := agent(t, 0)
	store := factory.Core().V1().Pods().Informer().GetStore()
	start(t, factory)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "none", Namespace: "default"}}
	for _, err := range []error{store.Add(pod), store.Update(pod), store.Delete(pod), store.Replace(nil, "")} {
		if !errors.Is(err, clientgo.ErrReadOnly) {
			t.Error("not refused:", err)
		}
	}
	_, exists, err := store.Get(pod)
	must(t, err)
	same(t, "exists", exists, false)
	_, exists, err = store.GetByKey("too/many/parts")
	must(t, err)
	same(t, "exists", exists, false)
}

// A handle has 63 snapshots at a time.
func TestManyGoroutinesRead(t *testing.T) {
	handle := attach(t)
	factory := agent(t, 0, clientgo.WithHandle(handle))
	lister := factory.Core().V1().Pods().Lister()
	start(t, factory)
	pods := ofServer(t, server(t), "", metav1.ListOptions{})
	taken := []informer.Snapshot{}
	for snap, err := handle.Begin(); err == nil; snap, err = handle.Begin() {
		taken = append(taken, snap)
	}
	if len(taken) < 60 {
		t.Error("only", len(taken), "snapshots")
	}
	var readers sync.WaitGroup
	for i := range 100 {
		readers.Go(func() {
			want := pods[i%len(pods)]
			if got, err := lister.Pods(want.Namespace).Get(want.Name); err != nil || got.UID != want.UID {
				t.Error(want.Name, err)
			}
			if all, err := lister.List(labels.Everything()); err != nil || len(all) != len(pods) {
				t.Error(len(all), "pods of", len(pods), err)
			}
		})
	}
	for _, snap := range taken {
		snap.End()
	}
	readers.Wait()
}

// ---- handlers

func TestAHandlerIsToldOfEachChange(t *testing.T) {
	client := server(t)
	before := create(t, client, nil)
	defer remove(t, client, before)
	factory := agent(t, 0)
	informer := factory.Core().V1().Pods().Informer()
	known, all := listen(before.Name), listen("")
	_, err := informer.AddEventHandler(known)
	must(t, err)
	registration, err := informer.AddEventHandler(all)
	must(t, err)
	same(t, "synced before the start", registration.HasSynced(), false)
	start(t, factory)
	if !cache.WaitForCacheSync(context_(t).Done(), registration.HasSynced) {
		t.Fatal("the handler does not sync")
	}
	same(t, "initial", known.next(t, "add").initial, true)
	initial := []*corev1.Pod{}
	for range len(all.ch) {
		initial = append(initial, all.next(t, "add").new)
	}
	same(t, "all pods", names(initial), names(ofServer(t, client, "", metav1.ListOptions{})))

	pod := create(t, client, func(pod *corev1.Pod) { pod.Labels = map[string]string{"step": "1"} })
	added := all.next(t, "add")
	same(t, "added", added.new, pod)
	same(t, "initial", added.initial, false)
	changed := label(t, client, pod, "step", "2")
	updated := all.next(t, "update")
	same(t, "old", updated.old, pod)
	same(t, "new", updated.new, changed)
	remove(t, client, pod)
	deleted := all.next(t, "delete")
	same(t, "last state", deleted.new.Labels, changed.Labels)
	same(t, "state unknown", deleted.tomb, false)

	late := listen(before.Name)
	_, err = informer.AddEventHandler(late)
	must(t, err)
	same(t, "initial of a late handler", late.next(t, "add").initial, true)
}

func TestAHandlerSeesNoOlderStoreAndIndex(t *testing.T) {
	client := server(t)
	factory := agent(t, 0)
	informer := factory.Core().V1().Pods().Informer()
	must(t, informer.AddIndexers(cache.Indexers{"turn": func(object any) ([]string, error) {
		if turn, ok := object.(*corev1.Pod).Labels["turn"]; ok {
			return []string{turn}, nil
		}
		return nil, nil
	}}))
	wrong := make(chan string, 1000)
	own := fmt.Sprint(serial) // no other run has it
	check := func(object any) {
		pod := object.(*corev1.Pod)
		turn, ok := pod.Labels["turn"]
		if !ok || !strings.HasPrefix(turn, own) {
			return
		}
		key := pod.Namespace + "/" + pod.Name
		if _, exists, err := informer.GetStore().GetByKey(key); err != nil || !exists {
			wrong <- fmt.Sprintf("%s is not in the store: %v", key, err)
		}
		keys, err := informer.GetIndexer().IndexKeys("turn", turn)
		if err != nil || !slices.Contains(keys, key) {
			wrong <- fmt.Sprintf("%s is not in the index under %s: %v", key, turn, err)
		}
		wrong <- ""
	}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: check,
		UpdateFunc: func(_, object any) { check(object) }})
	must(t, err)
	start(t, factory)
	for i := range 50 {
		pod := create(t, client, func(pod *corev1.Pod) { pod.Labels = map[string]string{"turn": fmt.Sprint(own, "-", i)} })
		select {
		case text := <-wrong:
			if text != "" {
				t.Fatal(text)
			}
		case <-time.After(patience):
			t.Fatal("the handler was not called")
		}
		remove(t, client, pod)
	}
}

func TestASlowHandlerHoldsUpNobody(t *testing.T) {
	client := server(t)
	factory := agent(t, 0)
	informer := factory.Core().V1().Pods().Informer()
	leave := make(chan struct{})
	entered := make(chan struct{}, 100000)
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) {
		entered <- struct{}{}
		<-leave
	}})
	must(t, err)
	quick := listen("")
	_, err = informer.AddEventHandler(quick)
	must(t, err)
	start(t, factory)
	<-entered
	pods := ofServer(t, client, "", metav1.ListOptions{})
	for range pods {
		quick.next(t, "add")
	}
	pod := create(t, client, nil)
	defer remove(t, client, pod)
	same(t, "added", quick.next(t, "add").new.Name, pod.Name)
	same(t, "calls of the slow one", len(entered), 0)
	close(leave)
	for range len(pods) {
		<-entered
	}
}

func byTurn(object any) ([]string, error) { return []string{object.(*corev1.Pod).Labels["turn"]}, nil }

// The states that a slow handler is told of late are older than the index.
func TestASlowHandlerTakesNoIndexBack(t *testing.T) {
	client := server(t)
	namespace := fmt.Sprint("turns-", serial) // the handler's first events are all of it
	pods := [2]*corev1.Pod{}
	for i := range pods {
		pods[i] = create(t, client, func(pod *corev1.Pod) {
			pod.Namespace, pod.Labels = namespace, map[string]string{"turn": "1"}
		})
		defer remove(t, client, pods[i])
	}
	factory := agent(t, 0, clientgo.WithNamespace(namespace))
	informer := factory.Core().V1().Pods().Informer()
	must(t, informer.AddIndexers(cache.Indexers{"turn": byTurn}))
	inTurn2 := func() int {
		keys, err := informer.GetIndexer().IndexKeys("turn", "2")
		must(t, err)
		return len(keys)
	}
	told, left := make(chan int, 10), make(chan struct{})
	leave := sync.OnceFunc(func() { close(left) })
	t.Cleanup(leave)
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(object any) {
		told <- inTurn2()
		<-left
	}})
	must(t, err)
	start(t, factory)
	same(t, "in turn 2 at first", <-told, 0)
	for _, pod := range pods {
		label(t, client, pod, "turn", "2")
	}
	waitFor(t, func() bool { return inTurn2() == 2 })
	leave()
	same(t, "in turn 2, when the handler is told of turn 1", <-told, 2)
}

func TestAHandlerThatIsRemovedIsToldNothing(t *testing.T) {
	client := server(t)
	factory := agent(t, 0)
	informer := factory.Core().V1().Pods().Informer()
	gone, stays := listen(""), listen("")
	registration, err := informer.AddEventHandler(gone)
	must(t, err)
	_, err = informer.AddEventHandler(stays)
	must(t, err)
	start(t, factory)
	if !cache.WaitForCacheSync(context_(t).Done(), registration.HasSynced) {
		t.Fatal("the handler does not sync")
	}
	must(t, informer.RemoveEventHandler(registration))
	must(t, informer.RemoveEventHandler(registration))
	for range len(gone.ch) {
		gone.next(t, "add")
	}
	pod := create(t, client, nil)
	for e := stays.next(t, "add"); e.new.Name != pod.Name; e = stays.next(t, "add") {
	}
	remove(t, client, pod)
	stays.next(t, "delete")
	gone.nothing(t)
	if err = informer.RemoveEventHandler(nil); err == nil {
		t.Error("a handle of nobody was removed")
	}
}

// A handle has 64 watches.
func TestManyHandlers(t *testing.T) {
	client := server(t)
	pod := create(t, client, nil)
	defer remove(t, client, pod)
	handle := attach(t)
	factory := agent(t, 0, clientgo.WithHandle(handle), clientgo.WithNamespace(pod.Namespace))
	informer := factory.Core().V1().Pods().Informer()
	handlers := [140]*listener{}
	registrations := [len(handlers)]cache.ResourceEventHandlerRegistration{}
	for i := range handlers {
		handlers[i] = listen(pod.Name)
		var err error
		registrations[i], err = informer.AddEventHandler(handlers[i])
		must(t, err)
	}
	start(t, factory)
	for i, handler := range handlers {
		same(t, "added", handler.next(t, "add").new.UID, pod.UID)
		waitFor(t, registrations[i].HasSynced)
	}
	pod = label(t, client, pod, "a", "b")
	for _, handler := range handlers {
		same(t, "updated", handler.next(t, "update").new, pod)
	}
	if _, err := handle.Watch("pods", nil); err == nil {
		t.Error("the handle has room")
	}
	for _, registration := range registrations {
		must(t, informer.RemoveEventHandler(registration))
	}
	waitFor(t, func() bool {
		watch, err := handle.Watch("pods", nil)
		if err == nil {
			watch.Close()
		}
		return err == nil
	})
}

func TestAResyncTellsEachObjectAgain(t *testing.T) {
	client := server(t)
	begin := time.Now()
	factory := agent(t, time.Hour)
	informer := factory.Core().V1().Pods().Informer()
	all, never, late := listen(""), listen(""), listen("")
	_, err := informer.AddEventHandlerWithResyncPeriod(all, 300*time.Millisecond)
	must(t, err)
	_, err = informer.AddEventHandlerWithResyncPeriod(never, 0)
	must(t, err)
	start(t, factory)
	pods := ofServer(t, client, "", metav1.ListOptions{})
	for range pods {
		all.next(t, "add")
		never.next(t, "add")
	}
	for range 2 {
		again := []*corev1.Pod{}
		for range pods {
			e := all.next(t, "update")
			same(t, "old", e.old, e.new)
			again = append(again, e.new)
		}
		same(t, "all pods", names(again), names(pods))
	}
	if time.Since(begin) < 2*time.Second {
		t.Error("a period is less than a second")
	}
	never.nothing(t)
	_, err = informer.AddEventHandlerWithResyncPeriod(late, time.Second)
	must(t, err)
	for range pods {
		late.next(t, "add")
	}
	late.next(t, "update")
}

func TestAPeriodOfOneType(t *testing.T) {
	factory := agent(t, 0, clientgo.WithCustomResyncConfig(map[metav1.Object]time.Duration{&corev1.Pod{}: time.Second}))
	pod := ofServer(t, server(t), "", metav1.ListOptions{})[0]
	all := listen(pod.Name)
	_, err := factory.Core().V1().Pods().Informer().AddEventHandler(all)
	must(t, err)
	start(t, factory)
	all.next(t, "add")
	all.next(t, "update")
}

// As in client-go, which resyncs no more often than the informer did when it was started.
func TestAPeriodThatComesTooLate(t *testing.T) {
	pods := ofServer(t, server(t), "", metav1.ListOptions{})
	listeners := [2]*listener{}
	begin := time.Now()
	for i, period := range []time.Duration{0, 2 * time.Second} {
		factory := agent(t, period)
		informer := factory.Core().V1().Pods().Informer()
		start(t, factory)
		listeners[i] = listen("")
		_, err := informer.AddEventHandlerWithResyncPeriod(listeners[i], time.Second)
		must(t, err)
		for range pods {
			listeners[i].next(t, "add")
		}
	}
	listeners[1].next(t, "update")
	if time.Since(begin) < 2*time.Second {
		t.Error("it resyncs more often than the informer")
	}
	listeners[0].nothing(t)
}

func TestAStoreCanBeReadAfterShutdown(t *testing.T) {
	factory := clientgo.NewSharedInformerFactoryWithOptions(nil, 0, clientgo.WithSocket(os.Getenv("SOCKET")))
	store := factory.Core().V1().Pods().Informer().GetStore()
	ctx, cancel := context.WithCancel(context.Background())
	factory.StartWithContext(ctx)
	must(t, factory.WaitForCacheSyncWithContext(context_(t)).AsError())
	cancel()
	factory.Shutdown()
	if len(store.List()) == 0 {
		t.Error("the store is empty")
	}
}

func TestAFactoryStartsWhatItHasUntilItsShutdown(t *testing.T) {
	name, err := cache.NewInformerName(fmt.Sprint("informers-", serial))
	must(t, err)
	factory := agent(t, 0, clientgo.WithInformerName(name))
	same(t, "name", factory.InformerName(), name)
	factory.Core().V1().Pods().Informer()
	start(t, factory)
	factory.Core().V1().Nodes().Informer()
	started := factory.WaitForCacheSync(context_(t).Done())
	same(t, "synced", started, map[reflect.Type]bool{reflect.TypeFor[*corev1.Pod](): true})

	factory = agent(t, 0, clientgo.WithInformerName(name))
	factory.Core().V1().Pods().Informer()
	factory.Shutdown()
	factory.Start(context_(t).Done())
	same(t, "started after the end", len(factory.WaitForCacheSync(context_(t).Done())), 0)
	_, err = cache.NewInformerName(name.Name())
	must(t, err) // it is free again
}

func TestAnInformerThatWasStoppedTakesNoHandler(t *testing.T) {
	factory := clientgo.NewSharedInformerFactoryWithOptions(nil, 0, clientgo.WithSocket(os.Getenv("SOCKET")))
	informer := factory.Core().V1().Pods().Informer()
	ctx, cancel := context.WithCancel(context.Background())
	factory.StartWithContext(ctx)
	must(t, factory.WaitForCacheSyncWithContext(context_(t)).AsError())
	same(t, "stopped", informer.IsStopped(), false)
	if err := informer.SetTransform(nil); err == nil {
		t.Error("a transform was taken after the start")
	}
	cancel()
	factory.Shutdown()
	same(t, "stopped", informer.IsStopped(), true)
	if _, err := informer.AddEventHandler(listen("")); err == nil {
		t.Error("a handler was taken")
	}
	if err := informer.AddIndexers(cache.Indexers{}); err == nil {
		t.Error("indexers were taken")
	}
}

// ---- indexes

func byNode(object any) ([]string, error) { return []string{object.(*corev1.Pod).Spec.NodeName}, nil }

func TestAnIndexOfOnesOwn(t *testing.T) {
	client := server(t)
	factory := agent(t, 0)
	informer := factory.Core().V1().Pods().Informer()
	indexer := informer.GetIndexer()
	must(t, informer.AddIndexers(cache.Indexers{"node": byNode}))
	start(t, factory)
	must(t, informer.AddIndexers(cache.Indexers{"label": func(object any) ([]string, error) {
		values := []string{}
		for name, value := range object.(*corev1.Pod).Labels {
			values = append(values, name+"="+value)
		}
		return values, nil
	}})) // after the start: complete at once
	if err := informer.AddIndexers(cache.Indexers{"node": byNode}); err == nil {
		t.Error("an index was added twice")
	}
	server := ofServer(t, client, "", metav1.ListOptions{})
	byIndex := func(name, value string) []string {
		objects, err := indexer.ByIndex(name, value)
		must(t, err)
		pods := []*corev1.Pod{}
		for _, object := range objects {
			pods = append(pods, object.(*corev1.Pod))
		}
		return names(pods)
	}
	want := map[string][]*corev1.Pod{}
	for _, pod := range server {
		want[pod.Spec.NodeName] = append(want[pod.Spec.NodeName], pod)
	}
	for node, pods := range want {
		same(t, "pods of "+node, byIndex("node", node), names(pods))
		keys, err := indexer.IndexKeys("node", node)
		must(t, err)
		slices.Sort(keys)
		same(t, "keys of "+node, keys, names(pods))
	}
	nodes := indexer.ListIndexFuncValues("node")
	same(t, "nodes", len(nodes), len(want))
	same(t, "nobody", byIndex("node", "none"), []string{})
	app := nameLabel + "=" + server[0].Labels[nameLabel]
	same(t, app, byIndex("label", app), names(ofServer(t, client, "", metav1.ListOptions{LabelSelector: app})))
	in := server[0].Namespace
	same(t, in, byIndex(cache.NamespaceIndex, in), names(ofServer(t, client, in, metav1.ListOptions{})))
	same(t, "namespaces", slices.Contains(indexer.ListIndexFuncValues(cache.NamespaceIndex), server[0].Namespace), true)
	related, err := indexer.Index("node", server[0])
	must(t, err)
	same(t, "on the same node", len(related), len(want[server[0].Spec.NodeName]))
	own := fmt.Sprint(serial) // no other run has it
	twice := create(t, client, func(pod *corev1.Pod) { pod.Labels = map[string]string{"one": own, "two": own} })
	defer remove(t, client, twice)
	waitFor(t, func() bool { return len(byIndex("label", "two="+own)) == 1 })
	related, err = indexer.Index("label", twice)
	must(t, err)
	same(t, "with one of two labels", len(related), 1)
	if _, err = indexer.ByIndex("none", ""); err == nil {
		t.Error("an index that is not there was answered")
	}

	pod := create(t, client, func(pod *corev1.Pod) { pod.Labels = map[string]string{"color": "red-" + own} })
	waitFor(t, func() bool { return len(byIndex("label", "color=red-"+own)) == 1 })
	label(t, client, pod, "color", "blue-"+own)
	waitFor(t, func() bool { return len(byIndex("label", "color=blue-"+own)) == 1 })
	same(t, "the former value", byIndex("label", "color=red-"+own), []string{})
	remove(t, client, pod)
	waitFor(t, func() bool { return len(byIndex("label", "color=blue-"+own)) == 0 })
	waitFor(t, func() bool { return !slices.Contains(indexer.ListIndexFuncValues("label"), "color=blue-"+own) })
}

func TestIndexesAreCompleteOnceTheInformerHasSynced(t *testing.T) {
	pods := ofServer(t, server(t), "", metav1.ListOptions{})
	byName := func(object any) ([]string, error) { return []string{object.(*corev1.Pod).Name}, nil }
	for i := range 20 {
		factory := agent(t, 0)
		informer := factory.Core().V1().Pods().Informer()
		must(t, informer.AddIndexers(cache.Indexers{"name": byName}))
		ctx, _ := contexts.Load(factory)
		factory.StartWithContext(ctx.(context.Context))
		if i%2 == 1 { // while it starts
			must(t, informer.AddIndexers(cache.Indexers{"node": byNode}))
		}
		must(t, factory.WaitForCacheSyncWithContext(context_(t)).AsError())
		same(t, "names", len(informer.GetIndexer().ListIndexFuncValues("name")), len(pods))
	}
}

func TestAnInformerSyncsWithIndexersThatCameWhileOthersWereMade(t *testing.T) {
	for range 5 {
		factory := agent(t, 0)
		informer := factory.Core().V1().Pods().Informer()
		entered, leave := make(chan struct{}), make(chan struct{})
		t.Cleanup(func() { close(leave) })
		var first atomic.Bool
		must(t, informer.AddIndexers(cache.Indexers{"node": func(object any) ([]string, error) {
			if first.CompareAndSwap(false, true) {
				close(entered)
				<-leave
			}
			return byNode(object)
		}}))
		ctx, _ := contexts.Load(factory)
		factory.StartWithContext(ctx.(context.Context))
		<-entered
		must(t, informer.AddIndexers(cache.Indexers{"turn": byTurn}))
		must(t, factory.WaitForCacheSyncWithContext(context_(t)).AsError())
	}
}

func TestIndexersThatAreReplacedGiveBackTheirWatch(t *testing.T) {
	handle := attach(t)
	factory := agent(t, 0, clientgo.WithHandle(handle))
	informer := factory.Core().V1().Pods().Informer()
	start(t, factory)
	for i := range 5 {
		must(t, informer.AddIndexers(cache.Indexers{fmt.Sprint("node", i): byNode}))
	}
	others := 0
	waitFor(t, func() bool {
		watch, err := handle.Watch("pods", nil)
		if err == nil {
			t.Cleanup(watch.Close)
			others++
		}
		return others == 63
	})
}

func waitFor(t testing.TB, done func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it does not come")
		}
	}
}

// ---- options

func TestAFactoryOfOneNamespaceAndSelection(t *testing.T) {
	client := server(t)
	factory := agent(t, 0, clientgo.WithNamespace("default"), clientgo.WithTweakListOptions(func(list *metav1.ListOptions) {
		list.LabelSelector = "mine in (yes)"
		list.FieldSelector = "spec.nodeName=node-of-mine"
	}))
	pods := factory.Core().V1().Pods()
	all := listen("")
	_, err := pods.Informer().AddEventHandler(all)
	must(t, err)
	start(t, factory)
	listed := func() []string {
		list, err := pods.Lister().List(labels.Everything())
		must(t, err)
		return names(list)
	}
	same(t, "at first", listed(), []string{})
	others := []*corev1.Pod{}
	for _, edit := range []func(*corev1.Pod){
		func(pod *corev1.Pod) { pod.Labels = map[string]string{"mine": "yes"} },
		func(pod *corev1.Pod) { pod.Spec.NodeName = "node-of-mine" },
		func(pod *corev1.Pod) {
			pod.Namespace, pod.Labels, pod.Spec.NodeName = "elsewhere", map[string]string{"mine": "yes"}, "node-of-mine"
		},
	} {
		other := create(t, client, edit)
		defer remove(t, client, other)
		others = append(others, other)
	}
	pod := create(t, client, func(pod *corev1.Pod) { pod.Spec.NodeName = "node-of-mine" })
	defer remove(t, client, pod)
	pod = label(t, client, pod, "mine", "yes")
	same(t, "added", all.next(t, "add").new.Name, pod.Name)
	same(t, "what it selects", listed(), []string{"default/" + pod.Name})
	for _, other := range others {
		if _, err = pods.Lister().Pods(other.Namespace).Get(other.Name); err == nil {
			t.Error("a pod was found that is not selected:", other.Namespace, other.Labels, other.Spec.NodeName)
		}
		list, err := pods.Lister().Pods(other.Namespace).List(labels.Everything())
		must(t, err)
		same(t, "of "+other.Namespace, slices.Contains(names(list), other.Namespace+"/"+other.Name), false)
	}
	label(t, client, pod, "mine", "no")
	same(t, "deleted", all.next(t, "delete").new.Name, pod.Name)
	same(t, "at last", listed(), []string{})
}

func TestATransformAndItsError(t *testing.T) {
	client := server(t)
	pod := create(t, client, nil)
	defer remove(t, client, pod)
	factory := agent(t, 0, clientgo.WithTransform(func(object any) (any, error) {
		object.(*corev1.Pod).Spec.Containers = nil
		return object, nil
	}))
	all := listen(pod.Name)
	_, err := factory.Core().V1().Pods().Informer().AddEventHandler(all)
	must(t, err)
	start(t, factory)
	same(t, "containers", len(all.next(t, "add").new.Spec.Containers), 0)
	got, err := factory.Core().V1().Pods().Lister().Pods(pod.Namespace).Get(pod.Name)
	must(t, err)
	same(t, "containers", len(got.Spec.Containers), 0)

	factory = agent(t, 0, clientgo.WithTransform(func(any) (any, error) { return nil, errors.New("no") }))
	lister := factory.Core().V1().Pods().Lister()
	start(t, factory)
	if _, err = lister.Pods(pod.Namespace).Get(pod.Name); err == nil || !strings.Contains(err.Error(), "no") {
		t.Error("the transform's error:", err)
	}
}

// saysWhatToDo waits for the error of a resource that is not cached.
func saysWhatToDo(t testing.TB, errs <-chan error) {
	t.Helper()
	select {
	case err := <-errs:
		if !strings.Contains(err.Error(), "--resource") {
			t.Error("it does not say what to do:", err)
		}
	case <-time.After(patience):
		t.Fatal("nobody is told")
	}
}

func TestAResourceThatIsNotCachedDoesNotSync(t *testing.T) {
	factory := agent(t, 0)
	informer := factory.Networking().V1().Ingresses().Informer()
	errs := make(chan error, 100)
	must(t, informer.SetWatchErrorHandlerWithContext(func(ctx context.Context, r *cache.Reflector, err error) {
		cache.DefaultWatchErrorHandler(ctx, r, err)
		errs <- err
	}))
	ctx, _ := contexts.Load(factory)
	factory.StartWithContext(ctx.(context.Context))
	saysWhatToDo(t, errs)
	same(t, "synced", informer.HasSynced(), false)
	ended, end := context.WithCancel(context.Background())
	end()
	if err := factory.WaitForCacheSyncWithContext(ended).AsError(); err == nil {
		t.Error("the factory has synced")
	}
	same(t, "objects", informer.GetStore().List(), nil)
	_, exists, err := informer.GetStore().GetByKey("default/any")
	must(t, err)
	same(t, "exists", exists, false)
}

// Of Jobs informerd has one namespace, one selector and metadata.
func TestAResourceOfWhichAPartIsCached(t *testing.T) {
	parts := func(options ...clientgo.Option) string {
		factory := agent(t, 0, options...)
		informer := factory.Batch().V1().Jobs().Informer()
		errs := make(chan error, 100)
		must(t, informer.SetWatchErrorHandler(func(_ *cache.Reflector, err error) { errs <- err }))
		start(t, factory)
		select {
		case err := <-errs:
			_, parts, _ := strings.Cut(err.Error(), "asks for: ")
			return parts
		case <-time.After(patience):
			return "nobody is told"
		}
	}
	same(t, "of all", parts(), "namespace default, label selector cached, metadata only")
	same(t, "of a part", parts(clientgo.WithNamespace("default"), clientgo.WithTweakListOptions(func(list *metav1.ListOptions) {
		list.LabelSelector = "mine,cached"
	})), "metadata only")
}

// Each informer of client-go's factory is there, and asks for its resource.
func TestEveryInformerOfClientGosFactory(t *testing.T) {
	factory := agent(t, 0)
	real := informers.NewSharedInformerFactory(nil, 0)
	count := 0
	groups := reflect.TypeFor[informers.SharedInformerFactory]()
	for g := range groups.NumMethod() {
		method := groups.Method(g)
		if method.Type.NumIn() != 0 || method.Type.NumOut() != 1 || method.Type.Out(0).Name() != "Interface" {
			continue
		}
		group := reflect.ValueOf(factory).MethodByName(method.Name).Call(nil)[0]
		for v := range group.NumMethod() {
			version := group.Method(v).Call(nil)[0]
			for r := range version.NumMethod() {
				name := version.Type().Method(r).Name
				one := version.Method(r).Call(nil)[0]
				informer := one.MethodByName("Informer").Call(nil)[0].Interface().(cache.SharedIndexInformer)
				text := informer.HasSyncedChecker().Name() // … of resource.version or resource.version.group
				parts := strings.SplitN(text[strings.LastIndex(text, " ")+1:], ".", 3)
				gvr := schema.GroupVersionResource{Resource: parts[0], Version: parts[1]}
				if len(parts) == 3 {
					gvr.Group = parts[2]
				}
				if gvr.Resource != strings.ToLower(name) {
					t.Errorf("%s.%s asks for %v", method.Name, name, gvr)
				}
				if _, err := real.ForResource(gvr); err != nil {
					t.Error("client-go does not know", gvr)
				}
				generic, err := factory.ForResource(gvr)
				must(t, err)
				if generic.Informer().HasSyncedChecker() != informer.HasSyncedChecker() {
					t.Error("another informer by the name", gvr)
				}
				count++
			}
		}
	}
	if count < 60 {
		t.Error("only", count, "informers")
	}
	if _, err := factory.ForResource(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "none"}); err == nil {
		t.Error("a resource that nobody knows has an informer")
	}
}

// ---- other factories

// found waits until a lister has a pod.
func found(t testing.TB, lister cache.GenericLister, pod *corev1.Pod) (object runtime.Object) {
	t.Helper()
	waitFor(t, func() bool {
		var err error
		object, err = lister.ByNamespace(pod.Namespace).Get(pod.Name)
		return err == nil
	})
	return object
}

// byResource is dynamic and metadata factories.
type byResource interface {
	ForResource(schema.GroupVersionResource) informers.GenericInformer
	Start(<-chan struct{})
	WaitForCacheSync(<-chan struct{}) map[schema.GroupVersionResource]bool
	Shutdown()
}

// shown starts a factory and returns a pod as its lister has it.
func shown(t testing.TB, factory byResource, pod *corev1.Pod) runtime.Object {
	t.Helper()
	gvr := schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	informer := factory.ForResource(gvr)
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() {
		cancel()
		factory.Shutdown()
	})
	factory.Start(ctx.Done())
	same(t, "synced", factory.WaitForCacheSync(context_(t).Done()), map[schema.GroupVersionResource]bool{gvr: true})
	return found(t, informer.Lister(), pod)
}

func TestADynamicFactory(t *testing.T) {
	client := server(t)
	pod := create(t, client, nil)
	defer remove(t, client, pod)
	got := shown(t, clientgo.NewDynamicSharedInformerFactory(nil, 0, clientgo.WithSocket(os.Getenv("SOCKET"))),
		pod).(*unstructured.Unstructured)
	same(t, "kind", got.GetAPIVersion()+" "+got.GetKind(), "v1 Pod")
	same(t, "uid", got.GetUID(), pod.UID)
	image, _, err := unstructured.NestedSlice(got.Object, "spec", "containers")
	must(t, err)
	same(t, "image", image[0].(map[string]any)["image"], any("example.com/main:1"))
}

func TestAMetadataFactory(t *testing.T) {
	client := server(t)
	pod := create(t, client, func(pod *corev1.Pod) { pod.Labels = map[string]string{"a": "b"} })
	defer remove(t, client, pod)
	got := shown(t, clientgo.NewMetadataSharedInformerFactory(nil, 0, clientgo.WithSocket(os.Getenv("SOCKET"))),
		pod).(*metav1.PartialObjectMetadata)
	same(t, "kind", got.APIVersion+" "+got.Kind, "v1 Pod")
	same(t, "metadata", got.ObjectMeta, pod.ObjectMeta)
}

// ---- informerd is restarted

// restart kills informerd and starts it again; anew: without its arena.
func restart(t testing.TB, anew bool) {
	t.Helper()
	if anew {
		must(t, os.WriteFile(os.Getenv("RESTART")+".anew", nil, 0o600))
	}
	out, err := exec.Command(os.Getenv("RESTART")).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// toldOfAll is an informer of pods, and a handler that was told of each.
func toldOfAll(t testing.TB, indexers cache.Indexers) (cache.SharedIndexInformer, *listener) {
	t.Helper()
	factory := agent(t, 0)
	pods := factory.Core().V1().Pods().Informer()
	all := listen("")
	registration, err := pods.AddEventHandler(all)
	must(t, err)
	must(t, pods.AddIndexers(indexers))
	start(t, factory)
	if !cache.WaitForCacheSync(context_(t).Done(), registration.HasSynced) {
		t.Fatal("the handler does not sync")
	}
	for range len(all.ch) {
		all.next(t, "add")
	}
	return pods, all
}

// But a delete that nobody watched has, as after a relist of client-go's, a state that may not be the last.
func TestARestartOfInformerdIsNotSeen(t *testing.T) {
	client := server(t)
	gone := create(t, client, nil)
	pods, all := toldOfAll(t, cache.Indexers{"node": byNode})
	must(t, os.WriteFile(os.Getenv("RESTART")+".without", []byte(gone.Name), 0o600))
	restart(t, false)
	unseen := all.next(t, "delete")
	same(t, "deleted unseen", unseen.new, gone)
	same(t, "state unknown", unseen.tomb, true)
	pod := create(t, client, func(pod *corev1.Pod) { pod.Spec.NodeName = "node-of-restart" })
	same(t, "added", all.next(t, "add").new, pod)
	on, err := pods.GetIndexer().ByIndex("node", "node-of-restart")
	must(t, err)
	same(t, "in the index", len(on), 1)
	remove(t, client, pod)
	same(t, "deleted", all.next(t, "delete").new.Name, pod.Name)
	all.nothing(t)
}

// As after a relist of client-go's: updates of what is known, and deletes with a state that may not be the last.
func TestAnArenaThatIsMadeAnew(t *testing.T) {
	client := server(t)
	gone := create(t, client, nil)
	_, all := toldOfAll(t, nil)
	must(t, os.WriteFile(os.Getenv("RESTART")+".without", []byte(gone.Name), 0o600))
	restart(t, true)
	pod := create(t, client, nil)
	defer remove(t, client, pod)
	seen := map[string]int{}
	for seen["delete"] == 0 || seen["add"] == 0 {
		select {
		case e := <-all.ch:
			seen[e.what]++
			if e.what == "add" && e.new.Name != pod.Name {
				t.Fatal("told again of", e.new.Name)
			}
			if e.what == "delete" && (e.new.Name != gone.Name || e.new.Namespace != gone.Namespace || e.new.UID != gone.UID || !e.tomb) {
				t.Fatal("told of the end of", e.new.Name, e.new.UID, e.tomb)
			}
		case <-time.After(patience):
			t.Fatal("not told:", seen)
		}
	}
	same(t, "adds and deletes", []int{seen["add"], seen["delete"]}, []int{1, 1})
}
