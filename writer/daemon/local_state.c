/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens and closes what the daemon keeps on this machine. Under the lock it loads the key, adopts or makes
 * the arena, opens the store and publishes. It closes in reverse order.
 */
#include "writer/daemon/local_state.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <sodium.h>

#include "writer/daemon/arena_budget.h"
#include "writer/base/log.h"
#include "writer/base/message.h"
#include "writer/base/place_remedy.h"
#include "writer/resource/descriptor.h"
#include "shm-layout/key_file.h"
#include "shm-layout/time_ns.h"

/*
 * True if there is address space for an arena of this range and its books. The range counts twice: a writer
 * that adopts an arena with pages without memory maps it a second time, to check it.
 */
static bool
fits_address_space(uint64_t range)
{
	uint64_t bytes = 2 * range + range / 8;
	void *p = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p != MAP_FAILED && munmap(p, bytes) == 0;
}

/* The largest available address range for an arena of this budget; 0: none is large enough. */
static uint64_t
choose_range(uint64_t budget)
{
	uint64_t range = arena_address_range(budget);

	while (range > budget && !fits_address_space(range))
		range = range / 2 > budget ? range / 2 & ~UINT64_C(4095) : budget;
	return fits_address_space(range) ? range : 0;
}

/* Write the key to a temporary file, then link it: the key file is complete or absent. */
static int
make_key_file(const char *path, char **ret_error)
{
	_cleanup_(message_freep) char *beside = NULL;
	uint8_t key[TAG_MASTER_BYTES];
	int fd, r = 0;

	message_format(&beside, "%s.%ld", path, (long)getpid());
	if (!beside)
		return -ENOMEM;
	unlink(beside);
	fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return message_set(ret_error, -errno, "key file %s: cannot create it: %s%s", path,
				   strerror(errno), place_remedy(-errno));
	randombytes_buf(key, sizeof(key));
	errno = ENOSPC; /* a short write sets no errno */
	if (fchmod(fd, 0600) < 0 || write(fd, key, sizeof(key)) != sizeof(key) || link(beside, path) < 0)
		r = errno == EEXIST ? 0 : -errno;
	if (r < 0)
		message_format(ret_error, "key file %s: cannot write its %zu bytes: %s%s", path, sizeof(key),
			       strerror(-r), place_remedy(r));
	sodium_memzero(key, sizeof(key));
	close(fd);
	unlink(beside);
	return r;
}

/* Read SOCKET.key; create it if it is absent. */
static int
load_key(struct local_state *local, const char *socket, char **ret_error)
{
	_cleanup_(message_freep) char *path = NULL;
	char why[256] = "";
	int r;

	if (asprintf(&path, "%s.key", socket) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	r = key_file_read(path, geteuid(), local->place.master, why, sizeof(why));
	if (r == -ENOENT) {
		r = make_key_file(path, ret_error);
		if (r < 0)
			return r;
		r = key_file_read(path, geteuid(), local->place.master, why, sizeof(why));
	}
	return r < 0 ? message_set(ret_error, r, "%s", why) : 0;
}

static const char *
arena_dir(const struct config *config)
{
	return config->arena_dir ? config->arena_dir : DEFAULT_ARENA_DIR;
}

/* What other programs use as well: /dev/shm, also when arena.dir names it. */
static bool
is_shared(const struct config *config)
{
	return strcmp(arena_dir(config), DEFAULT_ARENA_DIR) == 0;
}

static int
open_place(struct local_state *local, const struct config *config, char **ret_error)
{
	const char *dir = arena_dir(config);
	struct arena_means means = {0};
	uint64_t budget;

	if (strlen(config->arena_name) >= sizeof(local->place.prefix))
		return message_set(ret_error, -ENAMETOOLONG, "arena name '%s' is longer than %zu bytes",
				   config->arena_name, sizeof(local->place.prefix) - 1);
	snprintf(local->place.prefix, sizeof(local->place.prefix), "%s", config->arena_name);
	local->place.directory = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (local->place.directory < 0)
		return message_set(ret_error, -errno, "%s: %s; arena.dir must name a directory on a tmpfs",
				   dir, strerror(errno));
	means.configured = config->arena_max_bytes;
	means.shared = local->shared = is_shared(config);
	arena_means_look(&means, local->place.directory);
	budget = arena_budget_wanted(&means);
	local->system_bytes = means.system;
	local->place.max_bytes = choose_range(budget);
	if (local->place.max_bytes == 0)
		return message_set(ret_error, -ENOMEM,
				   "no address space for an arena of %" PRIu64
				   " MiB: raise the limit on that (ulimit -v), or lower --arena-max",
				   budget >> 20);
	return 0;
}

/* Note the arena in the lock file, for readers that start while no informerd runs. */
static void
note_arena(const struct local_state *local, const struct config *config)
{
	_cleanup_(message_freep) char *path = NULL;
	int r = -ENOMEM;

	if (asprintf(&path, "%s/%s", arena_dir(config), local->arena.name) >= 0)
		r = lock_note_arena(&local->lock, path, local->arena.header->incarnation);
	else
		path = NULL;
	if (r < 0)
		log_warning("the lock file does not say where the arena is (%s): readers that start while "
			    "informerd is away find nothing",
			    strerror(-r));
}

static void
look_at_means(const struct local_state *local, struct arena_means *means)
{
	struct arena_stats stats;

	arena_stats(&local->arena, &stats);
	means->present = stats.present_bytes;
	means->shared = local->shared;
	arena_means_look(means, local->arena.fd);
}

bool
local_state_fit_budget(struct local_state *local, uint64_t configured)
{
	struct arena_means means = { .configured = configured };
	uint64_t before = arena_budget(&local->arena), now;

	look_at_means(local, &means);
	if (means.system != local->system_bytes)
		log_info("the file system of the arena has another size: %" PRIu64 " MiB, it was %" PRIu64,
			 means.system >> 20, local->system_bytes >> 20);
	local->system_bytes = means.system;
	now = arena_budget_now(&means);
	arena_set_budget(&local->arena, now);
	return now > before;
}

bool
local_state_is_held_up(const struct local_state *local, uint64_t held)
{
	struct arena_means means = {0};

	look_at_means(local, &means);
	return arena_budget_is_held_up(&means, held);
}

/* Drop resources that no entry of the configuration serves, before positions are in use. */
static void
drop_unwanted(struct local_state *local, const struct config *config)
{
	bool wanted[RESOURCE_MAX] = {false};

	for (unsigned id = 0; id < store_resource_count(local->store); id++) {
		struct value descriptor = value_of_block(&local->arena.view,
							 store_resource(local->store, id)->descriptor);

		for (size_t i = 0; i < config->n_resources && !wanted[id]; i++)
			wanted[id] = descriptor_serves(descriptor, &config->resources[i]);
	}
	store_drop_unwanted(local->store, wanted);
}

/* A new arena finds no room, not even after all others that may go are gone. */
static int
refuse_without_room(const struct local_state *local, const struct config *config, char **ret_error)
{
	struct arena_means means = {.configured = config->arena_max_bytes, .shared = local->shared};
	char limit[512];

	arena_means_look(&means, local->place.directory);
	arena_budget_explain(&means, arena_dir(config), limit, sizeof(limit));
	return message_set(ret_error, -ENOSPC,
			   "cannot create the arena %s/%s.%" PRIu64 " with %u KiB: %s; %s", arena_dir(config),
			   config->arena_name, local->adoption.generation,
			   (unsigned)(HEADER_BYTES + ARENA_RESERVE) / 1024, strerror(ENOSPC), limit);
}

void
local_state_explain_budget(const struct local_state *local, const struct config *config, char *text,
			   size_t size)
{
	struct arena_means means = {.configured = config->arena_max_bytes};
	char limit[512];

	look_at_means(local, &means);
	arena_budget_explain(&means, arena_dir(config), limit, sizeof(limit));
	snprintf(text, size, "cannot grow the arena %s/%s beyond %" PRIu64 " MiB: %s", arena_dir(config),
		 local->arena.name, means.present >> 20, limit);
}

static int
open_store(struct local_state *local, const struct config *config, char **ret_error)
{
	struct intern *intern = NULL;
	int r;

	r = generation_adopt(&local->place, &local->arena, &intern, &local->adoption);
	if (r == -ENOSPC)
		return refuse_without_room(local, config, ret_error);
	if (r < 0)
		return message_set(ret_error, r, "%s", local->adoption.message);
	local->has_arena = true;
	local_state_fit_budget(local, config->arena_max_bytes);
	r = store_new(&local->arena, intern, local->pins, &local->store);
	if (r < 0) {
		intern_free(intern);
		return message_set(ret_error, r, "the arena cannot be used: %s", strerror(-r));
	}
	drop_unwanted(local, config);
	/* Publish, note, then remove the previous arena: if we are killed, a complete arena is noted. */
	arena_set_state(&local->arena, HEADER_LIVE);
	note_arena(local, config);
	generation_finish(&local->place, &local->arena, &local->adoption);
	return 0;
}

static void
tell(const struct local_state *local)
{
	const struct adoption *a = &local->adoption;

	if (a->how == ADOPTION_ADOPTED)
		log_info("adopted the arena of generation %" PRIu64 " as %" PRIu64 ": %" PRIu64
			 " MiB, %" PRIu64 " blocks, copied in %.0f ms, verified in %.0f ms",
			 a->old_generation, a->generation, a->bytes >> 20, a->blocks,
			 (double)a->copy_ns / 1e6, (double)a->verify_ns / 1e6);
	else
		log_info("new arena, generation %" PRIu64 ", up to %" PRIu64 " MiB", a->generation,
			 arena_budget(&local->arena) >> 20);
	if (a->strangers > 0)
		log_warning("%u %s of other users in the arena's directory %s its name: left alone",
			    a->strangers, a->strangers == 1 ? "file" : "files",
			    a->strangers == 1 ? "has" : "have");
	if (a->how == ADOPTION_REBUILD)
		log_warning("%s; it is built anew from the API server", a->message);
}

void
local_state_expire(struct local_state *local, uint64_t patience_ns)
{
	uint64_t now = time_ns(CLOCK_BOOTTIME), old = local->adoption.old_generation;

	if (local->has_arena && generation_expire(&local->place, &local->adoption, now, patience_ns))
		log_warning("readers kept generation %" PRIu64 " of the arena for %" PRIu64
			    " s after it was replaced: their snapshots have expired, and its memory is given "
			    "back",
			    old, (now - local->adoption.superseded_ns) / 1000000000u);
}

bool
local_state_make_room(struct local_state *local)
{
	if (!local->has_arena || !generation_give_back(&local->place, &local->adoption))
		return false;
	log_warning("the arena needs room: freed the memory of generation %" PRIu64
		    ", which was replaced; snapshots that readers held there have expired",
		    local->adoption.old_generation);
	return true;
}

int
local_state_prepare(struct local_state *local, const struct config *config, char **ret_error)
{
	int r;

	memset(local, 0, sizeof(*local));
	r = open_place(local, config, ret_error);
	if (r < 0)
		return r;
	local->pins = pins_new(config->max_readers ? config->max_readers : CONFIG_DEFAULT_MAX_READERS);
	return local->pins ? 0 : -ENOMEM;
}

void
local_state_warn_of_disk(const struct local_state *local, const struct config *config)
{
	struct statfs fs;

	if (fstatfs(local->place.directory, &fs) < 0)
		return;
	switch ((unsigned long)fs.f_type) {
	case TMPFS_MAGIC:
	case HUGETLBFS_MAGIC:
	case RAMFS_MAGIC:
		return;
	default:
		log_warning("%s is not on a tmpfs: the kernel writes the arena's pages to disk; choose a "
			    "tmpfs directory with --arena-dir (arena.dir)",
			    arena_dir(config));
	}
}

int
local_state_open(struct local_state *local, const struct config *config, struct lock lock, char **ret_error)
{
	int r;

	local->lock = lock;
	r = load_key(local, config->socket, ret_error);
	if (r == 0)
		r = open_store(local, config, ret_error);
	if (r < 0) {
		local_state_close(local);
		return r;
	}
	tell(local);
	return 0;
}

void
local_state_close(struct local_state *local)
{
	bool keep = local->store && store_resource_count(local->store) > 0;

	store_free(local->store);
	if (local->has_arena) {
		generation_leave(&local->adoption);
		arena_set_state(&local->arena, HEADER_STALE);
		if (!keep)
			unlinkat(local->place.directory, local->arena.name, 0);
		arena_close(&local->arena);
	}
	pins_free(local->pins);
	if (local->place.directory > 0) /* never 0: main() keeps 0 open */
		close(local->place.directory);
	sodium_memzero(&local->place, sizeof(local->place));
	lock_release(&local->lock);
	memset(local, 0, sizeof(*local));
}
