/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libinformer: read the node's one cache of Kubernetes objects.
 *
 * The daemon informerd lists and watches the API server once per node. The daemon keeps all objects, indexed,
 * in a shared-memory file, the arena. This library maps the arena read-only. A lookup is a few memory reads:
 * no network, no system call, no parse, no allocation.
 *
 *	struct informer *inf;
 *	struct informer_resource *pods;
 *	struct informer_snapshot snap;
 *	struct informer_object pod;
 *
 *	informer_attach(NULL, &inf);				also without the daemon
 *	informer_wait_synced(inf, "pods", 5000);		optional: wait for the first list
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
 * Results   0 (or, where stated, 1) is success. A failure is a negative errno, or an INFORMER_E_ code (below
 *           -4095). Outputs ret_* are set on success only. Every function may return -EINVAL (a handle,
 *           snapshot or object is NULL or not open) and INFORMER_E_FORKED. Every function that reads a
 *           snapshot may return INFORMER_E_EXPIRED and INFORMER_E_CORRUPT. Below stand the other results.
 * Texts     Keys and values are (data, length). Names of resources, indexes and labels are terminated, as are
 *           the paths of functions ending in _at. Functions ending in _z take terminated texts only.
 * Threads   Any number of threads may share a handle. Only informer_detach() must run alone, as last call. A
 *           snapshot, with its objects, values and iterators, belongs to one thread at a time.
 * Lifetime  Objects, values and texts found through a snapshot are lent: valid until its informer_end(). Lent
 *           texts are not terminated. Do not move or copy an open snapshot or iterator.
 * Fork      A child attaches for itself. On the parent's handle, calls return INFORMER_E_FORKED in the child,
 *           and informer_detach() frees the child's copy only.
 * Quiet     No exit, no atexit, no output. Descriptors are close-on-exec.
 * SIGBUS    When a process maps its first arena, the library installs a SIGBUS handler. Where informerd took
 *           back an arena's memory, the handler maps zeros. Every other SIGBUS goes to the previous handler.
 *           A program that installs a handler later must pass signals on in the same way.
 *
 * Caveats
 * - An open snapshot makes informerd keep all object states replaced since. End snapshots soon; copy
 *   (informer_object_copy()) what you need for longer.
 * - informerd revokes the oldest snapshot if it is 60 s old and open snapshots hold back 64 MiB (holdSeconds
 *   and holdBytes in informerd(8)). When the arena is full, an age of 1 s is enough.
 * - A revoked snapshot expires, with all open snapshots of its handle: calls on them return
 *   INFORMER_E_EXPIRED. What a snapshot lent stays readable until its informer_end(), but may turn to zeros.
 *   informer_begin() returns INFORMER_E_NOT_READY until the handle has attached again. The handle attaches by
 *   itself, after 5 s and when the expired snapshots are ended.
 * - Snapshots also expire when informerd disconnects their reader, and at the latest 60 s (holdSeconds) after
 *   informerd replaced their arena. Snapshots stay valid when informerd ends or crashes.
 * - A handle has 63 pins, so all threads together may have 63 snapshots open. Beyond: INFORMER_E_BUSY.
 * - Close only descriptors that you opened. Closing "all from 3 up" breaks the handle.
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

/* This header's version: a library with the same major and at least this minor serves it. */
#define INFORMER_API_MAJOR 0
#define INFORMER_API_MINOR 1
#define INFORMER_API_VERSION ((INFORMER_API_MAJOR << 16) | INFORMER_API_MINOR)

/* The linked library's INFORMER_API_VERSION, and its release as text, "0.1.0". Neither call can fail. */
INFORMER_API uint32_t informer_api_version(void);
INFORMER_API const char *informer_library_version(void);

/* ---- errors ------------------------------------------------------------- */

/*
 * X(name, code, cause, remedy). Three families: wait (try later), renew (open again), fault (a person must
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
	  "attach another handle for new handlers")                                                          \
	X(AMBIGUOUS, -4109,                                                                                  \
	  "more than one container has an ID that begins so; informer_error_text() has two",                 \
	  "give more characters of the ID")

enum informer_error {
	INFORMER_OK = 0,
#define INFORMER_ERROR_ENUM_(name, code, cause, remedy) INFORMER_E_##name = code,
	INFORMER_ERRORS(INFORMER_ERROR_ENUM_)
#undef INFORMER_ERROR_ENUM_
};

/* What a code means: a constant text, never NULL. For a negative errno, strerror(-code) may tell more. */
INFORMER_API const char *informer_strerror(int code);
/* What to do about a code; "" if there is no advice. */
INFORMER_API const char *informer_error_remedy(int code);
/* "INFORMER_E_BUSY". For a negative errno its name if known, else "UNKNOWN". */
INFORMER_API const char *informer_error_name(int code);

/* ---- attaching ---------------------------------------------------------- */

struct informer;

enum informer_log_level { INFORMER_LOG_ERROR, INFORMER_LOG_WARNING, INFORMER_LOG_INFO, INFORMER_LOG_DEBUG };

#define INFORMER_VERIFY 1u /* check each block's integrity tag when the block is first touched */
/*
 * While no informerd runs and nothing is attached, read what the last informerd left in memory, as of its
 * last commit. informer_status() calls such an arena stale. Only informerd's own user and root can do this,
 * on the host. The handle looks until there is something to read, and moves to the next informerd by itself.
 * With INFORMER_VERIFY the keys come from informerd's key file.
 */
#define INFORMER_ORPHAN 2u

/*
 * size         sizeof(struct informer_options); fields beyond size are taken as zero
 * flags        INFORMER_VERIFY, INFORMER_ORPHAN
 * socket_path  NULL: $INFORMER_SOCKET; else, unless root, the user's own place, informer/informer.sock in
 *              $XDG_RUNTIME_DIR or /run/user/UID, or /tmp/informer-UID/informer.sock; and if nothing listens
 *              there, /run/informer/informer.sock. A handle that was attached keeps to its place.
 * reader_name  shown by `informerctl stat`, cut to 63 bytes; NULL: the program's name
 * log          receives attach, loss and re-attach, and at most once an hour why the handle cannot attach.
 *              Any call may call log, with locks held: log must not call the library. NULL: no log
 * allocate     with release, serves all memory but mappings and the verification table; both or neither
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
 * Attach: make a handle and try once to reach the daemon. Succeeds whether or not the daemon runs. Later
 * attempts are made by informer_dispatch(), informer_wait_*(), and informer_begin() with nothing to read.
 *
 * options  NULL: all defaults
 * Returns  0, -EINVAL (wrong size, unknown flag, or one of allocate and release alone), -ENAMETOOLONG (socket
 *          path), -ENOMEM, -EMFILE and other negative errno
 * Cost     blocks up to 100 ms for the answer of a daemon that runs, starts or ends; else does not wait
 */
INFORMER_API int informer_attach(const struct informer_options *options, struct informer **ret_informer);

/* Detach and free everything, also memory that open snapshots lent. NULL is allowed. */
INFORMER_API void informer_detach(struct informer *informer);

/*
 * A descriptor for poll(2), epoll(7) and event loops. Readable when informer_dispatch() has work: the daemon
 * came or went, a commit came that informer_arm() asked for, or a handler is due. Lent, and the same until
 * informer_detach().
 */
INFORMER_API int informer_fd(const struct informer *informer);

/*
 * Do the handle's pending work, and call the handlers that are due (informer-handlers.h). Does not block,
 * except in handlers. Calls from several threads take turns; lookups never wait for them.
 *
 * Returns  1 something changed (a commit, an attach, a loss), 0 nothing changed. Failed attempts to attach
 *          are in informer_status(); the handle tries again by itself
 */
INFORMER_API int informer_dispatch(struct informer *informer);

/*
 * This thread's last failure as a sentence for people, if that failure had this code; else
 * informer_strerror(). Never empty. Call this right after the failed call. No handle is needed:
 * informer_attach() may have failed.
 *
 * buffer   of size bytes; receives what fits, terminated; may be NULL
 * Returns  the sentence's length
 */
INFORMER_API size_t informer_error_text(int code, char *buffer, size_t size);

/*
 * size        set by the caller: sizeof(struct informer_status)
 * attached    the handle has an arena to read
 * connected   the daemon's socket is open: the daemon lives and protects the handle's snapshots
 * stale       the arena is not kept up to date: the daemon is gone, gave no sign of life for 15 s, or has a
 *             newer arena
 * age_ns      time since the daemon's last sign of life (CLOCK_BOOTTIME); 0 when not attached
 * generation  of the arena
 * attaches    number of arenas attached so far
 * pins        open snapshots of the current arena, at most 63
 * reason      a sentence: why not attached or stale; else ""
 * failure     why the daemon's socket is not open, as a code; 0: the socket is open, or nothing is known yet.
 *             The handle always tries again.
 *             INFORMER_E_NOT_READY: the daemon starts, ends or is busy
 *             -ETIMEDOUT: the daemon does not answer
 *             -ENOENT, -ECONNREFUSED: no daemon runs
 *             -EACCES, INFORMER_E_REFUSED, INFORMER_E_LAYOUT: a person must act
 *             -EMFILE, -ENOMEM: this process has run out. Other codes: reason has the cause
 * server_release  of the API server, 1000 * major + minor: 1036 is Kubernetes 1.36; 0: not known
 * socket      at which the handle is or was attached, else that was connected last, else the first that it
 *             tries; lent until detached
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
	const char *socket;
};
INFORMER_API int informer_status(struct informer *informer, struct informer_status *status);

/* ---- snapshots ---------------------------------------------------------- */

/* One consistent view of all resources and indexes, in the caller's memory. The content is private. */
struct informer_snapshot {
	uint64_t private_[10];
};

/*
 * Which version a snapshot shows.
 *
 * generation      of the arena; a new generation may begin with any epoch
 * epoch           number of the commit; grows by 1 within a generation
 * seq             number of the last change, of any resource; grows while lineage is the same
 * committed_*_ns  time of the commit: CLOCK_BOOTTIME, CLOCK_REALTIME
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
 * Begin a snapshot of the newest commit: all resources and indexes of this one commit. Later commits do not
 * change the snapshot. Neither daemon nor reader waits for the other. End the snapshot soon (informer_end()).
 *
 * Returns   0; INFORMER_E_NOT_READY (not attached, or not again since informerd disconnected this reader),
 *           INFORMER_E_BUSY (63 are open), INFORMER_E_CORRUPT
 * Cost      about 20 ns: one atomic exchange; no system call, no wait, no allocation. The first call after
 *           the arena's file grew adds one system call. With nothing to read, or when a restarted daemon
 *           offers a new arena, the call also drives the connection: some system calls (connect, recvmsg,
 *           mmap) and calls of `log`, at most every 200 µs, without waiting. Until the new arena is attached,
 *           snapshots show the old arena
 */
INFORMER_API int informer_begin(struct informer *informer, struct informer_snapshot *ret_snapshot);

/* End a snapshot. Does nothing for NULL, an all-zero snapshot, or an ended snapshot. */
INFORMER_API void informer_end(struct informer_snapshot *snapshot);

INFORMER_API int informer_snapshot_moment(const struct informer_snapshot *snapshot,
					  struct informer_moment *ret_moment);

/* ---- resources ---------------------------------------------------------- */

/* A resource name that stays valid over commits and generations. The handle owns it. */
struct informer_resource;

/*
 * Open a resource by name. The same name gives the same pointer.
 *
 * name     as in kubectl, in any case: pods, po, pod, Pod, pods.v1, deployments.apps, deployments.v1.apps
 * Returns  0, also if informerd does not cache the resource (lookups tell); -EINVAL: malformed name; -ENOMEM
 */
INFORMER_API int informer_resource_open(struct informer *informer, const char *name,
					struct informer_resource **ret_resource);

/*
 * What a snapshot says about a resource. The texts are lent.
 *
 * size              set by the caller: sizeof(struct informer_resource_info)
 * group             "" for the core group
 * namespace_        the only namespace that is cached; "" for all
 * resource_version  the API server's, of the newest change in the snapshot; "" before the first list
 * synced            the first list is in: an object that is not found does not exist
 * age_ns            time since informerd last heard from the API server on this resource's watch: below 1
 *                   minute while the watch works, also without changes; UINT64_MAX: never
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
	bool metadata_only; /* objects have only their metadata */
	/* informerd caches the resource once a reader asks for it; not synced before */
	bool on_demand;
	uint32_t drop_count; /* number of paths that informerd removes from the objects */
	/* every deletion after this seq is remembered (informer_each_deleted()), earlier ones perhaps not */
	uint64_t forgotten_seq;
	/*
	 * The watch reported each deletion after this resourceVersion, and each is remembered. A complete
	 * list sets complete_from. 0: not known, for example since a deletion was forgotten.
	 */
	uint64_t complete_from;
};

/*
 * The cached resources, by position: 0 to informer_resource_count() - 1. A resource cached for several
 * namespaces may have several entries. INFORMER_E_NOT_READY: the entry is configured, but discovery has not
 * resolved its kind yet. INFORMER_E_NOT_FOUND: no such position.
 */
INFORMER_API uint32_t informer_resource_count(const struct informer_snapshot *snapshot);
INFORMER_API int informer_resource_info_at(const struct informer_snapshot *snapshot, uint32_t position,
					   struct informer_resource_info *info);
/*
 * An entry's index names (i < info.index_count), short names (i < info.short_name_count), and paths that
 * informerd removes from its objects (i < info.drop_count). Objects that lack more than
 * "metadata.managedFields" must not be written back. Returns 0 or INFORMER_E_NOT_FOUND.
 */
INFORMER_API int informer_resource_index_name(const struct informer_snapshot *snapshot, uint32_t position,
					      uint32_t i, const char **ret_name, size_t *ret_length);
INFORMER_API int informer_resource_short_name(const struct informer_snapshot *snapshot, uint32_t position,
					      uint32_t i, const char **ret_name, size_t *ret_length);
INFORMER_API int informer_resource_drop(const struct informer_snapshot *snapshot, uint32_t position,
					uint32_t i, const char **ret_path, size_t *ret_length);
/*
 * The same for an opened resource. With several entries: object_count is the sum; synced is true if all are;
 * age_ns, changed_seq and forgotten_seq are the highest; resource_version and namespace_ are "";
 * complete_from is 0. All else is the first entry's.
 */
INFORMER_API int informer_resource_info(const struct informer_snapshot *snapshot,
					struct informer_resource *resource,
					struct informer_resource_info *info);
/* The position of an opened resource's first entry, for the functions above. */
INFORMER_API int informer_resource_position(const struct informer_snapshot *snapshot,
					    struct informer_resource *resource, uint32_t *ret_position);

/* ---- lookups ------------------------------------------------------------ */

/*
 * Every lookup may return
 *
 * INFORMER_E_NO_RESOURCE  informerd does not cache the resource
 * INFORMER_E_NOT_READY    discovery has not resolved all configured names; the resource may be among them
 * INFORMER_E_NO_INDEX     the resource lacks the index
 * -EINVAL                 the resource belongs to another handle
 * -ENOMEM
 *
 * No lookup blocks, allocates or makes a system call. Exception: the first lookup of a resource in an arena,
 * or after informerd redefined resources, takes a lock and allocates. For an on-demand resource such a lookup
 * also sends informerd a message.
 */

/* An object in a snapshot. Freely copied; nothing to free; content private. */
struct informer_object {
	const struct informer_snapshot *snapshot_;
	const void *object_;
	uint32_t ref_;
	uint32_t entry_;
};

/* Get by key. ns_length 0: cluster-scoped. Returns 0 or INFORMER_E_NOT_FOUND. */
INFORMER_API int informer_get(const struct informer_snapshot *snapshot, struct informer_resource *resource,
			      const char *ns, size_t ns_length, const char *name, size_t name_length,
			      struct informer_object *ret_object);
/* As informer_get(), with terminated texts; ns may be NULL. */
INFORMER_API int informer_get_z(const struct informer_snapshot *snapshot, struct informer_resource *resource,
				const char *ns, const char *name, struct informer_object *ret_object);
/* As informer_get(), by "namespace/name", or by "name" for cluster-scoped objects. "/name" is never found. */
INFORMER_API int informer_get_key(const struct informer_snapshot *snapshot,
				  struct informer_resource *resource, const char *key, size_t length,
				  struct informer_object *ret_object);
/*
 * Get many by key, for a batch of events or log lines. For objects outside the CPU's caches this takes less
 * than half the time of single informer_get() calls: cache misses overlap.
 *
 * keys         borrowed for the call
 * ret_objects  count objects; a missing one has an informer_object_seq() of 0. Undefined after a failure
 * ret_found    how many were found; may be NULL
 * Returns      0, also when none was found
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
/* Get by metadata.uid (pods also by the annotation kubernetes.io/config.mirror). */
INFORMER_API int informer_get_by_uid(const struct informer_snapshot *snapshot,
				     struct informer_resource *resource, const char *uid, size_t length,
				     struct informer_object *ret_object);
/*
 * Get the pod that has this IP address. Skips hostNetwork pods, which share the node's address, and finished
 * pods (Succeeded, Failed), whose address may be in use again.
 */
INFORMER_API int informer_pod_by_ip(const struct informer_snapshot *snapshot, struct informer_resource *pods,
				    const char *ip, size_t length, struct informer_object *ret_object);
/* Get the pod of a container (also init, ephemeral). The id may begin with "containerd://". */
INFORMER_API int informer_pod_by_container_id(const struct informer_snapshot *snapshot,
					      struct informer_resource *pods, const char *id, size_t length,
					      struct informer_object *ret_object);

/*
 * Iteration. The iterator is the caller's memory; nothing to free; stop at any point.
 *
 *	struct informer_iter it;
 *	struct informer_object pod;
 *	int r = informer_by_index(&snap, pods, "nodeName", "n1", 2, &it);
 *	while (r == 0 && (r = informer_next(&it, &pod)) > 0)
 *		r = use(&pod);
 *
 * The start functions return 0 also when there is no object. The order is unspecified, but the same for the
 * same snapshot. Texts and selectors passed to a start function are borrowed until the iteration ends.
 */
struct informer_iter {
	uint64_t private_[80];
};
struct informer_label_selector;

/* Returns 1 with the next object, 0 at the end, or negative. */
INFORMER_API int informer_next(struct informer_iter *it, struct informer_object *ret_object);

INFORMER_API int informer_list(const struct informer_snapshot *snapshot, struct informer_resource *resource,
			       struct informer_iter *ret_iter);
INFORMER_API int informer_list_namespace(const struct informer_snapshot *snapshot,
					 struct informer_resource *resource, const char *ns, size_t ns_length,
					 struct informer_iter *ret_iter);
/* The objects that have this value in the index of this name. */
INFORMER_API int informer_by_index(const struct informer_snapshot *snapshot,
				   struct informer_resource *resource, const char *index, const char *value,
				   size_t value_length, struct informer_iter *ret_iter);
INFORMER_API int informer_by_index_z(const struct informer_snapshot *snapshot,
				     struct informer_resource *resource, const char *index, const char *value,
				     struct informer_iter *ret_iter);
/*
 * The objects that have a value in the index that begins with a prefix. Only for an index that was declared
 * with a prefix, and then with as many bytes or more: containerID of pods (12), and those of informerd
 * --index NAME=RESOURCE:PATH:prefix=N.
 *
 * Returns  as informer_by_index(). INFORMER_E_NO_INDEX also if the index was declared without a prefix,
 *          -EINVAL also if the prefix is shorter; informer_error_text() has the sentence
 * Cost     an index lookup, and the values of each object that shares the first N bytes are compared
 */
INFORMER_API int informer_by_index_prefix(const struct informer_snapshot *snapshot,
					  struct informer_resource *resource, const char *index,
					  const char *prefix, size_t length, struct informer_iter *ret_iter);
/* How many objects informer_by_index() would give. Only an index with a prefix touches them. */
INFORMER_API int informer_count_by_index(const struct informer_snapshot *snapshot,
					 struct informer_resource *resource, const char *index,
					 const char *value, size_t value_length, uint64_t *ret_count);
/*
 * The objects that a label selector (NULL: all) matches, in one namespace or (ns_length 0) in all. An index
 * narrows the search: by namespace, or by an equality in the selector (=, ==, in with one value). With
 * neither, every object is visited.
 */
INFORMER_API int informer_select(const struct informer_snapshot *snapshot, struct informer_resource *resource,
				 const char *ns, size_t ns_length,
				 const struct informer_label_selector *selector,
				 struct informer_iter *ret_iter);

/* ---- label selectors ---------------------------------------------------- */

/*
 * Compile a label selector: app=web,tier in (a,b),env!=prod,release,!canary,weight>5. Empty matches all.
 *
 * ret_selector  free it with informer_label_selector_free()
 * ret_offset    on INFORMER_E_SYNTAX, the byte of the error; may be NULL
 * Returns       0, INFORMER_E_SYNTAX (informer_error_text() has the reason), -ENOMEM
 * Threads       several may use a compiled selector at once
 */
INFORMER_API int informer_label_selector_compile(struct informer *informer, const char *text, size_t length,
						 struct informer_label_selector **ret_selector,
						 size_t *ret_offset);
INFORMER_API void informer_label_selector_free(struct informer_label_selector *selector);
/* Whether a selector matches an object: 1, 0, or negative. */
INFORMER_API int informer_label_selector_matches(const struct informer_label_selector *selector,
						 const struct informer_object *object);

/*
 * Field selectors: path=value, path==value, path!=value, joined by commas, on any path:
 * spec.nodeName=n1,status.phase!=Running. An absent field counts as "". Errors, ownership and threads: as for
 * label selectors. Matching uses no index: for nodeName or podIP use informer_by_index().
 */
struct informer_field_selector;
INFORMER_API int informer_field_selector_compile(struct informer *informer, const char *text, size_t length,
						 struct informer_field_selector **ret_selector);
INFORMER_API void informer_field_selector_free(struct informer_field_selector *selector);
INFORMER_API int informer_field_selector_matches(const struct informer_field_selector *selector,
						 const struct informer_object *object);

/* ---- objects and values ------------------------------------------------- */

/*
 * An object's namespace, name, UID and resourceVersion, as lent texts. A filtered copy has all four.
 *
 * Returns  0; INFORMER_E_NOT_FOUND: the object has no UID, or no resourceVersion
 * Cost     a few nanoseconds
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
 * The seq of the change that made this state, and of the change that created the object; 0: no object, or its
 * snapshot has expired.
 */
INFORMER_API uint64_t informer_object_seq(const struct informer_object *object);
INFORMER_API uint64_t informer_object_created_seq(const struct informer_object *object);
/* Position of the object's resource, for informer_resource_info_at(). */
INFORMER_API uint32_t informer_object_position(const struct informer_object *object);

/* A label or an annotation. Returns 0, INFORMER_E_NOT_FOUND, INFORMER_E_TYPE (not a string). */
INFORMER_API int informer_object_label(const struct informer_object *object, const char *key,
				       const char **ret_data, size_t *ret_length);
INFORMER_API int informer_object_annotation(const struct informer_object *object, const char *key,
					    const char **ret_data, size_t *ret_length);

/* An entry of metadata.ownerReferences. An absent text is empty. api_version is, for example, "apps/v1". */
struct informer_text {
	const char *data;
	size_t length;
};
struct informer_owner {
	struct informer_text api_version, kind, name, uid;
	bool controller, block_owner_deletion;
};
/* The owner at index i, from 0. INFORMER_E_NOT_FOUND: no more. */
INFORMER_API int informer_object_owner(const struct informer_object *object, size_t i,
				       struct informer_owner *ret_owner);
/* The owner that controls the object, for example a pod's ReplicaSet. INFORMER_E_NOT_FOUND: none. */
INFORMER_API int informer_object_controller(const struct informer_object *object,
					    struct informer_owner *ret_owner);

/*
 * Compile a path: spec.nodeName, status.podIPs[0].ip, spec.containers[*].image,
 * metadata.labels["app.kubernetes.io/name"]. A leading '.' and kubectl's braces are accepted.
 *
 * ret_path  free it with informer_path_free()
 * Returns   0, INFORMER_E_SYNTAX (informer_error_text() has place and reason), -ENOMEM
 * Threads   several may use a compiled path at once
 */
struct informer_path;
INFORMER_API int informer_path_compile(struct informer *informer, const char *text, size_t length,
				       struct informer_path **ret_path);
INFORMER_API void informer_path_free(struct informer_path *path);

/*
 * Read a field; with [*] in the path, the first match. No parse, no allocation.
 *
 * Returns  0; INFORMER_E_NOT_FOUND: absent; INFORMER_E_TYPE: of another kind; -ERANGE: informer_get_int() met
 *          an integer above INT64_MAX
 */
INFORMER_API int informer_get_string(const struct informer_object *object, const struct informer_path *path,
				     const char **ret_data, size_t *ret_length);
/*
 * As informer_get_string(), by a path's text: "spec.nodeName". Each call compiles the path, about 0.2 µs.
 * Also returns INFORMER_E_SYNTAX.
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
	INFORMER_INT,  /* fits int64_t */
	INFORMER_UINT, /* above INT64_MAX */
	INFORMER_DOUBLE,
	INFORMER_NUMBER, /* a number of any other form: its text */
	INFORMER_STRING,
	INFORMER_ARRAY,
	INFORMER_OBJECT,
};

/* A value within an object. Freely copied; nothing to free; content private. */
struct informer_value {
	const void *private_[4];
};

/* The whole object as a value; the value at a path. Returns 0 or INFORMER_E_NOT_FOUND. */
INFORMER_API int informer_object_value(const struct informer_object *object,
				       struct informer_value *ret_value);
INFORMER_API int informer_get_value(const struct informer_object *object, const struct informer_path *path,
				    struct informer_value *ret_value);
INFORMER_API int informer_value_get(const struct informer_value *value, const struct informer_path *path,
				    struct informer_value *ret_value);
/* Call `each` for every match of a path, in the object's order. A non-zero result stops and is returned. */
INFORMER_API int informer_each_value(const struct informer_object *object, const struct informer_path *path,
				     int (*each)(void *context, const struct informer_value *value),
				     void *context);

/* INFORMER_NONE also if the snapshot has expired. */
INFORMER_API enum informer_kind informer_value_kind(const struct informer_value *value);
/*
 * Returns 0, INFORMER_E_TYPE, or INFORMER_E_NOT_FOUND (no value). informer_value_string() also reads an
 * INFORMER_NUMBER's text, informer_value_uint() an INFORMER_INT >= 0, and informer_value_double() any number.
 */
INFORMER_API int informer_value_string(const struct informer_value *value, const char **ret_data,
				       size_t *ret_length);
INFORMER_API int informer_value_bool(const struct informer_value *value, bool *ret);
INFORMER_API int informer_value_int(const struct informer_value *value, int64_t *ret);
INFORMER_API int informer_value_uint(const struct informer_value *value, uint64_t *ret);
INFORMER_API int informer_value_double(const struct informer_value *value, double *ret);
/* Number of fields or elements; 0 for other kinds, and if the snapshot has expired. */
INFORMER_API size_t informer_value_count(const struct informer_value *value);
/* One field, or one element from 0. Returns 0, INFORMER_E_NOT_FOUND, INFORMER_E_TYPE. */
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
 * Returns 1 with an item, 0 at the end, or negative. Values of other kinds have no items.
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
 * Write JSON without white space, fields in the API server's order.
 *
 * emit     receives the pieces; a non-zero result stops and is returned
 */
INFORMER_API int informer_value_to_json(const struct informer_value *value,
					int (*emit)(void *context, const char *data, size_t length),
					void *context);
INFORMER_API int informer_object_to_json(const struct informer_object *object,
					 int (*emit)(void *context, const char *data, size_t length),
					 void *context);
/*
 * The same into a buffer: what fits, terminated if size > 0.
 *
 * ret_length  of the whole JSON, which has fitted if length < size
 */
INFORMER_API int informer_object_json(const struct informer_object *object, char *buffer, size_t size,
				      size_t *ret_length);

/* By what an object is found: informer_find() (informer-handlers.h), and the waits below. */
enum informer_by {
	INFORMER_BY_KEY,	  /* "namespace/name" or "name" */
	INFORMER_BY_UID,
	INFORMER_BY_IP,		  /* pods, also finished ones; hostNetwork pods are skipped */
	INFORMER_BY_CONTAINER_ID, /* pods; with or without "containerd://" */
	INFORMER_BY_INDEX,	  /* "INDEX=VALUE": only for informer_wait_object() */
};

/* ---- waiting ------------------------------------------------------------ */

/*
 * timeout_ms  the longest wait; negative: no limit; 0: only look
 * Returns     0, -ETIMEDOUT (informer_error_text() says what is missing, and what the API server refused),
 *             INFORMER_E_NO_RESOURCE (wait_synced, wait_version: informerd runs and does not cache the
 *             resource; at once, and informer_error_text() says what it caches),
 *             INFORMER_E_BUSY (63 snapshots are open), INFORMER_E_CORRUPT, -ENOMEM
 * Threads     several may wait at once. Waiters sleep; they do not poll. A signal does not interrupt
 */

/* Wait until an arena is attached. */
INFORMER_API int informer_wait_attached(struct informer *informer, int timeout_ms);
/*
 * Wait until the resource is cached and its first list is in. NULL: at least one resource, and all that are
 * not on demand. Waiting for an on-demand resource by name makes informerd cache it.
 */
INFORMER_API int informer_wait_synced(struct informer *informer, const char *resource, int timeout_ms);
/* Wait for a version newer than `seen`; another generation counts as newer. NULL: any version. */
INFORMER_API int informer_wait_commit(struct informer *informer, const struct informer_moment *seen,
				      int timeout_ms);

/*
 * Wait until the cached resource is at least as new as a resourceVersion of the API server: "have I seen my
 * own write?" Versions compare as numbers, within one resource only. Without changes, a resource's version
 * moves by bookmarks, about once a minute.
 *
 * version  decimal digits without leading zeros, not "0" (the API's rule for comparing); else -EINVAL
 */
INFORMER_API int informer_wait_version(struct informer *informer, const char *resource, const char *version,
				       int timeout_ms);

/*
 * Wait until an object is in a wanted state ("kubectl wait"). The state is checked now and after each commit;
 * the wait continues while informerd restarts.
 *
 * value     what the object is found by, terminated. Of several objects with an index's value, one must be as
 *           wanted
 * met       called in this thread, without locks. object is NULL if the object does not exist (and the
 *           resource is synced). snapshot and object are lent for the call. Returns 1: as wanted; 0: not yet;
 *           negative: end the wait. met sees states, not changes: an object deleted and created again between
 *           two checks has another UID. met may do lookups, but must not wait
 * Returns   as above; INFORMER_E_NO_INDEX; or met's negative result
 * Cost      each commit wakes the thread for one lookup and one call. To wait for many objects at once:
 *           informer_park() (informer-handlers.h)
 */
INFORMER_API int informer_wait_object(struct informer *informer, const char *resource, enum informer_by by,
				      const char *value,
				      int (*met)(void *context, const struct informer_snapshot *snapshot,
						 const struct informer_object *object),
				      void *context, int timeout_ms);

/*
 * For event loops: make informer_fd() readable at the next commit, once.
 *
 * Returns  0 armed; 1 a version newer than `seen` exists, look now; negative as above.
 *          While nothing is attached: 0; the attach makes the descriptor readable
 */
INFORMER_API int informer_arm(struct informer *informer, const struct informer_moment *seen);

/* ---- for tools ---------------------------------------------------------- */

/*
 * Get the daemon's report, one JSON document (informerctl stat -o json). Uses a connection of its own and no
 * pin, and works during the first list. timeout_ms is as above.
 *
 * ret_text    terminated; free it with informer_free()
 * ret_length  may be NULL
 * Returns     0; -ETIMEDOUT: no answer; -EAGAIN: not accepted in time; -ENOENT, -ECONNREFUSED: no daemon;
 *             -EACCES, INFORMER_E_REFUSED: not allowed; INFORMER_E_NOT_READY: busy, ask again; -ECONNRESET:
 *             four hang-ups; -EPROTO, INFORMER_E_LAYOUT: another release; -EMFILE, -ENOMEM
 */
INFORMER_API int informer_stat_json(struct informer *informer, int timeout_ms, char **ret_text,
				    size_t *ret_length);
INFORMER_API void informer_free(struct informer *informer, void *memory);

/*
 * Check every block that the snapshot reaches: bounds, type, form, and integrity tag. Without INFORMER_VERIFY
 * tags are not checked (ret_counts.tags is 0).
 *
 * report      called for each fault, with its offset in the arena; a non-zero result stops and is returned;
 *             may be NULL
 * ret_counts  may be NULL; also set when faults were found
 * Returns     0: no fault; INFORMER_E_CORRUPT: faults; report's result; -ENOMEM
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

/* Events, shared informers, the node's view and workqueues have their own headers. */
#include "informer-factory.h"
#include "informer-handlers.h"
#include "informer-node.h"
#include "informer-workqueue.h"

#endif
