// SPDX-License-Identifier: Apache-2.0

// Package ctrlcache gives controller-runtime's cache from the node's one cache, instead of one cache per operator.
//
// An operator names it in its manager's options, and changes nothing else:
//
//	manager, err := ctrl.NewManager(config, ctrl.Options{NewCache: ctrlcache.New})
//
// Writes, and reads that go around the cache, go to the API server, as ever.
//
// # How it works
//
// The cache is controller-runtime's own, with all of its options, errors and blocking. Only its informers are
// package clientgo's: they read informerd's arena and neither list nor watch. Which resource, namespace and
// selectors an informer is for is taken from the request that it would have sent.
//
// Each kind that the operator reads must be cached by informerd (--resource), for all that the options ask for.
// Where it is not, its informer does not sync: it says so in the log and to DefaultWatchErrorHandler, Get and List
// wait until their context ends, as controller-runtime's do while the API server refuses a list.
//
// # What is the caller's
//
// Get and List give copies, which the caller may change. With UnsafeDisableDeepCopy, and in handlers, they are the
// shared values of package clientgo: nobody may change them. All kinds together keep clientgo.WithCacheBytes of
// them.
//
// # What differs from controller-runtime's cache
//
//   - Package clientgo says how its informers differ from client-go's.
//   - Objects are as informerd caches them, without managedFields.
//   - A field selector of the options may have any path, not only those that the API server knows.
//   - List takes a field selector of metadata.name and metadata.namespace without an index of IndexField.
//   - EnableWatchBookmarks means nothing. NewInformer is refused.
//   - List fails if the arena cannot be read.
package ctrlcache
