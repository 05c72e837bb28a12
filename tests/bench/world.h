/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A writer in this process: a store of pods with all built-in indexes in its own arena file. A broker runs on
 * its own thread, so that readers attach as to the daemon.
 *
 * The store is used on the caller's thread, and not while a reader attaches.
 */
#ifndef TESTS_BENCH_WORLD_H
#define TESTS_BENCH_WORLD_H

#include <pthread.h>

#include <uv.h>

#include "tests/bench/bench.h"
#include "writer/store/generation.h"
#include "writer/serve/broker.h"
#include "writer/decode/decoder.h"
#include "writer/serve/fan_out.h"
#include "writer/fifo/apply.h"
#include "writer/store/store.h"

struct world {
	char directory[96];
	char socket[112];
	struct arena_place place;
	struct adoption adoption;
	struct arena arena;
	struct pins *pins;
	struct store *store;
	unsigned pods;				/* the resource's id */
	struct decoder_schema *schema;
	struct decoder *decoder;		/* of lists, or of a watch */
	enum decoder_mode mode;
	const struct proto_schema *protobuf; /* protobuf is fed by this schema; NULL: JSON */
	unsigned uncommitted;
	uint64_t stored;

	bool serving; /* on its own thread */
	struct fan_out *fan_out;
	struct broker *broker;
	uv_loop_t loop;
	uv_async_t end;
	pthread_t thread;
};

/* Changes a commit, as in the daemon. */
#define WORLD_BATCH 64u
#define WORLD_LIST_BATCH APPLIER_PUT_OFF

/* A new, empty world, in its own folder within the bench's. A failure ends the measurement. */
struct world *world_new(const struct bench *b);
void world_free(struct world *w);

/* Feed bytes as from the server: of a LIST, of a WATCH. Objects are put and committed as they come. */
void world_feed(struct world *w, enum decoder_mode mode, const void *bytes, size_t length);
/* For decoders that feed a world otherwise: ends it on unreadable input, and ignores the end of a list. */
int world_bad_object(void *context, const char *why);
int world_list_end(void *context, const char *version, const char *more, int64_t remaining);
/* Commit what is open. */
void world_commit(struct world *w);
/* The same, and call the resource synced. */
void world_synced(struct world *w);

/* List `total` replicas. */
void world_load(struct world *w, const struct bench *b, enum pods_naming naming, size_t total);
/* Append a MODIFIED event of replica i to text. */
void world_event(const struct bench *b, enum pods_naming naming, size_t i, size_t total, unsigned version,
		 struct bytes *text);

/* Let readers attach at w->socket. */
void world_serve(struct world *w);
void world_stop_serving(struct world *w);

/* The same with queues, on this thread: the broker works in world_turn(). Commits wake its readers. */
void world_serve_events(struct world *w);
void world_turn(struct world *w);

/*
 * The writer ends without a message, and another one comes: a new generation adopts the arena file, and the
 * store goes on. Returns how long that took, ms.
 */
double world_adopt(struct world *w);

#endif
