/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libinformer: read the node's one cache of Kubernetes objects.
 *
 * The daemon informerd lists and watches the API server once per node and keeps all objects, indexed, in a
 * shared-memory arena. This library maps that arena read-only. A lookup is a few memory reads: no network, no
 * system call, no parse, no allocation.
 *
 *	struct informer *inf;
 *	struct informer_resource *pods;
 *	struct informer_snapshot snap;
 *	struct informer_object pod;
 *
 *	informer_attach(NULL, &inf);				never waits for the daemon
 *	informer_wait_synced(inf, "pods", 5000);		optional: until the first list is in
 *	informer_resource_open(inf, "pods", &pods);
 *	if (informer_begin(inf, &snap) == 0) {			one consistent view of everything
 *		if (informer_get_z(&snap, pods, "default", "web-0", &pod) == 0)
 *			use(&pod);				valid until informer_end()
 *		informer_end(&snap);
 *	}
 *	informer_detach(inf);
 *
 * Concepts: informer(7). Every function has a page, informer_attach(3) and so on.
 *
 * Results   0 (or, where said, 1) is success. A failure is negative: a negative errno for causes of the
 *           system, an INFORMER_E_ code (below -4095) for our own. Outputs called ret_* are set on success
 *           only.
 * Texts     Keys and values are (data, length). Names that a program writes out are terminated: of a
 *           resource, an index, a label; the path of a function that ends in _at. A function that ends in _z
 *           takes every text terminated.
 * Threads   A handle may be used by any number of threads at once, except that nothing may run beside or
 *           after informer_detach(). One snapshot, with its objects, values and iterators, belongs to one
 *           thread at a time. informer_dispatch() is serialised inside; lookups never wait for it.
 * Lifetime  Objects, values and strings found through a snapshot are lent: valid until its informer_end().
 *           They are (data, length) and not terminated. A snapshot, and an iterator, must not be moved or
 *           copied while it is open.
 * Fork      In a child every call on the parent's handle returns INFORMER_E_FORKED; informer_detach() frees
 *           the child's copy without disturbing the parent. The child attaches for itself.
 * Quiet     No exit, no atexit, no output. Descriptors are close-on-exec.
 * SIGBUS    The first informer_attach() installs a handler of it, for this alone: what was lent of an arena
 *           that the daemon took back reads as zeros, also where memory is full. Every other SIGBUS goes to
 *the handler that was there. A program that installs its own later passes on what it does not know.
 *
 * Caveats
 * - An open snapshot holds memory back in the daemon: everything that changed since is kept for it. End it
 *   soon; copy what you need for long. A snapshot held beyond the daemon's patience expires
 *   (INFORMER_E_EXPIRED), and so does one of a reader that the daemon dropped. What was lent can still be
 *   read until it is ended, but bytes of it may be zero from then on.
 * - A handle has 63 pins, that is at most 63 snapshots open at once, by all threads together. More:
 *   INFORMER_E_BUSY.
 * - Do not close descriptors you did not open: closing "all from 3 up" takes the handle's away and later
 *   calls fail.
 */
#ifndef INFORMER_H
#define INFORMER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define INFORMER_API __attribute__((visibility("default")))
#else
#define INFORMER_API
#endif

/* This header's version. A library with the same major and at least this minor serves it. */
#define INFORMER_API_MAJOR 0
#define INFORMER_API_MINOR 1
#define INFORMER_API_VERSION ((INFORMER_API_MAJOR << 16) | INFORMER_API_MINOR)

/* INFORMER_API_VERSION of the library that is linked; its release as text, "0.1.0". Neither can fail. */
INFORMER_API uint32_t informer_api_version(void);
INFORMER_API const char *informer_library_version(void);

/* ---- errors ------------------------------------------------------------- */

/*
 * X(name, code, cause, remedy). Three families: wait (try later), renew (open again), fault (somebody must
 * act).
 */
#define INFORMER_ERRORS(X)                                                                                   \
	X(NOT_READY, -4096,                                                                                  \
	  "nothing is there yet: informerd does not run, has not published, or still asks the API server "   \
	  "what it serves",                                                                                  \
	  "wait with informer_wait_synced(), or poll informer_fd(); is informerd running, and is this its "  \
	  "socket?")                                                                                         \
	X(BUSY, -4097, "all 63 pins of this handle are taken by open snapshots",                             \
	  "end snapshots that are no longer needed, or attach a second handle")                              \
	X(CORRUPT, -4098, "the arena holds bytes that make no sense, or whose integrity tag is wrong",       \
	  "run informerctl verify; restart informerd, which sets a damaged arena aside and lists again")     \
	X(FORKED, -4099, "this handle was attached by the parent process",                                   \
	  "attach in the child, or call informer_detach() there")                                            \
	X(NOT_FOUND, -4100, "there is no such object, field or value in this snapshot", "nothing is wrong")  \
	X(NO_RESOURCE, -4101, "informerd does not cache this resource",                                      \
	  "name it as kubectl does, or add it with informerd --resource; informerctl stat lists what is "    \
	  "cached")                                                                                          \
	X(NO_INDEX, -4102, "this resource has no such index",                                                \
	  "declare it with informerd --index; informerctl stat lists the indexes")                           \
	X(EXPIRED, -4103,                                                                                    \
	  "the snapshot was held for so long that its memory was taken back, or informerd dropped this "     \
	  "reader",                                                                                          \
	  "informer_end() it and begin another; hold snapshots for a shorter time")                          \
	X(LAYOUT, -4104,                                                                                     \
	  "the arena has a layout that this library may not read; informer_error_text() has both versions",  \
	  "upgrade what that sentence names: the program with its libinformer, or informerd")                \
	X(REFUSED, -4105, "informerd refused this reader; informer_error_text() has its sentence",           \
	  "see the sentence: permission, too many readers, or another release")                              \
	X(SYNTAX, -4106, "a path or selector could not be understood; informer_error_text() tells where",    \
	  "correct the text")                                                                                \
	X(TYPE, -4107, "the value is of another kind than the one asked for",                                \
	  "look with informer_value_kind() first")                                                           \
	X(STOPPED, -4108, "informer_stop() was called on this handle",                                       \
	  "attach another handle for new handlers")

enum informer_error {
	INFORMER_OK = 0,
#define INFORMER_ERROR_ENUM_(name, code, cause, remedy) INFORMER_E_##name = code,
	INFORMER_ERRORS(INFORMER_ERROR_ENUM_)
#undef INFORMER_ERROR_ENUM_
};

/*
 * What a code means; never NULL, constant. For a negative errno a general sentence with no detail: use
 * strerror(-code).
 */
INFORMER_API const char *informer_strerror(int code);
/* What to do about it; "" where there is nothing to say. */
INFORMER_API const char *informer_error_remedy(int code);
/* "INFORMER_E_BUSY"; for a negative errno its name where known, else "UNKNOWN". */
INFORMER_API const char *informer_error_name(int code);

/* ---- attaching ---------------------------------------------------------- */

struct informer;

enum informer_log_level { INFORMER_LOG_ERROR, INFORMER_LOG_WARNING, INFORMER_LOG_INFO, INFORMER_LOG_DEBUG };

#define INFORMER_VERIFY 1u /* check each block's integrity tag when it is first touched */
/*
 * While no informerd runs, read what the last one left in memory, as of its last commit (informer_status()
 * calls it stale), rather than nothing. For informerd's own user and for root, on the host; it is looked for
 * until there is something to read. Once informerd is back, the handle moves over to it by itself. With
 * INFORMER_VERIFY the keys are those of its key file.
 */
#define INFORMER_ORPHAN 2u

/*
 * size         sizeof(struct informer_options); fields beyond it are taken as zero
 * flags        INFORMER_VERIFY, INFORMER_ORPHAN
 * socket_path  NULL: $INFORMER_SOCKET, else /run/informer/informer.sock, else, when not root and the former
 *              does not exist, $XDG_RUNTIME_DIR/informer/informer.sock
 * reader_name  what `informerctl stat` calls this reader, up to 64 bytes; NULL: the program's name
 * log          told of attach, loss, re-attach. Called from within any call of this library, with locks held:
 *              it must not call back. NULL: nobody is told
 * allocate     used for all memory but the mappings and the verification table; both or neither
 */
struct informer_options {
	size_t size;
	uint32_t flags;
	const char *socket_path;
	const char *reader_name;
	void (*log)(void *context, enum informer_log_level level, const char *message);
	void *log_context;
	void *(*allocate)(void *context, size_t size);
	void (*release)(void *context, void *memory);
	void *allocator_context;
};

/*
 * Attach. Succeeds whether or not the daemon runs: connecting goes on in informer_dispatch(), in the
 * informer_wait_*() functions, and in informer_begin() while there is nothing to read. One attempt is made at
 * once, so with a daemon that answers the first snapshot needs no wait: up to 100 ms are spent on that
 * answer, or on a daemon that is starting or ending; none when there is none.
 *
 * options  NULL: all defaults
 * Returns  0, -EINVAL, -ENAMETOOLONG (socket path), -ENOMEM, -EMFILE and other negative errno
 */
INFORMER_API int informer_attach(const struct informer_options *options, struct informer **ret_informer);

/*
 * Detach, and free everything. Snapshots still open become invalid without further notice; all other threads
 * must be out. NULL is fine.
 */
INFORMER_API void informer_detach(struct informer *informer);

/*
 * A descriptor for poll(2), epoll(7) and event loops: readable when informer_dispatch() has something to do
 * (the daemon came or went; a commit happened that informer_arm() asked for). The same one for the life of
 * the handle. Borrowed.
 */
INFORMER_API int informer_fd(const struct informer *informer);

/*
 * Do what there is to do; never blocks.
 *
 * Returns  1 something changed (a commit, an attach, a loss), 0 nothing, or INFORMER_E_FORKED. Failures to
 *          attach are no failure here: informer_status() tells, and the next attempt is made by itself.
 */
INFORMER_API int informer_dispatch(struct informer *informer);

/*
 * A failure as a sentence, for people: the one that the last failure in this thread left, if that had this
 * code; else informer_strerror(). Never empty. To be called next to the call that failed; also where there is
 * no handle, for informer_attach() failed.
 *
 * buffer   at least size bytes; what fits is stored, terminated; may be NULL
 * Returns  the sentence's length
 * Threads  each has its own last failure
 */
INFORMER_API size_t informer_error_text(int code, char *buffer, size_t size);

/*
 * size        to be set by the caller: sizeof(struct informer_status)
 * attached    there is an arena to read
 * connected   the daemon's socket is open: it lives, and protects our snapshots
 * stale       what we read is not being kept up to date: no daemon, or one that shows no sign of life for 15
 *             s
 * age_ns      since the daemon's last sign of life (boot time); 0 when not attached
 * generation  of the arena
 * attaches    how often an arena was attached: 1, and one more for each move
 * pins        of this handle's 63, those in use
 * reason      why not attached or stale, else ""
 * failure     why the daemon's socket is not open, as a code; 0 when it is, or nothing is known yet.
 *             INFORMER_E_NOT_READY: a daemon is starting, ending or busy, soon it will answer; -ETIMEDOUT:
 * one does not answer; -ENOENT, -ECONNREFUSED: none is there; -EACCES; INFORMER_E_REFUSED; INFORMER_E_LAYOUT;
 * -EMFILE, -ENOMEM: this process has run out; others. It is tried again in any case
 * server_release  of the API server, 1000 * major + minor: 1036 is Kubernetes 1.36; 0: not known
 */
struct informer_status {
	size_t size;
	bool attached;
	bool connected;
	bool stale;
	uint64_t age_ns;
	uint64_t generation;
	uint64_t attaches;
	uint32_t pins;
	char reason[256];
	int failure;
	uint32_t server_release;
};
INFORMER_API int informer_status(struct informer *informer, struct informer_status *status);

/* ---- snapshots ---------------------------------------------------------- */

/* One consistent view over all resources and indexes. The caller's memory; its content is private. */
struct informer_snapshot {
	uint64_t private_[10];
};

/*
 * Which version a snapshot shows.
 *
 * generation  of the arena; a new one may begin with any epoch
 * epoch       number of the commit, growing by one within a generation
 * seq         number of the last change, of any resource, growing for as long as lineage stays
 */
struct informer_moment {
	uint64_t generation;
	uint64_t epoch;
	uint64_t seq;
	uint8_t lineage[16];
	uint64_t committed_boot_ns;
	uint64_t committed_wall_ns;
};

/*
 * Begin a snapshot of the newest commit. Give it back with informer_end(), soon.
 *
 * Returns   0; INFORMER_E_NOT_READY (also when the daemon dropped this reader, until it is attached again),
 *           INFORMER_E_BUSY (63 are open), INFORMER_E_CORRUPT, INFORMER_E_FORKED
 * Cost      about 20 ns: one atomic exchange; no system call, no loop, no allocation. When a new generation
 *           stands ready (the daemon was restarted) this call also makes the move: some system calls
 *           (connect, recvmsg, mmap) and a call of `log`, at most every 200 µs, none of which waits; until
 *           the new arena has come it shows the old one.
 */
INFORMER_API int informer_begin(struct informer *informer, struct informer_snapshot *ret_snapshot);

/* End it. One that is all zero, or was ended, is fine. */
INFORMER_API void informer_end(struct informer_snapshot *snapshot);

INFORMER_API int informer_snapshot_moment(const struct informer_snapshot *snapshot,
					  struct informer_moment *ret_moment);

/* ---- resources ---------------------------------------------------------- */

/* A name for a resource that stays valid over commits and generations. Owned by the handle. */
struct informer_resource;

/*
 * name     as kubectl takes it, case does not count: pods, po, pod, Pod, pods.v1, deployments.apps,
 *          deployments.v1.apps
 * Returns  0 (also while nothing is attached: lookups tell), -EINVAL, -ENOMEM, INFORMER_E_FORKED.
 *          The same name gives the same pointer.
 */
INFORMER_API int informer_resource_open(struct informer *informer, const char *name,
					struct informer_resource **ret_resource);

/*
 * What a snapshot says about a resource. Strings are lent as objects are.
 *
 * size              to be set by the caller: sizeof(struct informer_resource_info)
 * group             "" for the core group
 * namespace_        the only namespace that is cached; "" for all
 * resource_version  the API server's, of the newest change in the snapshot; "" before the first list
 * synced            the first list is in: what is not found does not exist
 * age_ns            since the API server was last heard of while this resource's watch was open: below a
 *                   minute as long as all is well, also where nothing happens; UINT64_MAX: never
 */
struct informer_resource_info {
	size_t size;
	const char *group, *version, *resource, *kind, *singular, *namespace_, *label_selector,
		*field_selector;
	size_t group_length, version_length, resource_length, kind_length, singular_length, namespace_length,
		label_selector_length, field_selector_length;
	const char *resource_version;
	size_t resource_version_length;
	bool namespaced;
	bool synced;
	uint64_t object_count;
	uint64_t changed_seq;
	uint64_t age_ns;
	uint32_t index_count;
	uint32_t short_name_count;
	bool metadata_only;	/* objects have no more than their metadata */
	/* cached from the first reader on that asks for it; until then it is not synced */
	bool on_demand;
	uint32_t drop_count;	/* paths that are left out of its objects */
	/* deletions after this seq are all remembered (informer_each_deleted()), earlier ones may be not */
	uint64_t forgotten_seq;
	/*
	 * each deletion after this resourceVersion is remembered, and was seen as it came; 0: not known
	 * since when. It begins with the first list, and ends with the first that is forgotten.
	 */
	uint64_t complete_from;
};

/*
 * What is cached, one entry after another: position runs from 0 to informer_resource_count() - 1. A resource
 * that is cached for several namespaces by several entries has an entry for each. INFORMER_E_NOT_READY: at
 * this position something will be of which the API server has not said yet what it is.
 */
INFORMER_API uint32_t informer_resource_count(const struct informer_snapshot *snapshot);
INFORMER_API int informer_resource_info_at(const struct informer_snapshot *snapshot, uint32_t position,
					   struct informer_resource_info *info);
/*
 * Names of its indexes (i < info.index_count), and its short names. And the paths that the daemon leaves
 * out of its objects (i < info.drop_count), "metadata.managedFields" mostly: an object that lacks others
 * than this one must not be written back. Returns 0, INFORMER_E_NOT_FOUND, INFORMER_E_CORRUPT.
 */
INFORMER_API int informer_resource_index_name(const struct informer_snapshot *snapshot, uint32_t position,
					      uint32_t i, const char **ret_name, size_t *ret_length);
INFORMER_API int informer_resource_short_name(const struct informer_snapshot *snapshot, uint32_t position,
					      uint32_t i, const char **ret_name, size_t *ret_length);
INFORMER_API int informer_resource_drop(const struct informer_snapshot *snapshot, uint32_t position,
					uint32_t i, const char **ret_path, size_t *ret_length);
/*
 * The same for an opened resource. With several entries: counts are sums, synced is true when all are, age_ns
 * is the oldest, resource_version is "", complete_from is 0; drop_count is that of the first.
 */
INFORMER_API int informer_resource_info(const struct informer_snapshot *snapshot,
					struct informer_resource *resource,
					struct informer_resource_info *info);
/* The position of an opened resource's first entry, for the functions above. */
INFORMER_API int informer_resource_position(const struct informer_snapshot *snapshot,
					    struct informer_resource *resource, uint32_t *ret_position);

/* ---- lookups ------------------------------------------------------------ */

/*
 * All of them return INFORMER_E_NO_RESOURCE when the resource is not cached, INFORMER_E_NOT_READY when it may
 * be one that is and informerd still asks the API server what its configuration names, INFORMER_E_NO_INDEX
 * when it lacks the index, INFORMER_E_CORRUPT, INFORMER_E_EXPIRED, INFORMER_E_FORKED, and -EINVAL for a
 * snapshot that is not open. None blocks, allocates or makes a system call, except that the first lookup of a
 * resource after the daemon changed its definition, or its generation, reads the definition (one allocation).
 */

/* An object in a snapshot. Copied freely; nothing to free; its content is private. */
struct informer_object {
	const struct informer_snapshot *snapshot_;
	const void *object_;
	uint32_t ref_;
	uint32_t entry_;
};

/* Get by key. Cluster-scoped: ns_length 0. Returns 0 or INFORMER_E_NOT_FOUND. */
INFORMER_API int informer_get(const struct informer_snapshot *snapshot, struct informer_resource *resource,
			      const char *ns, size_t ns_length, const char *name, size_t name_length,
			      struct informer_object *ret_object);
/* The same, with terminated strings; ns may be NULL. */
INFORMER_API int informer_get_z(const struct informer_snapshot *snapshot, struct informer_resource *resource,
				const char *ns, const char *name, struct informer_object *ret_object);
/* The same, by "namespace/name", or "name" for what has no namespace; "/name" is nobody's key. */
INFORMER_API int informer_get_key(const struct informer_snapshot *snapshot,
				  struct informer_resource *resource, const char *key, size_t length,
				  struct informer_object *ret_object);
/*
 * Many by key: for a batch of events, or of log lines. Where objects are not in the CPU's caches this takes
 * less than half of the time of one informer_get() after the other: the cache misses of several overlap.
 *
 * keys         borrowed for the call
 * ret_objects  one for each key. Where there is none, informer_object_seq() of it is 0. After a failure their
 *              content is undefined
 * ret_found    how many there are; may be NULL
 * Returns      0, also when there are none
 */
struct informer_key {
	const char *ns;
	size_t ns_length; /* 0: cluster-scoped */
	const char *name;
	size_t name_length;
};
INFORMER_API int informer_get_many(const struct informer_snapshot *snapshot,
				   struct informer_resource *resource, const struct informer_key *keys,
				   size_t count, struct informer_object *ret_objects, size_t *ret_found);
/* By metadata.uid (for pods also by the annotation kubernetes.io/config.mirror). */
INFORMER_API int informer_get_by_uid(const struct informer_snapshot *snapshot,
				     struct informer_resource *resource, const char *uid, size_t length,
				     struct informer_object *ret_object);
/*
 * The pod that has this address. Pods on the host's network are passed over (they share the node's), and so
 * are finished ones (Succeeded, Failed), whose address may have been given to another since.
 */
INFORMER_API int informer_pod_by_ip(const struct informer_snapshot *snapshot, struct informer_resource *pods,
				    const char *ip, size_t length, struct informer_object *ret_object);
/* The pod that a container (also init, ephemeral) belongs to. id with or without "containerd://" in front. */
INFORMER_API int informer_pod_by_container_id(const struct informer_snapshot *snapshot,
					      struct informer_resource *pods, const char *id, size_t length,
					      struct informer_object *ret_object);

/*
 * Iteration. The caller's memory; nothing to free; may be left at any point.
 *
 *	struct informer_iter it;
 *	struct informer_object pod;
 *	int r = informer_by_index(&snap, pods, "nodeName", "n1", 2, &it);
 *	while (r == 0 && (r = informer_next(&it, &pod)) > 0)
 *		r = use(&pod);
 *
 * The functions that start one return 0 also when there will be no object. The order is the same for the same
 * snapshot, otherwise unspecified. Strings they are given (value, ns) are borrowed for as long as the
 * iteration goes on.
 */
struct informer_iter {
	uint64_t private_[80];
};
struct informer_label_selector;

/* Returns 1 with an object, 0 at the end, or negative. */
INFORMER_API int informer_next(struct informer_iter *it, struct informer_object *ret_object);

INFORMER_API int informer_list(const struct informer_snapshot *snapshot, struct informer_resource *resource,
			       struct informer_iter *ret_iter);
INFORMER_API int informer_list_namespace(const struct informer_snapshot *snapshot,
					 struct informer_resource *resource, const char *ns, size_t ns_length,
					 struct informer_iter *ret_iter);
/* The objects whose index of this (terminated) name has this value. */
INFORMER_API int informer_by_index(const struct informer_snapshot *snapshot,
				   struct informer_resource *resource, const char *index, const char *value,
				   size_t value_length, struct informer_iter *ret_iter);
INFORMER_API int informer_by_index_z(const struct informer_snapshot *snapshot,
				     struct informer_resource *resource, const char *index, const char *value,
				     struct informer_iter *ret_iter);
/* How many they are, without touching them. */
INFORMER_API int informer_count_by_index(const struct informer_snapshot *snapshot,
					 struct informer_resource *resource, const char *index,
					 const char *value, size_t value_length, uint64_t *ret_count);
/*
 * Those that a label selector matches, in one namespace or (ns_length 0) in all. The selector is borrowed for
 * the iteration. With an equality in it (=, ==, in with one value) the label index narrows the search, else
 * all objects are looked at.
 */
INFORMER_API int informer_select(const struct informer_snapshot *snapshot, struct informer_resource *resource,
				 const char *ns, size_t ns_length,
				 const struct informer_label_selector *selector,
				 struct informer_iter *ret_iter);

/* ---- label selectors ---------------------------------------------------- */

/*
 * The API's own syntax: app=web,tier in (a,b),env!=prod,release,!canary,weight>5. Empty matches everything.
 *
 * ret_offset  on INFORMER_E_SYNTAX, the byte at which it stopped making sense; may be NULL
 * Returns     0, INFORMER_E_SYNTAX (informer_error_text() says why), -ENOMEM. Free it with
 *             informer_label_selector_free().
 * Threads     a compiled selector may be used by several at once
 */
INFORMER_API int informer_label_selector_compile(struct informer *informer, const char *text, size_t length,
						 struct informer_label_selector **ret_selector,
						 size_t *ret_offset);
INFORMER_API void informer_label_selector_free(struct informer_label_selector *selector);
/* Whether it matches an object: 1, 0, or negative. */
INFORMER_API int informer_label_selector_matches(const struct informer_label_selector *selector,
						 const struct informer_object *object);

/*
 * Field selectors: path=value, path==value, path!=value, joined by commas, on any path:
 * spec.nodeName=n1,status.phase!=Running. An absent field counts as "". Errors, ownership and threads as
 * above. No index helps: where there is one (nodeName, podIP), ask it.
 */
struct informer_field_selector;
INFORMER_API int informer_field_selector_compile(struct informer *informer, const char *text, size_t length,
						 struct informer_field_selector **ret_selector);
INFORMER_API void informer_field_selector_free(struct informer_field_selector *selector);
INFORMER_API int informer_field_selector_matches(const struct informer_field_selector *selector,
						 const struct informer_object *object);

/* ---- objects and values ------------------------------------------------- */

/*
 * Who it is. The texts are lent, as all of an object is. A copy of some fields has all four.
 *
 * Returns  0; INFORMER_E_NOT_FOUND: it has no UID, or no resourceVersion; INFORMER_E_EXPIRED, _CORRUPT
 * Cost     a few nanoseconds: they stand in front of the object's fields
 */
INFORMER_API int informer_object_namespace(const struct informer_object *object, const char **ret_data,
					   size_t *ret_length);
INFORMER_API int informer_object_name(const struct informer_object *object, const char **ret_data,
				      size_t *ret_length);
INFORMER_API int informer_object_uid(const struct informer_object *object, const char **ret_data,
				     size_t *ret_length);
INFORMER_API int informer_object_resource_version(const struct informer_object *object, const char **ret_data,
						  size_t *ret_length);
/*
 * The change that made this state, and the one that made the object appear; 0 for what is no object, or of a
 * snapshot that has expired.
 */
INFORMER_API uint64_t informer_object_seq(const struct informer_object *object);
INFORMER_API uint64_t informer_object_created_seq(const struct informer_object *object);
/* Position of its entry, for informer_resource_info_at(). */
INFORMER_API uint32_t informer_object_position(const struct informer_object *object);

/*
 * A label, an annotation. Returns 0, INFORMER_E_NOT_FOUND, INFORMER_E_TYPE (it is no string)
 */
INFORMER_API int informer_object_label(const struct informer_object *object, const char *key,
				       const char **ret_data, size_t *ret_length);
INFORMER_API int informer_object_annotation(const struct informer_object *object, const char *key,
					    const char **ret_data, size_t *ret_length);

/* One of metadata.ownerReferences. A text that it has not is empty; api_version is "apps/v1", say. */
struct informer_text {
	const char *data;
	size_t length;
};
struct informer_owner {
	struct informer_text api_version, kind, name, uid;
	bool controller, block_owner_deletion;
};
/* The owner at a position: 0, 1, … until INFORMER_E_NOT_FOUND. */
INFORMER_API int informer_object_owner(const struct informer_object *object, size_t i,
				       struct informer_owner *ret_owner);
/* The owner that controls the object: of a pod the ReplicaSet, say. INFORMER_E_NOT_FOUND: it has none. */
INFORMER_API int informer_object_controller(const struct informer_object *object,
					    struct informer_owner *ret_owner);

/*
 * A path into an object, compiled once: spec.nodeName, status.podIPs[0].ip, spec.containers[*].image,
 * metadata.labels["app.kubernetes.io/name"]. A leading '.' and kubectl's braces are accepted.
 *
 * Returns  0, INFORMER_E_SYNTAX (informer_error_text() says where and why), -ENOMEM
 * Threads  a compiled path may be used by several at once
 */
struct informer_path;
INFORMER_API int informer_path_compile(struct informer *informer, const char *text, size_t length,
				       struct informer_path **ret_path);
INFORMER_API void informer_path_free(struct informer_path *path);

/*
 * Read a field: 0, INFORMER_E_NOT_FOUND when it is absent, INFORMER_E_TYPE when it is of another kind,
 * -ERANGE for an integer that int64_t does not hold. With [*] in the path the first hit is read. No parse, no
 * allocation.
 */
INFORMER_API int informer_get_string(const struct informer_object *object, const struct informer_path *path,
				     const char **ret_data, size_t *ret_length);
/*
 * The same, by the path's text: "spec.nodeName". For a field that is read now and then: the path is compiled
 * at each call, which takes about 0.2 microseconds. Also returns INFORMER_E_SYNTAX.
 */
INFORMER_API int informer_get_string_at(const struct informer_object *object, const char *path,
					const char **ret_data, size_t *ret_length);
INFORMER_API int informer_get_int(const struct informer_object *object, const struct informer_path *path,
				  int64_t *ret);
INFORMER_API int informer_get_bool(const struct informer_object *object, const struct informer_path *path,
				   bool *ret);
INFORMER_API int informer_get_double(const struct informer_object *object, const struct informer_path *path,
				     double *ret);

enum informer_kind {
	INFORMER_NONE = 0, /* no such field */
	INFORMER_NULL,
	INFORMER_BOOL,
	INFORMER_INT,	 /* fits int64_t */
	INFORMER_UINT,	 /* above INT64_MAX */
	INFORMER_DOUBLE,
	INFORMER_NUMBER, /* a number that neither holds: its text */
	INFORMER_STRING,
	INFORMER_ARRAY,
	INFORMER_OBJECT,
};

/* A value within an object. Copied freely; nothing to free; its content is private. */
struct informer_value {
	const void *private_[4];
};

/* The whole object as a value; the value at a path. Returns 0, INFORMER_E_NOT_FOUND, INFORMER_E_CORRUPT. */
INFORMER_API int informer_object_value(const struct informer_object *object,
				       struct informer_value *ret_value);
INFORMER_API int informer_get_value(const struct informer_object *object, const struct informer_path *path,
				    struct informer_value *ret_value);
INFORMER_API int informer_value_get(const struct informer_value *value, const struct informer_path *path,
				    struct informer_value *ret_value);
/* Every hit of a path, in the object's order. A non-zero result of each stops and is returned. */
INFORMER_API int informer_each_value(const struct informer_object *object, const struct informer_path *path,
				     int (*each)(void *context, const struct informer_value *value),
				     void *context);

/* INFORMER_NONE also of a snapshot that has expired. */
INFORMER_API enum informer_kind informer_value_kind(const struct informer_value *value);
/*
 * 0, INFORMER_E_TYPE, INFORMER_E_FORKED, INFORMER_E_EXPIRED. informer_value_string() also gives the text of
 * an INFORMER_NUMBER.
 */
INFORMER_API int informer_value_string(const struct informer_value *value, const char **ret_data,
				       size_t *ret_length);
INFORMER_API int informer_value_bool(const struct informer_value *value, bool *ret);
INFORMER_API int informer_value_int(const struct informer_value *value, int64_t *ret);
INFORMER_API int informer_value_uint(const struct informer_value *value, uint64_t *ret);
INFORMER_API int informer_value_double(const struct informer_value *value, double *ret);
/* Fields or elements; 0 for all else, and of a snapshot that has expired. */
INFORMER_API size_t informer_value_count(const struct informer_value *value);
/* One field, one element. Returns 0, INFORMER_E_NOT_FOUND, INFORMER_E_TYPE. */
INFORMER_API int informer_value_field(const struct informer_value *object, const char *name, size_t length,
				      struct informer_value *ret_value);
INFORMER_API int informer_value_element(const struct informer_value *array, size_t i,
					struct informer_value *ret_value);

/*
 * Step through an array or object:
 *
 *	struct informer_value_iter it;
 *	informer_value_iterate(&value, &it);
 *	while ((r = informer_value_next(&it)) > 0)
 *		use(it.key, it.key_length, &it.item);		key is NULL for arrays
 *
 * Returns 1 with an item, 0 at the end, or negative. Anything else than an array or object has no items.
 */
struct informer_value_iter {
	const char *key;
	size_t key_length;
	struct informer_value item;
	uint64_t private_[24];
};
INFORMER_API int informer_value_iterate(const struct informer_value *value,
					struct informer_value_iter *ret_iter);
INFORMER_API int informer_value_next(struct informer_value_iter *it);

/*
 * Write as JSON, fields in the order in which the API server sent them, without white space.
 *
 * emit     called with pieces; a non-zero result stops and is returned
 */
INFORMER_API int informer_value_to_json(const struct informer_value *value,
					int (*emit)(void *context, const char *data, size_t length),
					void *context);
INFORMER_API int informer_object_to_json(const struct informer_object *object,
					 int (*emit)(void *context, const char *data, size_t length),
					 void *context);
/*
 * The same into the caller's buffer: as much as fits, and a terminator if size > 0.
 *
 * ret_length  the whole text's length, whether it fitted (length < size) or not
 */
INFORMER_API int informer_object_json(const struct informer_object *object, char *buffer, size_t size,
				      size_t *ret_length);

/* ---- waiting ------------------------------------------------------------ */

/*
 * timeout_ms  how long at most; negative: for ever; 0: only look
 * Returns     0, -ETIMEDOUT (informer_error_text() says what is missing, and what the API server said to
 *             informerd: a resource that it refuses is asked for again and again, and waited for),
 *             INFORMER_E_FORKED, INFORMER_E_BUSY, INFORMER_E_CORRUPT
 * Threads     several may wait at once. They sleep on a descriptor; no polling loop. A signal does not
 *             interrupt
 */

/* Until an arena is attached. */
INFORMER_API int informer_wait_attached(struct informer *informer, int timeout_ms);
/*
 * Until the resource is cached and its first list is in; NULL: all that are cached, at least one, but those
 * that are cached on demand and that nobody asked for. To wait for one of these by its name is to ask for it.
 */
INFORMER_API int informer_wait_synced(struct informer *informer, const char *resource, int timeout_ms);
/*
 * Until there is a version newer than `seen` (another generation counts as newer); NULL: any version at
 * all.
 */
INFORMER_API int informer_wait_commit(struct informer *informer, const struct informer_moment *seen,
				      int timeout_ms);

/*
 * Until what is shown of the resource is at least as new as this resourceVersion of it, which somebody has
 * from the API server: "have I seen my own write?" Versions are compared as numbers, within one resource
 * only: another one may live in another etcd. A resource in which nothing happens gets on by bookmarks, about
 * once a minute.
 *
 * version  decimal digits, without leading zeros and not "0" (the API's rule for comparing); else -EINVAL
 */
INFORMER_API int informer_wait_version(struct informer *informer, const char *resource, const char *version,
				       int timeout_ms);

/*
 * Until an object is as its caller wants it: there, gone, or in some state ("kubectl wait"). Its state is
 * looked at now, and whenever something was committed; informerd may come, go and return meanwhile.
 *
 * ns        NULL or "": of what has no namespace
 * met       called in this thread, without a lock, with a snapshot and the object in it; object NULL: it does
 *           not exist (the resource's list is in). Both are lent for the call. Returns 1: it is as wanted;
 *           0: not yet; negative: the wait ends with this. It is given states, not changes: one that was
 *           deleted and created anew between two looks has another UID. It may look things up; it must not
 *           wait
 * Returns   as above; what met returned when that was negative; -EINVAL
 * Cost      each commit wakes the thread for one lookup and one call
 */
INFORMER_API int informer_wait_object(struct informer *informer, const char *resource, const char *ns,
				      const char *name,
				      int (*met)(void *context, const struct informer_snapshot *snapshot,
						 const struct informer_object *object),
				      void *context, int timeout_ms);

/*
 * For event loops: ask that informer_fd() becomes readable at the next commit, once.
 *
 * Returns  0 armed; 1 there is a newer version than `seen` already, look at once; negative as above.
 *          While nothing is attached it returns 0: the attach makes the descriptor readable.
 */
INFORMER_API int informer_arm(struct informer *informer, const struct informer_moment *seen);

/* ---- for tools ---------------------------------------------------------- */

/*
 * Ask the daemon how it is: one JSON document (informerctl stat -o json). Needs no pin and no slot, and works
 * while the first list runs. Uses a connection of its own; blocks at most timeout_ms.
 *
 * ret_text  terminated; free it with informer_free()
 * Returns   0, -ETIMEDOUT, -ECONNREFUSED or -ENOENT (no daemon), -EACCES, INFORMER_E_REFUSED, -EPROTO,
 *           INFORMER_E_NOT_READY (ask again soon), -EMFILE, -ENOMEM
 */
INFORMER_API int informer_stat_json(struct informer *informer, int timeout_ms, char **ret_text,
				    size_t *ret_length);
INFORMER_API void informer_free(struct informer *informer, void *memory);

/*
 * Check every block that the snapshot reaches: tag, bounds, type, form. Needs INFORMER_VERIFY for the tags;
 * without it only form is checked (ret_counts.tags is 0).
 *
 * report   called for each fault; may be NULL; a non-zero result stops and is returned
 * Returns  0 no fault, INFORMER_E_CORRUPT faults were found, or report's result
 */
struct informer_verify_counts {
	uint64_t blocks;
	uint64_t bytes;
	uint64_t tags;
	uint64_t faults;
};
INFORMER_API int informer_verify(const struct informer_snapshot *snapshot,
				 int (*report)(void *context, uint64_t offset, const char *what),
				 void *context, struct informer_verify_counts *ret_counts);

#ifdef __cplusplus
}
#endif

/* Events, shared informers, workqueues: pages of their own. */
#include "informer-factory.h"
#include "informer-handlers.h"
#include "informer-workqueue.h"

#endif
