/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asynchronous requests by the kernel's own calls; there is no need of a library for three of them.
 */
#include "writer/serve/eventfd_signal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define AT_ONCE 64

struct eventfd_signal {
	aio_context_t context;
	int null;
	char nowhere;
	struct iocb requests[AT_ONCE];
	struct iocb *list[AT_ONCE];
};

int
eventfd_signal_new(struct eventfd_signal **ret_signal)
{
	struct eventfd_signal *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	s->null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (s->null < 0 || syscall(SYS_io_setup, AT_ONCE, &s->context) < 0) {
		r = -errno;
		if (s->null >= 0)
			close(s->null);
		free(s);
		return r;
	}
	for (size_t i = 0; i < AT_ONCE; i++) {
		s->requests[i] = (struct iocb){
			.aio_fildes = (uint32_t)s->null, .aio_lio_opcode = IOCB_CMD_PREAD,
			.aio_buf = (uintptr_t)&s->nowhere, .aio_flags = IOCB_FLAG_RESFD,
		};
		s->list[i] = &s->requests[i];
	}
	*ret_signal = s;
	return 0;
}

void
eventfd_signal_free(struct eventfd_signal *s)
{
	if (!s)
		return;
	syscall(SYS_io_destroy, s->context);
	close(s->null);
	free(s);
}

size_t
eventfd_signal_all(struct eventfd_signal *s, const int *fds, size_t count)
{
	struct timespec at_once = {0};
	struct io_event ended[AT_ONCE];
	size_t done = 0;

	while (done < count) {
		size_t n = count - done < AT_ONCE ? count - done : AT_ONCE;
		long submitted;

		for (size_t i = 0; i < n; i++)
			s->requests[i].aio_resfd = (uint32_t)fds[done + i];
		submitted = syscall(SYS_io_submit, s->context, (long)n, s->list);
		/* They have ended; what the kernel notes of that is to be taken out. */
		syscall(SYS_io_getevents, s->context, 0L, (long)AT_ONCE, ended, &at_once);
		if (submitted <= 0)
			break;
		done += (size_t)submitted;
	}
	return done;
}
