/* SPDX-License-Identifier: Apache-2.0 */
/* A socket has one writer: its lock is taken, waited for and inherited, and no other file passes for it. */
#include <sched.h>
#include <stdatomic.h>

#include "tests/room.h"
#include "tests/support/temp_dir.h"
#include "writer/base/message.h"
#include "writer/daemon/lock.h"

struct world {
	const char *directory;
	char socket[128], file[140];
	struct lock lock;
};

static int
set_up(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	char *error = NULL;
	void *directory;

	assert_non_null(w);
	assert_int_equal(temp_dir_setup(&directory), 0);
	w->directory = directory;
	snprintf(w->socket, sizeof(w->socket), "%s/run/s.sock", w->directory);
	snprintf(w->file, sizeof(w->file), "%s.lock", w->socket);
	assert_int_equal(lock_take(w->socket, &w->lock, &error), 0);
	*state = w;
	return 0;
}

static int
tear_down(void **state)
{
	struct world *w = *state;
	void *directory = (void *)(uintptr_t)w->directory;

	lock_release(&w->lock);
	free(w);
	return temp_dir_teardown(&directory);
}

#define TEST(name) TEST_CASE_OF(struct world *w, set_up, tear_down, name)

static bool
is_free(const struct world *w)
{
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int fd = open(w->file, O_RDWR | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_OFD_GETLK, &whole), 0);
	close(fd);
	return whole.l_type == F_UNLCK;
}

/* The message names the holder. The lock is free when the last of its descriptors is closed. */
TEST(there_is_one_holder)
{
	_cleanup_(message_freep) char *error = NULL;
	struct lock second = {0}, shared = {lock_share(&w->lock)};
	char pid[32];

	snprintf(pid, sizeof(pid), "(pid %ld)", (long)getpid());
	assert_int_equal(lock_take(w->socket, &second, &error), -EBUSY);
	assert_non_null(strstr(error, pid));
	assert_int_equal(lock_holder(w->socket), getpid());
	assert_true(fcntl(shared.fd, F_GETFD) & FD_CLOEXEC);
	lock_release(&w->lock);
	assert_false(is_free(w));
	lock_release(&shared);
	assert_true(is_free(w));
}

/* A thread that waits for the lock. */
struct waiter {
	const struct world *w;
	pthread_t thread;
	_Atomic pid_t id;
	struct lock lock;
	int result;
};

static void *
await(void *context)
{
	struct waiter *waiter = context;

	waiter->id = gettid();
	waiter->result = lock_await(waiter->w->socket, &waiter->lock);
	return NULL;
}

/* The kernel's state of the thread: R, S, …; 0: it has ended. */
static char
state_of(pid_t id)
{
	char path[64], state = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%ld/stat", (long)id);
	f = fopen(path, "re");
	if (f && fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	if (f)
		fclose(f);
	return state;
}

/* Returns once the thread sleeps, which it does only for the lock. Fails if it ends. */
static void
begin_waiting(struct waiter *waiter)
{
	assert_int_equal(pthread_create(&waiter->thread, NULL, await, waiter), 0);
	while (waiter->id == 0 || state_of(waiter->id) != 'S') {
		assert_int_equal(pthread_tryjoin_np(waiter->thread, NULL), EBUSY);
		sched_yield();
	}
}

/* The waiter gets the lock as soon as the holder's descriptor is closed. */
TEST(the_waiter_gets_the_lock_next)
{
	struct waiter waiter = {.w = w};

	begin_waiting(&waiter);
	lock_release(&w->lock);
	assert_int_equal(pthread_join(waiter.thread, NULL), 0);
	assert_int_equal(waiter.result, 0);
	assert_true(fcntl(waiter.lock.fd, F_GETFD) & FD_CLOEXEC);
	assert_false(is_free(w));
	lock_release(&waiter.lock);
}

TEST(the_waiting_can_be_cancelled)
{
	struct waiter waiter = {.w = w};
	void *result;

	begin_waiting(&waiter);
	assert_int_equal(pthread_cancel(waiter.thread), 0);
	assert_int_equal(pthread_join(waiter.thread, &result), 0);
	assert_ptr_equal(result, PTHREAD_CANCELED);
	assert_int_equal(waiter.lock.fd, 0);
}

/* The locked description itself is inherited; another of the same file, and another file, are not. */
TEST(only_the_locked_description_is_inherited)
{
	struct lock lock = {0};
	int fd = lock_share(&w->lock), other = open(w->file, O_RDWR | O_CLOEXEC),
	    null = open("/dev/null", O_RDWR | O_CLOEXEC);

	assert_int_equal(lock_inherit(other, w->socket, &lock), -EPROTO);
	assert_int_equal(lock_inherit(null, w->socket, &lock), -EPROTO);
	assert_int_equal(lock.fd, 0);
	assert_int_equal(lock_inherit(fd, w->socket, &lock), 0);
	assert_int_equal(lock.fd, fd);
	lock_release(&w->lock);
	assert_false(is_free(w));
	/* the file was removed and made anew: the next writer locks the new file */
	assert_int_equal(unlink(w->file), 0);
	close(open(w->file, O_RDWR | O_CREAT | O_CLOEXEC, 0600));
	assert_int_equal(lock_inherit(fd, w->socket, &w->lock), -EPROTO);
	assert_int_equal(w->lock.fd, 0);
	lock_release(&lock);
	close(other);
	close(null);
}
