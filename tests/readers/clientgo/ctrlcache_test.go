// SPDX-License-Identifier: Apache-2.0

package clientgo

// Operators that use controller-runtime's cache get the same from ctrlcache's. Beside it runs controller-runtime's own,
// on the same API server, which must answer the same. informerd must cache pods and nodes, and no secrets.

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"informer"
	"informer/clientgo"
	"informer/clientgo/ctrlcache"
)

func init() { ctrl.SetLogger(klog.Background()) }

func configOfServer(t testing.TB) *rest.Config {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	must(t, err)
	config.ContentType, config.QPS = "application/json", -1
	return config
}

// ours makes this node's cache; theirs, controller-runtime's own.
func ours(with ...clientgo.Option) cache.NewCacheFunc {
	return ctrlcache.NewWith(append([]clientgo.Option{clientgo.WithSocket(os.Getenv("SOCKET"))}, with...)...)
}

func theirs(config *rest.Config, options cache.Options) (cache.Cache, error) {
	return cache.New(config, options)
}

// made is a cache that is not started.
func made(t testing.TB, newCache cache.NewCacheFunc, options cache.Options) cache.Cache {
	t.Helper()
	made, err := newCache(configOfServer(t), options)
	must(t, err)
	return made
}

// run starts a cache. It ends with the test, or by the function.
func run(t testing.TB, c cache.Cache) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- c.Start(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		must(t, <-ended)
	})
	t.Cleanup(stop)
	if !c.WaitForCacheSync(context_(t)) {
		t.Fatal("the cache does not sync")
	}
	return stop
}

// caughtUp waits until informerd has what the API server has, so that controller-runtime's cache, which lists now, is no
// newer.
func caughtUp(t testing.TB) {
	t.Helper()
	client_, mine := server(t), made(t, ours(), cache.Options{})
	stop := run(t, mine)
	defer stop()
	states := func(items []client.Object) (all []string) {
		for _, o := range items {
			all = append(all, o.GetNamespace()+"/"+o.GetName()+" "+o.GetResourceVersion())
		}
		slices.Sort(all)
		return all
	}
	waitFor(t, func() bool {
		pods := []client.Object{}
		for _, pod := range ofServer(t, client_, "", metav1.ListOptions{}) {
			pods = append(pods, pod)
		}
		list := forms["metadata"].list()
		must(t, mine.List(context_(t), list))
		return slices.Equal(states(itemsOf(t, list)), states(pods))
	})
}

// each has a test of both caches with the same options, started.
func each(t *testing.T, options cache.Options, prepare func(cache.Cache)) (mine, real cache.Cache) {
	t.Helper()
	caughtUp(t)
	mine, real = made(t, ours(), options), made(t, theirs, options)
	for _, c := range []cache.Cache{mine, real} {
		if prepare != nil {
			prepare(c)
		}
		run(t, c)
	}
	return mine, real
}

// shows waits until a cache has a pod's state.
func shows(t testing.TB, pod *corev1.Pod, caches ...client.Reader) {
	t.Helper()
	for _, c := range caches {
		waitFor(t, func() bool {
			var got corev1.Pod
			return c.Get(context_(t), client.ObjectKeyFromObject(pod), &got) == nil && got.ResourceVersion == pod.ResourceVersion
		})
	}
}

// Outcomes are compared: an error by what a caller can tell of it, objects without the managedFields that informerd drops.

func outcome(err error) string {
	var notCached *cache.ErrResourceNotCached
	var notStarted *cache.ErrCacheNotStarted
	switch {
	case err == nil:
		return ""
	case errors.As(err, &notCached), errors.As(err, &notStarted):
		return fmt.Sprintf("%T: %v", err, err)
	case apierrors.ReasonForError(err) != metav1.StatusReasonUnknown:
		status := err.(apierrors.APIStatus).Status()
		return fmt.Sprint(status.Code, status.Reason, status.Message, status.Details)
	}
	return "refused"
}

func sameGet(t testing.TB, what string, mine, real client.Reader, key client.ObjectKey, object client.Object) client.Object {
	t.Helper()
	want := object.DeepCopyObject().(client.Object)
	err, errReal := mine.Get(context_(t), key, object), real.Get(context_(t), key, want)
	same(t, what+": the error", outcome(err), outcome(errReal))
	want.SetManagedFields(nil)
	same(t, what, object, want)
	return object
}

func itemsOf(t testing.TB, list client.ObjectList) (items []client.Object) {
	t.Helper()
	must(t, meta.EachListItem(list, func(o runtime.Object) error {
		o.(client.Object).SetManagedFields(nil)
		items = append(items, o.(client.Object))
		return nil
	}))
	slices.SortFunc(items, func(a, b client.Object) int {
		return strings.Compare(a.GetNamespace()+"/"+a.GetName(), b.GetNamespace()+"/"+b.GetName())
	})
	return items
}

func sameList(t testing.TB, what string, mine, real client.Reader, list client.ObjectList, options ...client.ListOption) []client.Object {
	t.Helper()
	want := list.DeepCopyObject().(client.ObjectList)
	err, errReal := mine.List(context_(t), list, options...), real.List(context_(t), want, options...)
	same(t, what+": the error", outcome(err), outcome(errReal))
	same(t, what+": continue", list.GetContinue(), want.GetContinue())
	got := itemsOf(t, list)
	same(t, what, got, itemsOf(t, want))
	return got
}

func namesOf(objects []client.Object) []string {
	all := []string{}
	for _, o := range objects {
		all = append(all, o.GetNamespace()+"/"+o.GetName())
	}
	return all
}

// podsOf a cache.
func podsOf(t testing.TB, c client.Reader, options ...client.ListOption) []string {
	t.Helper()
	var list corev1.PodList
	must(t, c.List(context_(t), &list, options...))
	return namesOf(itemsOf(t, &list))
}

var podKind = schema.GroupVersionKind{Version: "v1", Kind: "Pod"}

// forms are how an operator may ask for pods.
var forms = map[string]struct {
	one  func() client.Object
	list func() client.ObjectList
}{
	"typed": {func() client.Object { return &corev1.Pod{} }, func() client.ObjectList { return &corev1.PodList{} }},
	"unstructured": {func() client.Object {
		o := &unstructured.Unstructured{}
		o.SetGroupVersionKind(podKind)
		return o
	}, func() client.ObjectList {
		l := &unstructured.UnstructuredList{}
		l.SetGroupVersionKind(podKind.GroupVersion().WithKind("PodList"))
		return l
	}},
	"metadata": {func() client.Object {
		o := &metav1.PartialObjectMetadata{}
		o.SetGroupVersionKind(podKind)
		return o
	}, func() client.ObjectList {
		l := &metav1.PartialObjectMetadataList{}
		l.SetGroupVersionKind(podKind.GroupVersion().WithKind("PodList"))
		return l
	}},
}

// ---- Get and List

func TestCtrlReadsAnswerAsControllerRuntimes(t *testing.T) {
	client_ := server(t)
	some := create(t, client_, func(pod *corev1.Pod) { pod.Labels = map[string]string{"ctrl": "read"} })
	defer remove(t, client_, some)
	pods := ofServer(t, client_, "", metav1.ListOptions{})
	app := pods[0].Labels[nameLabel]
	mine, real := each(t, cache.Options{}, nil)
	shows(t, some, mine, real)
	for form, of := range forms {
		all := sameList(t, form+", all", mine, real, of.list())
		same(t, form+", how many", len(all), len(pods))
		for _, pod := range append(pods[:3:3], some) {
			got := sameGet(t, form+", "+pod.Name, mine, real, client.ObjectKeyFromObject(pod), of.one())
			same(t, form+": the kind", got.GetObjectKind().GroupVersionKind(), podKind)
			same(t, form+": the UID", got.GetUID(), pod.UID)
		}
		same(t, form+": the kind in a list", all[0].GetObjectKind().GroupVersionKind(), podKind)
		sameGet(t, form+", none", mine, real, client.ObjectKey{Namespace: "default", Name: "none"}, of.one())
		sameGet(t, form+", without its namespace", mine, real, client.ObjectKey{Name: some.Name}, of.one())
		in := sameList(t, form+", a namespace's", mine, real, of.list(), client.InNamespace(pods[0].Namespace))
		selected := sameList(t, form+", by label", mine, real, of.list(), client.MatchingLabels{nameLabel: app})
		if len(in) == 0 || len(selected) == 0 || len(in) == len(all) || len(selected) == len(all) {
			t.Error(form, "selects all or nothing:", len(in), len(selected), len(all))
		}
		sameList(t, form+", both", mine, real, of.list(), client.InNamespace(pods[0].Namespace), client.MatchingLabels{nameLabel: app})
		sameList(t, form+", no namespace", mine, real, of.list(), client.InNamespace("none"))
		sameList(t, form+", a later page", mine, real, of.list(), client.Continue("more"))
		sameList(t, form+", without an index", mine, real, of.list(), client.MatchingFields{"spec.nodeName": "node-1"})
		list := of.list()
		must(t, mine.List(context_(t), list, client.Limit(3)))
		same(t, form+", limited", len(itemsOf(t, list)), 3)
	}
	sameList(t, "a metadata list", mine, real, forms["metadata"].list(), client.HasLabels{"ctrl"})
}

func TestCtrlClusterScopedKinds(t *testing.T) {
	mine, real := each(t, cache.Options{DefaultNamespaces: map[string]cache.Config{"default": {}}}, nil)
	nodes := sameList(t, "nodes", mine, real, &corev1.NodeList{})
	same(t, "how many", len(nodes) > 1, true)
	sameGet(t, "a node", mine, real, client.ObjectKeyFromObject(nodes[0]), &corev1.Node{})
	sameGet(t, "no node", mine, real, client.ObjectKey{Name: "none"}, &corev1.Node{})
	got := &corev1.NodeList{}
	must(t, mine.List(context_(t), got, client.MatchingFields{"metadata.name": nodes[1].GetName()}))
	same(t, "by name", namesOf(itemsOf(t, got)), namesOf(nodes[1:2]))
}

func TestCtrlWhatIsReadIsTheCallersOwn(t *testing.T) {
	client_ := server(t)
	pod := create(t, client_, func(pod *corev1.Pod) { pod.Labels = map[string]string{"own": "yes"} })
	defer remove(t, client_, pod)
	key := client.ObjectKeyFromObject(pod)
	image := func(c client.Reader, options ...client.GetOption) *string {
		var got corev1.Pod
		must(t, c.Get(context_(t), key, &got, options...))
		return &got.Spec.Containers[0].Image
	}
	listed := func(c client.Reader, options ...client.ListOption) *string {
		var got corev1.PodList
		must(t, c.List(context_(t), &got, append(options, client.MatchingLabels{"own": "yes"})...))
		return &got.Items[0].Spec.Containers[0].Image
	}
	yes := true
	for _, options := range []cache.Options{{}, {DefaultUnsafeDisableDeepCopy: &yes},
		{ByObject: map[client.Object]cache.ByObject{&corev1.Pod{}: {UnsafeDisableDeepCopy: &yes}}}} {
		shared := options.DefaultUnsafeDisableDeepCopy != nil || options.ByObject != nil
		mine := made(t, ours(clientgo.WithCacheBytes(1<<30)), options) // room for all, so that none is made twice
		run(t, mine)
		shows(t, pod, mine)
		same(t, "shared by Get", image(mine) == image(mine), shared)
		same(t, "shared by List", listed(mine) == listed(mine), shared)
		same(t, "shared by both, where the call says so",
			image(mine, client.UnsafeDisableDeepCopy) == listed(mine, client.UnsafeDisableDeepCopy), true)
		if !shared {
			*image(mine), *listed(mine) = "changed", "changed"
			same(t, "the image", *image(mine), "example.com/main:1")
		}
	}
}

func TestCtrlBeforeAndAfterTheStart(t *testing.T) {
	for name, newCache := range map[string]cache.NewCacheFunc{"ours": ours(), "theirs": theirs} {
		c := made(t, newCache, cache.Options{})
		var notStarted *cache.ErrCacheNotStarted
		if err := c.Get(context_(t), client.ObjectKey{Name: "any"}, &corev1.Pod{}); !errors.As(err, &notStarted) {
			t.Error(name, "Get before the start:", err)
		}
		if err := c.List(context_(t), &corev1.PodList{}); !errors.As(err, &notStarted) {
			t.Error(name, "List before the start:", err)
		}
		informer, err := c.GetInformer(context_(t), &corev1.Pod{})
		must(t, err)
		same(t, name+" synced", informer.HasSynced(), false)
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		same(t, name+" synced before the start", c.WaitForCacheSync(ended), false)
		stop := run(t, c)
		same(t, name+" synced", informer.HasSynced(), true)
		must(t, c.List(context_(t), &corev1.PodList{}))
		if err = c.Start(context_(t)); err == nil {
			t.Error(name, "was started twice")
		}
		must(t, c.List(context_(t), &corev1.PodList{}))
		stop()
		same(t, name+" stopped", informer.IsStopped(), true)
		same(t, name+" shows what was last", len(podsOf(t, c)) > 0, true)
	}
}

func TestCtrlReaderFailOnMissingInformer(t *testing.T) {
	mine, real := each(t, cache.Options{ReaderFailOnMissingInformer: true}, nil)
	sameList(t, "no informer", mine, real, &corev1.PodList{})
	sameGet(t, "no informer", mine, real, client.ObjectKey{Name: "any"}, &corev1.Pod{})
	var notCached *cache.ErrResourceNotCached
	if err := mine.List(context_(t), &corev1.PodList{}); !errors.As(err, &notCached) || notCached.GVK != podKind {
		t.Error("a list without an informer:", err)
	}
	for _, c := range []cache.Cache{mine, real} {
		_, err := c.GetInformer(context_(t), &corev1.Pod{})
		must(t, err)
	}
	if len(sameList(t, "an informer", mine, real, &corev1.PodList{})) == 0 {
		t.Error("no pods")
	}
	if err := mine.List(context_(t), forms["unstructured"].list()); !errors.As(err, &notCached) {
		t.Error("a list of another form:", err)
	}
}

func TestCtrlAsksTheServerForDiscoveryAlone(t *testing.T) {
	config := configOfServer(t)
	var mu sync.Mutex
	var asked []string
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(r *http.Request) (*http.Response, error) {
			mu.Lock()
			asked = append(asked, r.URL.Path)
			mu.Unlock()
			return next.RoundTrip(r)
		})
	})
	mine, err := ours()(config, cache.Options{})
	must(t, err)
	run(t, mine)
	for _, of := range forms {
		must(t, mine.List(context_(t), of.list()))
	}
	must(t, mine.List(context_(t), &corev1.NodeList{}))
	mu.Lock()
	defer mu.Unlock()
	if len(asked) == 0 {
		t.Error("the test does not see requests")
	}
	for _, path := range asked {
		if strings.Contains(path, "/pods") || strings.Contains(path, "/nodes") {
			t.Error("the API server was asked for", path)
		}
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// ---- options

func byPod(of cache.ByObject) map[client.Object]cache.ByObject {
	return map[client.Object]cache.ByObject{&corev1.Pod{}: of}
}

func selecting(text string) labels.Selector {
	selector, err := labels.Parse(text)
	if err != nil {
		panic(err)
	}
	return selector
}

// Each of the options shows what it shows in controller-runtime's cache, which is some pods, but not all.
func TestCtrlOptionsNarrowAsControllerRuntimes(t *testing.T) {
	client_ := server(t)
	var in []string // namespaces
	for _, pod := range ofServer(t, client_, "", metav1.ListOptions{}) {
		if !slices.Contains(in, pod.Namespace) {
			in = append(in, pod.Namespace)
		}
	}
	one, other, third := in[0], in[1], in[2]
	odd := create(t, client_, func(pod *corev1.Pod) {
		pod.Namespace, pod.Labels, pod.Spec.NodeName = one, map[string]string{"pick": "yes"}, "node-of-ctrl"
	})
	t.Cleanup(func() { remove(t, client_, odd) })
	pods := ofServer(t, client_, "", metav1.ListOptions{})
	app := pods[0].Labels[nameLabel]
	pick, node := selecting("pick in (yes)"), fields.OneTermEqualSelector("spec.nodeName", "node-of-ctrl")
	for what, options := range map[string]cache.Options{
		"one namespace":      {DefaultNamespaces: map[string]cache.Config{one: {}}},
		"two namespaces":     {DefaultNamespaces: map[string]cache.Config{one: {}, other: {}}},
		"all but a label":    {DefaultNamespaces: map[string]cache.Config{one: {LabelSelector: pick}, cache.AllNamespaces: {}}},
		"a namespace's node": {DefaultNamespaces: map[string]cache.Config{one: {FieldSelector: node}, other: {}}},
		"a label":            {DefaultLabelSelector: pick},
		"not an app":         {DefaultLabelSelector: selecting(nameLabel + "!=" + app)},
		"a field":            {DefaultFieldSelector: node},
		"the namespace":      {DefaultFieldSelector: fields.OneTermEqualSelector("metadata.namespace", other)},
		"of a kind, label":   {ByObject: byPod(cache.ByObject{Label: pick})},
		"of a kind, field":   {ByObject: byPod(cache.ByObject{Field: node})},
		"of a kind, both":    {ByObject: byPod(cache.ByObject{Label: pick, Field: node})},
		"of a kind, namespaces": {ByObject: byPod(cache.ByObject{
			Namespaces: map[string]cache.Config{one: {LabelSelector: pick}, other: {}}}), DefaultFieldSelector: fields.Everything()},
		"of a kind, before the default": {ByObject: byPod(cache.ByObject{Label: pick}), DefaultLabelSelector: selecting("pick=no")},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			mine, real := each(t, options, nil)
			for form, of := range forms {
				got := sameList(t, form, mine, real, of.list())
				if len(got) == 0 || len(got) == len(pods) {
					t.Error(form, "shows", len(got), "of", len(pods))
				}
				sameList(t, form+" in "+one, mine, real, of.list(), client.InNamespace(one))
				sameList(t, form+" in "+other, mine, real, of.list(), client.InNamespace(other))
				sameList(t, form+" in "+third, mine, real, of.list(), client.InNamespace(third))
				sameGet(t, form, mine, real, client.ObjectKeyFromObject(odd), of.one())
				sameGet(t, form, mine, real, client.ObjectKeyFromObject(pods[0]), of.one())
			}
			list := &corev1.PodList{}
			must(t, mine.List(context_(t), list, client.Limit(1)))
			same(t, "limited", len(list.Items), 1)
		})
	}
}

func TestCtrlAFieldSelectorOfAnyPath(t *testing.T) {
	client_ := server(t)
	pod := create(t, client_, func(pod *corev1.Pod) { pod.Spec.Containers[0].Image = "example.com/any,path=\\:1" })
	defer remove(t, client_, pod)
	mine := made(t, ours(), cache.Options{ByObject: byPod(cache.ByObject{
		Field: fields.OneTermEqualSelector("spec.containers[*].image", pod.Spec.Containers[0].Image)})})
	run(t, mine)
	shows(t, pod, mine)
	same(t, "pods", podsOf(t, mine), []string{"default/" + pod.Name})
}

func TestCtrlTransforms(t *testing.T) {
	client_ := server(t)
	pod := create(t, client_, nil)
	defer remove(t, client_, pod)
	mark := func(value string) toolscache.TransformFunc {
		return func(object any) (any, error) {
			object.(client.Object).SetAnnotations(map[string]string{"by": value})
			return object, nil
		}
	}
	mine, real := each(t, cache.Options{DefaultTransform: mark("default"), ByObject: map[client.Object]cache.ByObject{
		&corev1.Node{}: {Transform: mark("node")}}}, nil)
	shows(t, pod, mine, real)
	for form, of := range forms {
		got := sameGet(t, form, mine, real, client.ObjectKeyFromObject(pod), of.one())
		same(t, form, got.GetAnnotations()["by"], "default")
	}
	same(t, "of a node", sameList(t, "nodes", mine, real, &corev1.NodeList{})[0].GetAnnotations()["by"], "node")
}

func TestCtrlASyncPeriod(t *testing.T) {
	caughtUp(t)
	period := 300 * time.Millisecond
	mine := made(t, ours(), cache.Options{SyncPeriod: &period})
	run(t, mine)
	informer, err := mine.GetInformer(context_(t), &corev1.Pod{})
	must(t, err)
	all := listen("")
	_, err = informer.AddEventHandler(all)
	must(t, err)
	pods := podsOf(t, mine)
	for range pods {
		all.next(t, "add")
	}
	for range 2 * len(pods) {
		e := all.next(t, "update")
		same(t, "old", e.old, e.new)
	}
}

func TestCtrlASchemeAndAMapperOfOnesOwn(t *testing.T) {
	scheme := runtime.NewScheme()
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(podKind, meta.RESTScopeNamespace)
	mine, err := ours()(&rest.Config{Host: "http://192.0.2.1"}, cache.Options{Scheme: scheme, Mapper: mapper}) // nobody answers there
	must(t, err)
	run(t, mine)
	if err = mine.List(context_(t), &corev1.PodList{}); !runtime.IsNotRegisteredError(err) {
		t.Error("a type that the scheme does not have:", err)
	}
	for form, of := range forms {
		if form == "typed" {
			continue
		}
		list := of.list()
		must(t, mine.List(context_(t), list))
		same(t, form, len(itemsOf(t, list)) > 0, true)
	}
	nodes := &unstructured.UnstructuredList{}
	nodes.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "NodeList"})
	if err = mine.List(context_(t), nodes); !meta.IsNoMatchError(err) {
		t.Error("a kind that the mapper does not have:", err)
	}
}

// ---- indexes

func nodeOf(o client.Object) []string { return []string{o.(*corev1.Pod).Spec.NodeName} }

func TestCtrlIndexField(t *testing.T) {
	client_ := server(t)
	pods := ofServer(t, client_, "", metav1.ListOptions{})
	node, in := pods[0].Spec.NodeName, pods[0].Namespace
	for what, options := range map[string]cache.Options{"": {}, ", by namespaces": {DefaultNamespaces: map[string]cache.Config{
		in: {}, cache.AllNamespaces: {}}}} {
		mine, real := each(t, options, func(c cache.Cache) { // before the start
			must(t, c.IndexField(context_(t), &corev1.Pod{}, "spec.nodeName", nodeOf))
			must(t, c.IndexField(context_(t), &corev1.Pod{}, "metadata.name", func(o client.Object) []string {
				return []string{o.GetName(), "name"}
			}))
		})
		for _, c := range []cache.Cache{mine, real} { // after it: complete at once
			must(t, c.IndexField(context_(t), &corev1.Pod{}, "app", func(o client.Object) []string {
				return []string{o.GetLabels()[nameLabel]}
			}))
			if err := c.IndexField(context_(t), &corev1.Pod{}, "app", nodeOf); err == nil {
				t.Error("an index was added twice", what)
			}
		}
		list := func(what string, options ...client.ListOption) int {
			return len(sameList(t, what, mine, real, &corev1.PodList{}, options...))
		}
		app := pods[0].Labels[nameLabel]
		same(t, "on a node"+what, list("on a node"+what, client.MatchingFields{"spec.nodeName": node}) > 1, true)
		list("on a node, in a namespace"+what, client.MatchingFields{"spec.nodeName": node}, client.InNamespace(in))
		list("two fields"+what, client.MatchingFields{"spec.nodeName": node, "app": app})
		list("a field and a label"+what, client.MatchingFields{"spec.nodeName": node}, client.MatchingLabels{nameLabel: app})
		same(t, "a name"+what, list("a name"+what, client.MatchingFields{"metadata.name": pods[0].Name}), 1)
		same(t, "an index in the name's place"+what, list(what, client.MatchingFields{"metadata.name": "name"}), len(pods))
		same(t, "nowhere"+what, list("nowhere"+what, client.MatchingFields{"spec.nodeName": "none"}), 0)
		list("not exact"+what, client.MatchingFieldsSelector{Selector: fields.OneTermNotEqualSelector("spec.nodeName", node)})
	}
}

func TestCtrlAnIndexFollowsChanges(t *testing.T) {
	client_ := server(t)
	mine := made(t, ours(), cache.Options{})
	must(t, mine.IndexField(context_(t), &corev1.Pod{}, "turn", func(o client.Object) []string { return []string{o.GetLabels()["turn"]} }))
	run(t, mine)
	of := func(turn string) int { return len(podsOf(t, mine, client.MatchingFields{"turn": turn})) }
	pod := create(t, client_, func(pod *corev1.Pod) { pod.Labels = map[string]string{"turn": "first"} })
	waitFor(t, func() bool { return of("first") == 1 })
	label(t, client_, pod, "turn", "second")
	waitFor(t, func() bool { return of("second") == 1 })
	same(t, "the former value", of("first"), 0)
	remove(t, client_, pod)
	waitFor(t, func() bool { return of("second") == 0 })
}

// controller-runtime's own cache wants IndexField for these.
func TestCtrlListsByNameAndNamespaceWithoutAnIndex(t *testing.T) {
	client_ := server(t)
	pods := ofServer(t, client_, "", metav1.ListOptions{})
	name, in := pods[0].Name, pods[0].Namespace
	mine, real := each(t, cache.Options{}, func(c cache.Cache) {
		must(t, c.IndexField(context_(t), &corev1.Pod{}, "spec.nodeName", nodeOf))
	})
	must(t, real.IndexField(context_(t), &corev1.Pod{}, "metadata.name", func(o client.Object) []string { return []string{o.GetName()} }))
	must(t, real.IndexField(context_(t), &corev1.Pod{}, "metadata.namespace", func(o client.Object) []string { return []string{o.GetNamespace()} }))
	for what, by := range map[string]client.MatchingFields{
		"a name":            {"metadata.name": name},
		"no name":           {"metadata.name": "none"},
		"a namespace":       {"metadata.namespace": in},
		"both":              {"metadata.name": name, "metadata.namespace": in},
		"another namespace": {"metadata.name": name, "metadata.namespace": "none"},
		"and a node":        {"metadata.name": name, "spec.nodeName": pods[0].Spec.NodeName},
		"and another node":  {"metadata.name": name, "spec.nodeName": "none"},
		"of a node":         {"metadata.namespace": in, "spec.nodeName": pods[0].Spec.NodeName},
	} {
		some := len(sameList(t, what, mine, real, &corev1.PodList{}, by)) > 0
		same(t, what, some, !strings.HasPrefix(what, "no") && !strings.Contains(what, "another"))
		sameList(t, what+", there", mine, real, &corev1.PodList{}, by, client.InNamespace(in))
		sameList(t, what+", elsewhere", mine, real, &corev1.PodList{}, by, client.InNamespace("none"))
	}
}

// ---- informers

func TestCtrlInformers(t *testing.T) {
	caughtUp(t)
	client_ := server(t)
	mine := made(t, ours(), cache.Options{})
	run(t, mine)
	informer, err := mine.GetInformer(context_(t), &corev1.Pod{})
	must(t, err)
	same(t, "synced", informer.HasSynced(), true) // it waits
	byKind, err := mine.GetInformerForKind(context_(t), podKind)
	must(t, err)
	same(t, "one for both", byKind.HasSyncedChecker() == informer.HasSyncedChecker(), true)
	all := listen("")
	registration, err := informer.AddEventHandler(all)
	must(t, err)
	for range podsOf(t, mine) {
		same(t, "initial", all.next(t, "add").initial, true)
	}
	waitFor(t, registration.HasSynced)
	pod := create(t, client_, nil)
	added := all.next(t, "add")
	same(t, "added", added.new, pod)
	var got corev1.Pod
	must(t, mine.Get(context_(t), client.ObjectKeyFromObject(pod), &got)) // never older than the event
	changed := label(t, client_, pod, "step", "2")
	same(t, "updated", all.next(t, "update").new, changed)
	remove(t, client_, pod)
	same(t, "deleted", all.next(t, "delete").new.Name, pod.Name)
	must(t, informer.RemoveEventHandler(registration))

	must(t, mine.RemoveInformer(context_(t), &corev1.Pod{}))
	waitFor(t, informer.IsStopped)
	same(t, "pods", len(podsOf(t, mine)) > 0, true)
	another, err := mine.GetInformer(context_(t), &corev1.Pod{})
	must(t, err)
	same(t, "another", another.HasSyncedChecker() != informer.HasSyncedChecker(), true)
}

func TestCtrlAnInformerIsOfItsKindsResource(t *testing.T) {
	mine := made(t, ours(), cache.Options{})
	for object, resource := range map[client.Object]string{&corev1.Pod{}: "pods.v1", &corev1.Namespace{}: "namespaces.v1",
		&appsv1.Deployment{}: "deployments.v1.apps"} {
		informer, err := mine.GetInformer(context_(t), object)
		must(t, err)
		name := informer.HasSyncedChecker().Name()
		same(t, "resource", name[strings.LastIndex(name, " ")+1:], resource)
	}
}

func TestCtrlInformersOfSeveralNamespaces(t *testing.T) {
	client_ := server(t)
	mine := made(t, ours(), cache.Options{DefaultNamespaces: map[string]cache.Config{"default": {}, "none": {}}})
	run(t, mine)
	informer, err := mine.GetInformer(context_(t), &corev1.Pod{})
	must(t, err)
	pod := create(t, client_, nil)
	defer remove(t, client_, pod)
	all := listen(pod.Name)
	registration, err := informer.AddEventHandler(all)
	must(t, err)
	same(t, "added", all.next(t, "add").new.Name, pod.Name)
	waitFor(t, registration.HasSynced)
}

func TestCtrlAKindThatIsNotCachedDoesNotSync(t *testing.T) {
	errs := make(chan error, 100)
	mine := made(t, ours(), cache.Options{DefaultWatchErrorHandler: func(_ context.Context, _ *toolscache.Reflector, err error) {
		errs <- err
	}})
	run(t, mine)
	informer, err := mine.GetInformer(context_(t), &networkingv1.Ingress{}, cache.BlockUntilSynced(false))
	must(t, err)
	saysWhatToDo(t, errs)
	same(t, "synced", informer.HasSynced(), false)
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	if err = mine.List(ctx, &networkingv1.IngressList{}); !apierrors.IsTimeout(err) {
		t.Error("a list:", err)
	}
}

// As a server that refuses the list: the cache does not sync, and says why.
func TestCtrlASelectorThatCannotBeUnderstood(t *testing.T) {
	errs := make(chan error, 100)
	mine := made(t, ours(), cache.Options{DefaultFieldSelector: fields.OneTermEqualSelector("a[", "b"),
		DefaultWatchErrorHandler: func(_ context.Context, _ *toolscache.Reflector, err error) { errs <- err }})
	run(t, mine)
	informer, err := mine.GetInformer(context_(t), &corev1.Pod{}, cache.BlockUntilSynced(false))
	must(t, err)
	select {
	case err := <-errs:
		if !strings.Contains(err.Error(), "field selector") {
			t.Error("it does not say why:", err)
		}
	case <-time.After(patience):
		t.Fatal("nobody is told")
	}
	same(t, "synced", informer.HasSynced(), false)
}

// ---- the cache as a whole

func TestCtrlAHandleOfOnesOwn(t *testing.T) {
	handle, err := informer.Attach(&informer.Options{Socket: os.Getenv("SOCKET")})
	must(t, err)
	defer handle.Close()
	for range 2 { // it outlives the cache
		mine := made(t, ctrlcache.NewWith(clientgo.WithHandle(handle)), cache.Options{})
		stop := run(t, mine)
		same(t, "pods", len(podsOf(t, mine)) > 0, true)
		stop()
	}
}

func TestCtrlAReadThatFailsIsNoEmptyAnswer(t *testing.T) {
	client_ := server(t)
	pod := create(t, client_, nil)
	defer remove(t, client_, pod)
	handle, err := informer.Attach(&informer.Options{Socket: os.Getenv("SOCKET")})
	must(t, err)
	mine := made(t, ctrlcache.NewWith(clientgo.WithHandle(handle)), cache.Options{})
	must(t, mine.IndexField(context_(t), &corev1.Pod{}, "spec.nodeName", nodeOf))
	run(t, mine)
	shows(t, pod, mine)
	handle.Close()
	for what, options := range map[string][]client.ListOption{"all": nil, "a namespace": {client.InNamespace(pod.Namespace)},
		"a label": {client.MatchingLabels{"none": "none"}}, "a field": {client.MatchingFields{"spec.nodeName": ""}},
		"a name": {client.MatchingFields{"metadata.name": pod.Name}}} {
		if err := mine.List(context_(t), &corev1.PodList{}, options...); !errors.Is(err, informer.ErrClosed) {
			t.Error(what, "listed:", err)
		}
	}
	if err := mine.Get(context_(t), client.ObjectKeyFromObject(pod), &corev1.Pod{}); !errors.Is(err, informer.ErrClosed) {
		t.Error("Get:", err)
	}
}

func TestCtrlRefusesInformersOfOnesOwn(t *testing.T) {
	_, err := ctrlcache.New(configOfServer(t), cache.Options{NewInformer: toolscache.NewSharedIndexInformer})
	if err == nil || !strings.Contains(err.Error(), "NewInformer") {
		t.Error("NewInformer:", err)
	}
	if _, err = ours()(&rest.Config{Host: "http://127.0.0.1:1", TLSClientConfig: rest.TLSClientConfig{
		CAFile: "/nowhere"}}, cache.Options{}); err == nil {
		t.Error("a config without sense was taken")
	}
}

// An operator of today, with NewCache alone: its controller reconciles, and reads what it wrote.
func TestCtrlAManager(t *testing.T) {
	client_ := server(t)
	manager, err := ctrl.NewManager(configOfServer(t), ctrl.Options{NewCache: ours(),
		Metrics: metricsserver.Options{BindAddress: "0"}})
	must(t, err)
	reconciled := make(chan string, 1000)
	reconcile := func(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
		var pod corev1.Pod
		if err := manager.GetClient().Get(ctx, request.NamespacedName, &pod); err != nil {
			return ctrl.Result{}, client.IgnoreNotFound(err)
		}
		switch pod.Labels["manage"] {
		case "this":
			pod.Labels["manage"] = "done"
			return ctrl.Result{}, manager.GetClient().Update(ctx, &pod)
		case "done":
			reconciled <- pod.Name
		}
		return ctrl.Result{}, nil
	}
	must(t, ctrl.NewControllerManagedBy(manager).For(&corev1.Pod{}).Complete(ctrlReconciler(reconcile)))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(ctx) }()
	defer func() {
		cancel()
		must(t, <-ended)
	}()
	pod := create(t, client_, func(pod *corev1.Pod) { pod.Labels = map[string]string{"manage": "this"} })
	defer remove(t, client_, pod)
	select {
	case name := <-reconciled:
		same(t, "reconciled", name, pod.Name)
	case <-time.After(patience):
		t.Fatal("nothing is reconciled")
	}
	now, err := client_.CoreV1().Pods(pod.Namespace).Get(context_(t), pod.Name, metav1.GetOptions{})
	must(t, err)
	same(t, "its label", now.Labels["manage"], "done")
}

type ctrlReconciler func(context.Context, ctrl.Request) (ctrl.Result, error)

func (f ctrlReconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	return f(ctx, request)
}
