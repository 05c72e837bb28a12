/* SPDX-License-Identifier: Apache-2.0 */
/* gzip(1) reads what our gzip writes. */
#include "tests/room.h"
#include "tools/serving/gzip.h"
#include "tools/informer-sim/rng.h"

/* Compress, expand by gzip(1), compare. */
static size_t
round_trip(const char *data, size_t len)
{
	_cleanup_(api_buf_done) struct api_buf packed = {0};
	char path[] = "/tmp/informer-gzip-XXXXXX", command[128];
	char *back = malloc(len + 1);
	int fd = mkstemp(path);
	size_t n;
	FILE *pipe;

	assert_true(fd >= 0 && back);
	api_gzip(data, len, &packed);
	assert_int_equal(write(fd, packed.data, packed.len), packed.len);
	close(fd);
	snprintf(command, sizeof(command), "gzip -dc <%s", path);
	pipe = popen(command, "r");
	n = pipe ? fread(back, 1, len + 1, pipe) : 0;
	assert_int_equal(pclose(pipe), 0);
	unlink(path);
	assert_int_equal(n, len);
	assert_memory_equal(back, data, len);
	free(back);
	return packed.len;
}

/* No byte, one byte, every byte, runs longer than one match, and repetitions beyond the window come back. */
TEST_CASE(gzip_expands_any_input)
{
	size_t len = 300000;
	char *data = malloc(len);
	struct sim_rng rng = {7};

	assert_non_null(data);
	round_trip("", 0);
	round_trip("x", 1);
	for (size_t i = 0; i < len; i++)
		data[i] = (char)sim_rng_next(&rng);
	round_trip(data, len);
	/* just within the window, and one byte beyond it */
	memcpy(data + 32768, data, 1000);
	round_trip(data, 50000);
	memcpy(data + 132769, data + 100000, 1000);
	round_trip(data + 100000, 50000);
	memset(data, 'a', len);
	assert_true(round_trip(data, len) < len / 100);
	for (unsigned i = 0; i < 200; i++) {
		size_t n = sim_rng_below(&rng, 600);

		for (size_t k = 0; k < n; k++)
			data[k] = (char)('a' + sim_rng_below(&rng, 3));
		if (i % 20 == 0)
			round_trip(data, n);
	}
	free(data);
}
