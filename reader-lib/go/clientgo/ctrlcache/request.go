// SPDX-License-Identifier: Apache-2.0

package ctrlcache

// What a ListerWatcher of controller-runtime lists. It is a closure over a client of the API server, which nothing
// asks for its resource, namespace and selectors. But the request that it sends has them all: here the client's
// transport takes it down and sends nothing.

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
)

// A request is a list of the API server.
type request struct {
	resource       schema.GroupVersionResource
	namespace      string // "": all
	labels, fields string
}

// unsent is the HTTP client of the ListerWatchers that askedBy takes; unsentConfig is their config. A request costs
// no network and no time.
var unsent = &http.Client{Transport: noTransport{}}

func unsentConfig() *rest.Config { return &rest.Config{Host: "http://unsent", QPS: -1} }

type noTransport struct{}

var errUnsent = errors.New("the node's cache has no API server to ask")

// RoundTrip leaves the request's URL in what its context has for it.
func (noTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if at, ok := r.Context().Value(noTransport{}).(*url.URL); ok {
		*at = *r.URL
	}
	return nil, errUnsent
}

// askedBy is what a ListerWatcher lists; an error, if it lists nothing: that of its client.
func askedBy(lw toolscache.ListerWatcher) (request, error) {
	var at url.URL
	ctx := context.WithValue(context.Background(), noTransport{}, &at)
	_, err := toolscache.ToListerWatcherWithContext(lw).ListWithContext(ctx, metav1.ListOptions{})
	if at.Path == "" {
		return request{}, fmt.Errorf("no request to list: %w", err)
	}
	return requestOf(&at)
}

// requestOf a URL: /api/VERSION or /apis/GROUP/VERSION, then RESOURCE or namespaces/NAMESPACE/RESOURCE.
func requestOf(at *url.URL) (request, error) {
	r := request{labels: at.Query().Get("labelSelector"), fields: at.Query().Get("fieldSelector")}
	parts := strings.Split(strings.Trim(at.Path, "/"), "/")
	if parts[0] == "apis" && len(parts) > 1 {
		r.resource.Group = parts[1]
		parts = parts[1:]
	}
	switch len(parts) {
	case 3:
	case 5:
		r.namespace = parts[3]
	default:
		return r, fmt.Errorf("%s is not a list's path", at.Path)
	}
	r.resource.Version, r.resource.Resource = parts[1], parts[len(parts)-1]
	return r, nil
}
