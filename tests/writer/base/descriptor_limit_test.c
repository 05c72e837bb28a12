/* SPDX-License-Identifier: Apache-2.0 */
/* The limit of open descriptors: ours rises to the hard limit, a child has the original limit. */
#include <sys/resource.h>

#include "tests/room.h"
#include "writer/base/descriptor_limit.h"

#define SOFT 100u

static struct rlimit
limit_of(pid_t pid)
{
	struct rlimit limit;

	assert_int_equal(prlimit(pid, RLIMIT_NOFILE, NULL, &limit), 0);
	return limit;
}

TEST_CASE(the_limit_is_raised_for_us_and_not_for_children)
{
	struct rlimit limit = limit_of(0);
	rlim_t hard = limit.rlim_max;
	int status;
	pid_t pid;

	assert_true(hard > SOFT);
	limit.rlim_cur = SOFT;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	descriptor_limit_raise();
	assert_true(limit_of(0).rlim_cur == hard);
	assert_true(limit_of(0).rlim_max == hard);
	pid = fork();
	if (pid == 0) {
		pause();
		_exit(0);
	}
	descriptor_limit_give_back(pid);
	limit = limit_of(pid);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(limit.rlim_cur, SOFT);
	assert_true(limit.rlim_max == hard);
	/* a second call changes nothing */
	descriptor_limit_raise();
	assert_true(limit_of(0).rlim_cur == hard);
}

/* Asking whether so many descriptors are free opens none, and fails when there are fewer. */
TEST_CASE(too_few_free_descriptors_are_an_error)
{
	struct rlimit limit = limit_of(0), few;
	int before, after;

	few = limit;
	before = dup(0);
	close(before);
	few.rlim_cur = (rlim_t)before + 5;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	assert_int_equal(descriptor_limit_ask(5), 0);
	assert_int_equal(descriptor_limit_ask(6), -EMFILE);
	after = dup(0);
	close(after);
	assert_int_equal(after, before);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}
