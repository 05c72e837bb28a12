// SPDX-License-Identifier: Apache-2.0

// Package clientgo gives client-go's informers from the node's one cache, instead of one cache per process.
//
// An agent changes the import of its factory:
//
//	informers "informer/clientgo" // was "k8s.io/client-go/informers"
//
//	factory := informers.NewSharedInformerFactory(client, 0)
//	pods := factory.Core().V1().Pods()
//	pods.Informer().AddEventHandler(...)
//	pods.Lister().Pods("default").Get("web-0")
//	factory.Start(ctx.Done())
//	factory.WaitForCacheSync(ctx.Done())
//
// NewDynamicSharedInformerFactory and NewMetadataSharedInformerFactory take the place of dynamicinformer's
// and metadatainformer's. Writes go to the API server through the client, as ever.
//
// # What is kept where
//
// Objects stay in informerd's arena. An object becomes a Go value when it is asked for: by a lister, an
// index or a handler. Values used last are kept and shared, up to WithCacheBytes. As in client-go, nobody may
// change them.
//
// A resource must be cached by informerd (--resource), for all that the factory's namespace and selectors
// ask for. Where it is not cached, the informer does not sync; where only a part is, it has that part. It says so in
// the log and to its WatchErrorHandler.
//
// # What differs from client-go
//
//   - A store is read-only: Add, Update, Delete and Replace return ErrReadOnly.
//   - A store shows the newest state, which may be newer than the event that a handler has in hand. Both
//     client-go's store and this one are never older than it.
//   - An index of your own (AddIndexers) keeps keys, not objects. It is as new as the events.
//   - A handler that is slow holds back only itself. If it misses changes, it gets the newest states: an
//     OnUpdate may stand for several, and its old object may then be the new one.
//   - An object that is gone, or has changed, before a handler is told of it is not told of, or as it is then. When the
//     informer has synced, its handlers have the first 64 objects; when the handler has, all.
//   - A handler has a queue of informerd's, and so have an informer's indexes of your own. With each 64 the factory is one
//     more reader of informerd's. After informerd was started without its arena, a store may for a second be older than
//     the event that one of the later handlers has in hand.
//   - An OnDelete of which only the key is known has a DeletedFinalStateUnknown with an object that has name,
//     namespace and UID alone.
//   - A transform is called each time when an object is made, also for the same state.
//   - What a factory reads through, with two goroutines, is closed when the factory, its informers and their stores have
//     been collected.
//   - There is no mutation detector.
package clientgo
