/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fail_nth FILE CLASSES N MANY: makes FILE if it is not there (preload/fail_nth.c says what stands in it); of
 * these classes the N-th call from now on fails, and MANY in all. N 0: none fails.
 * fail_nth FILE: prints how many calls there were since, and how many of them failed.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct control {
	_Atomic uint32_t classes, many;
	_Atomic uint64_t n, count, failed;
};

int
main(int argc, char **argv)
{
	struct control *control;
	int fd;

	if (argc != 2 && argc != 5) {
		fprintf(stderr, "usage: fail_nth FILE [CLASSES N MANY]\n");
		return 2;
	}
	fd = open(argv[1], O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, sizeof(*control)) < 0) {
		perror(argv[1]);
		return 1;
	}
	control = mmap(NULL, sizeof(*control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (control == MAP_FAILED) {
		perror(argv[1]);
		return 1;
	}
	if (argc == 2) {
		printf("%" PRIu64 " %" PRIu64 "\n", control->count, control->failed);
		return 0;
	}
	control->n = 0;
	control->classes = (uint32_t)strtoul(argv[2], NULL, 10);
	control->many = (uint32_t)strtoul(argv[4], NULL, 10);
	control->count = 0;
	control->failed = 0;
	control->n = strtoull(argv[3], NULL, 10);
	return 0;
}
