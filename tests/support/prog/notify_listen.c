/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notify_listen SOCKET: be systemd's end of NOTIFY_SOCKET; prints each message as a line, such as
 * "READY=1 STATUS=standing by", until it is killed.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

int
main(int argc, char **argv)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char message[4096];
	ssize_t length;
	int fd;

	if (argc != 2 || strlen(argv[1]) >= sizeof(address.sun_path))
		return 2;
	strcpy(address.sun_path, argv[1]);
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return 1;
	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("LISTENING");
	while ((length = recv(fd, message, sizeof(message), 0)) >= 0) {
		for (ssize_t i = 0; i < length; i++)
			message[i] = message[i] == '\n' ? ' ' : message[i];
		printf("%.*s\n", (int)length, message);
	}
	return 1;
}
