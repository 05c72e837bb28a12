// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
)

// deployments are what the tests of factories write.
var deployments = schema.GroupVersionResource{Group: "extensions", Version: "v1beta1", Resource: "deployments"}

// begin has the resource hold these objects, each of which becomes what the API server has, and nothing else.
func begin(objects []runtime.Object) {
	Empty(deployments)
	for _, object := range objects {
		source := NewSource(deployments)
		source.Add(object)
		source.Settle()
	}
}

// ---- the dynamic client

type FakeDynamicClient struct{ dynamic.Interface }

func NewSimpleDynamicClient(_ *runtime.Scheme, objects ...runtime.Object) *FakeDynamicClient {
	begin(objects)
	return &FakeDynamicClient{server()}
}

func NewSimpleDynamicClientWithCustomListKinds(scheme *runtime.Scheme, _ map[schema.GroupVersionResource]string,
	objects ...runtime.Object) *FakeDynamicClient {
	return NewSimpleDynamicClient(scheme, objects...)
}

// ---- the metadata client

func NewTestScheme() *runtime.Scheme { return runtime.NewScheme() }

type FakeMetadataClient struct{ metadata.Interface }

func NewSimpleMetadataClient(_ *runtime.Scheme, objects ...runtime.Object) *FakeMetadataClient {
	begin(objects)
	return &FakeMetadataClient{}
}

func (*FakeMetadataClient) Resource(gvr schema.GroupVersionResource) metadata.Getter {
	return &getter{in: server().Resource(gvr), all: server().Resource(gvr)}
}

// A MetadataClient is client-go's, as far as its tests write.
type MetadataClient interface {
	metadata.Getter
	CreateFake(*metav1.PartialObjectMetadata, metav1.CreateOptions, ...string) (*metav1.PartialObjectMetadata, error)
	UpdateFake(*metav1.PartialObjectMetadata, metav1.UpdateOptions, ...string) (*metav1.PartialObjectMetadata, error)
}

type getter struct {
	metadata.Getter
	all dynamic.NamespaceableResourceInterface
	in  dynamic.ResourceInterface
}

func (g *getter) Namespace(namespace string) metadata.ResourceInterface {
	return &getter{all: g.all, in: g.all.Namespace(namespace)}
}

func (g *getter) Delete(ctx context.Context, name string, options metav1.DeleteOptions, of ...string) error {
	return g.in.Delete(ctx, name, options, of...)
}

func (g *getter) CreateFake(object *metav1.PartialObjectMetadata, options metav1.CreateOptions, of ...string) (
	*metav1.PartialObjectMetadata, error) {
	return metadataOf(g.in.Create(context.Background(), contentOf(object), options, of...))
}

func (g *getter) UpdateFake(object *metav1.PartialObjectMetadata, options metav1.UpdateOptions, of ...string) (
	*metav1.PartialObjectMetadata, error) {
	return metadataOf(g.in.Update(context.Background(), contentOf(object), options, of...))
}

func contentOf(object *metav1.PartialObjectMetadata) *unstructured.Unstructured {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	must(err)
	return &unstructured.Unstructured{Object: content}
}

func metadataOf(made *unstructured.Unstructured, err error) (*metav1.PartialObjectMetadata, error) {
	object := &metav1.PartialObjectMetadata{}
	if err == nil {
		become(object, made)
	}
	return object, err
}
