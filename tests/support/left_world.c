/* SPDX-License-Identifier: Apache-2.0 */
/* A writer in this process, with its files only: lock, note, key, arena. */
#include "tests/support/left_world.h"

#include "tests/room.h"
#include "tests/support/reader_world.h"
#include "tests/support/temp_dir.h"

void
left_world_start(struct left_world *w)
{
	struct intern *intern = NULL;
	char *error = NULL, path[512];

	assert_int_equal(lock_take(w->socket, &w->lock, &error), 0);
	w->arena = generations_next(&w->generations, &intern);
	w->store = store_fixture_over(w->arena, intern);
	snprintf(path, sizeof(path), "%s/%s", w->generations.path, w->arena->name);
	assert_int_equal(lock_note_arena(&w->lock, path, w->arena->header->incarnation), 0);
}

void
left_world_put(struct left_world *w, const char *name)
{
	assert_true(store_fixture_putf(w->store,
				       "{\"metadata\":{\"namespace\":\"default\",\"name\":\"%s\","
				       "\"resourceVersion\":\"1\"}}",
				       name) >= 0);
	assert_true(store_commit(w->store->store) >= 0);
}

void
left_world_die(struct left_world *w)
{
	lock_release(&w->lock);
	store_fixture_free(w->store);
	w->store = NULL;
	arena_close(w->arena);
	free(w->arena);
	w->arena = NULL;
}

int
left_world_set_up(void **state)
{
	struct left_world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	assert_int_equal(temp_dir_setup(&w->dir), 0);
	w->socket = strdup(temp_path(w->dir, "s.sock"));
	w->lock_path = strdup(temp_path(w->dir, "s.sock.lock"));
	w->key_path = strdup(temp_path(w->dir, "s.sock.key"));
	generations_begin(&w->generations);
	left_world_start(w);
	left_world_put(w, "a");
	*state = w;
	return 0;
}

int
left_world_tear_down(void **state)
{
	struct left_world *w = *state;

	if (w->store)
		left_world_die(w);
	generations_end(&w->generations);
	free(w->socket);
	free(w->lock_path);
	free(w->key_path);
	temp_dir_teardown(&w->dir);
	free(w);
	return 0;
}

struct informer *
left_world_attach(const struct left_world *w, uint32_t flags)
{
	struct informer_options options = {.size = sizeof(options), .flags = flags, .socket_path = w->socket};
	struct informer *inf;

	assert_int_equal(informer_attach(&options, &inf), 0);
	return inf;
}

int
left_world_get(const struct left_world *w, struct informer *inf, const char *name)
{
	struct informer *own = inf ? NULL : left_world_attach(w, INFORMER_ORPHAN);
	int r = reader_get(inf ? inf : own, "default", name);

	informer_detach(own);
	return r;
}

void
left_world_release(struct left_world *w)
{
	lock_release(&w->lock);
}

void
left_world_key(const struct left_world *w, int value, size_t length, mode_t mode)
{
	uint8_t bytes[64];
	int fd = open(w->key_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	memset(bytes, value, sizeof(bytes));
	assert_true(fd >= 0 && length <= sizeof(bytes));
	assert_int_equal(write(fd, bytes, length), length);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}
