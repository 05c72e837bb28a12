/* SPDX-License-Identifier: Apache-2.0 */
/* process_*: this process' figures, as the system has them. */
#include <fcntl.h>
#include <math.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "shm-layout/time_ns.h"
#include "tests/room.h"
#include "writer/base/process_metrics.h"

static char *
told(void)
{
	struct metrics_text m = {0};
	size_t length;
	char *text;

	process_metrics(&m);
	text = metrics_take(&m, &length);
	assert_non_null(text);
	return text;
}

static double
figure(const char *name)
{
	char *text = told(), line[64], *at;
	double value;

	snprintf(line, sizeof(line), "\n%s ", name);
	at = strstr(text, line);
	if (!at)
		fail_msg("no %s in %s", name, text);
	value = at ? strtod(at + strlen(line), NULL) : 0;
	free(text);
	return value;
}

/* Each metric is there with the type that Prometheus' client libraries give it. */
TEST_CASE(names_and_types_are_those_of_the_client_libraries)
{
	static const char *const heads[] = {
		"# TYPE process_cpu_seconds_total counter\n",
		"# TYPE process_resident_memory_bytes gauge\n",
		"# TYPE process_virtual_memory_bytes gauge\n",
		"# TYPE process_open_fds gauge\n",
		"# TYPE process_max_fds gauge\n",
		"# TYPE process_start_time_seconds gauge\n",
	};
	char *text = told();

	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++)
		if (!strstr(text, heads[i]))
			fail_msg("no %s in %s", heads[i], text);
	free(text);
}

static int
descriptors_open(void)
{
	int count = 0;

	for (int fd = 0; fd < 1024; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

/* The open descriptors are counted, none that the count itself takes; the limit is the soft limit. */
TEST_CASE(descriptors_are_counted)
{
	double before = figure("process_open_fds");
	struct rlimit limit;
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	assert_int_equal(before + 1, descriptors_open());
	assert_true(figure("process_open_fds") == before + 1);
	close(fd);
	assert_true(figure("process_open_fds") == before);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_true(figure("process_max_fds") == (double)limit.rlim_cur);
}

/* Memory counts as address space once it is mapped, and as resident once it is written. */
TEST_CASE(memory_is_in_bytes)
{
	size_t size = 64u << 20;
	double space = figure("process_virtual_memory_bytes"), resident;
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(memory != MAP_FAILED);
	assert_true(figure("process_virtual_memory_bytes") >= space + (double)size);
	resident = figure("process_resident_memory_bytes");
	memset(memory, 1, size);
	assert_true(figure("process_resident_memory_bytes") >= resident + 0.9 * (double)size);
	munmap(memory, size);
}

/* CPU time grows by what was used, in seconds. */
TEST_CASE(cpu_time_is_in_seconds)
{
	double before = figure("process_cpu_seconds_total"), used;
	uint64_t begun = time_ns(CLOCK_PROCESS_CPUTIME_ID);

	while (time_ns(CLOCK_PROCESS_CPUTIME_ID) - begun < 50000000)
		;
	used = figure("process_cpu_seconds_total") - before;
	assert_true(used >= 0.05 && used < 5);
}

/* The start is a moment ago, whatever the process calls itself, and stays the same. */
TEST_CASE(the_start_is_the_process_own)
{
	double now = (double)time_ns(CLOCK_REALTIME) / 1e9, started;

	assert_int_equal(prctl(PR_SET_NAME, "a) R 1 (b"), 0);
	started = figure("process_start_time_seconds");
	/* the machine's start is known in whole seconds */
	assert_true(started > now - 300 && started < now + 2);
	assert_true(fabs(figure("process_start_time_seconds") - started) < 1e-6);
}
