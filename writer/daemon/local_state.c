/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens what the daemon keeps on this machine, for daemon.c: takes the lock, loads the key, finds or makes
 * the arena, opens the store over it and publishes; and closes it in the other order.
 */
#include "writer/daemon/local_state.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <sodium.h>

#include "writer/daemon/key_file.h"
#include "writer/base/log.h"
#include "writer/base/message.h"

#define DEFAULT_ARENA_DIR "/dev/shm"

/* As far as the file may grow: what is configured, else all that the file system has. */
static uint64_t
arena_limit(int directory, uint64_t configured)
{
	uint64_t bytes = configured;
	struct statvfs fs;

	if (bytes == 0 && fstatvfs(directory, &fs) == 0)
		bytes = (uint64_t)fs.f_blocks * fs.f_frsize;
	if (bytes == 0 || bytes > ARENA_BYTES_LIMIT)
		bytes = ARENA_BYTES_LIMIT;
	return bytes < ARENA_BYTES_MIN ? ARENA_BYTES_MIN : bytes & ~(uint64_t)4095;
}

/* SOCKET.key, beside the socket and its lock. */
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
	r = key_file_load(path, local->place.master, why, sizeof(why));
	return r < 0 ? message_set(ret_error, r, "key file %s: %s", path, why) : 0;
}

static int
open_place(struct local_state *local, const struct config *config, char **ret_error)
{
	const char *dir = config->arena_dir ? config->arena_dir : DEFAULT_ARENA_DIR;

	if (strlen(config->arena_name) >= sizeof(local->place.prefix))
		return message_set(ret_error, -ENAMETOOLONG, "arena name '%s' is longer than %zu bytes",
				   config->arena_name, sizeof(local->place.prefix) - 1);
	snprintf(local->place.prefix, sizeof(local->place.prefix), "%s", config->arena_name);
	local->place.directory = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (local->place.directory < 0)
		return message_set(ret_error, -errno, "%s: %s; arena.dir must name a directory on a tmpfs",
				   dir, strerror(errno));
	local->place.max_bytes = arena_limit(local->place.directory, config->arena_max_bytes);
	return 0;
}

/* For readers that come when we are gone. */
static void
note_arena(const struct local_state *local, const struct config *config)
{
	_cleanup_(message_freep) char *path = NULL;
	int r = -ENOMEM;

	if (asprintf(&path, "%s/%s", config->arena_dir ? config->arena_dir : DEFAULT_ARENA_DIR,
		     local->arena.name) >= 0)
		r = lock_note_arena(&local->lock, path, local->arena.header->incarnation);
	else
		path = NULL;
	if (r < 0)
		log_warning("the lock file does not say where the arena is (%s): readers that start while "
			    "informerd is away find nothing",
			    strerror(-r));
}

static int
open_store(struct local_state *local, char **ret_error)
{
	struct intern *intern = NULL;
	int r;

	r = generation_adopt(&local->place, &local->arena, &intern, &local->adoption);
	if (r < 0)
		return message_set(ret_error, r, "%s", local->adoption.message);
	local->has_arena = true;
	r = store_new(&local->arena, intern, local->pins, &local->store);
	if (r < 0) {
		intern_free(intern);
		return message_set(ret_error, r, "the arena cannot be used: %s", strerror(-r));
	}
	generation_finish(&local->place, &local->arena, &local->adoption);
	return 0;
}

static void
tell(const struct local_state *local)
{
	const struct adoption *a = &local->adoption;

	if (a->how == ADOPTION_ADOPTED)
		log_info("adopted the arena of generation %" PRIu64 " as %" PRIu64 ": %" PRIu64
			 " MiB, %" PRIu64 " blocks, copied in "
			 "%.0f ms, verified in %.0f ms",
			 a->old_generation, a->generation, a->bytes >> 20, a->blocks,
			 (double)a->copy_ns / 1e6, (double)a->verify_ns / 1e6);
	else
		log_info("new arena, generation %" PRIu64 ", up to %" PRIu64 " MiB", a->generation,
			 local->place.max_bytes >> 20);
	if (a->strangers > 0)
		log_warning("%u %s of other users in the arena's directory %s its name: left alone",
			    a->strangers, a->strangers == 1 ? "file" : "files",
			    a->strangers == 1 ? "has" : "have");
	if (a->how == ADOPTION_REBUILD)
		log_warning("%s; it is built anew from the API server", a->message);
}

int
local_state_open(struct local_state *local, const struct config *config, char **ret_error)
{
	int r;

	memset(local, 0, sizeof(*local));
	r = lock_take(config->socket, &local->lock, ret_error);
	if (r < 0)
		return r;
	r = load_key(local, config->socket, ret_error);
	if (r == 0)
		r = open_place(local, config, ret_error);
	if (r == 0) {
		local->pins = pins_new(config->max_readers ? config->max_readers
							   : CONFIG_DEFAULT_MAX_READERS);
		r = local->pins ? 0 : -ENOMEM;
	}
	if (r == 0)
		r = open_store(local, ret_error);
	if (r < 0) {
		local_state_close(local);
		return r;
	}
	note_arena(local, config);
	tell(local);
	return 0;
}

void
local_state_close(struct local_state *local)
{
	bool keep = local->store && store_resource_count(local->store) > 0;

	store_free(local->store);
	if (local->has_arena) {
		arena_set_state(&local->arena, HEADER_STALE);
		if (!keep)
			unlinkat(local->place.directory, local->arena.name, 0);
		arena_close(&local->arena);
	}
	pins_free(local->pins);
	if (local->place.directory > 0) /* main() sees to it that 0 is taken */
		close(local->place.directory);
	sodium_memzero(&local->place, sizeof(local->place));
	lock_release(&local->lock);
	memset(local, 0, sizeof(*local));
}
