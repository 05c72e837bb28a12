// SPDX-License-Identifier: Apache-2.0

package ctrlcache

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
)

// A named is an informer whose Indexer has controller-runtime's indexes of metadata.name and metadata.namespace,
// which the arena answers: nothing is kept for them. An index of IndexField takes their place. One more index has all
// objects under "".
type named struct{ toolscache.SharedIndexInformer }

func (n named) GetIndexer() toolscache.Indexer {
	return namedIndexer{n.SharedIndexInformer.GetIndexer()}
}

type namedIndexer struct{ toolscache.Indexer }

// The names and values of controller-runtime's indexes.
const (
	nameIndex      = "field:metadata.name"
	namespaceIndex = "field:metadata.namespace"
	allIndex       = "field:" + everything
	anyNamespace   = "__all_namespaces"
)

const everything = "informer/everything" // no field's name

var metadataIndexers = toolscache.Indexers{
	nameIndex:      indexOf(metav1.Object.GetName),
	namespaceIndex: indexOf(metav1.Object.GetNamespace),
}

// indexOf a field has an object's value under its namespace and under any.
func indexOf(field func(metav1.Object) string) toolscache.IndexFunc {
	return func(object any) ([]string, error) {
		o, err := meta.Accessor(object)
		if err != nil {
			return nil, err
		}
		return []string{o.GetNamespace() + "/" + field(o), anyNamespace + "/" + field(o)}, nil
	}
}

func (x namedIndexer) GetIndexers() toolscache.Indexers {
	all := x.Indexer.GetIndexers()
	for name, fn := range metadataIndexers {
		if all[name] == nil {
			all[name] = fn
		}
	}
	return all
}

func (x namedIndexer) ByIndex(index, value string) ([]any, error) {
	if index == allIndex {
		return x.Indexer.ByIndex(toolscache.NamespaceIndex, "")
	}
	if metadataIndexers[index] == nil || x.Indexer.GetIndexers()[index] != nil {
		return x.Indexer.ByIndex(index, value)
	}
	namespace, wanted, _ := strings.Cut(value, "/")
	switch {
	case index == nameIndex:
		return x.byName(namespace, wanted)
	case namespace == anyNamespace || namespace == wanted:
		return x.Indexer.ByIndex(toolscache.NamespaceIndex, wanted)
	}
	return nil, nil
}

func (x namedIndexer) byName(namespace, wanted string) ([]any, error) {
	keys := []string{namespace + "/" + wanted}
	if namespace == anyNamespace {
		var err error
		if keys, err = x.Indexer.IndexKeys(toolscache.NamespaceIndex, ""); err != nil { // all, or an error
			return nil, err
		}
	}
	var found []any
	for _, key := range keys {
		if _, name, err := toolscache.SplitMetaNamespaceKey(key); err != nil || name != wanted {
			continue
		}
		object, exists, err := x.Indexer.GetByKey(key)
		if err != nil {
			return nil, err
		}
		if exists {
			found = append(found, object)
		}
	}
	return found, nil
}
