/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crowd SOCKET COUNT: connects until nobody more is let in, COUNT times at most, and hangs up: who does not
 * look at its connections has as many of them waiting.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	long count = argc == 3 ? strtol(argv[2], NULL, 10) : 0;

	if (count <= 0 || strlen(argv[1]) >= sizeof(address.sun_path)) {
		fprintf(stderr, "usage: crowd SOCKET COUNT\n");
		return 2;
	}
	memcpy(address.sun_path, argv[1], strlen(argv[1]) + 1);
	for (long i = 0; i < count; i++) {
		int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		int r = connect(fd, (struct sockaddr *)&address, sizeof(address));

		close(fd);
		if (r < 0)
			return 0;
	}
	return 1;
}
