/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stat_query SOCKET: ask a daemon's broker for its report and print it. What `informerctl stat -o json` does,
 * without the library, so that the writer can be tested alone. Exits 1 without an answer.
 */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "shm-layout/protocol.h"

int
main(int argc, char **argv)
{
	static _Alignas(struct message_head) char packet[PROTOCOL_PACKET_MAX];
	struct message_head question = {
		.magic = PROTOCOL_MAGIC,
		.version = PROTOCOL_VERSION,
		.type = MESSAGE_STAT,
		.length = sizeof(question),
	};
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct message_head head;
	ssize_t length;
	int fd;

	if (argc != 2 || strlen(argv[1]) >= sizeof(address.sun_path))
		return 2;
	strcpy(address.sun_path, argv[1]);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
	    send(fd, &question, sizeof(question), MSG_NOSIGNAL) != (ssize_t)sizeof(question))
		return 1;
	do {
		length = recv(fd, packet, sizeof(packet), 0);
		if (length < (ssize_t)sizeof(head))
			return 1;
		memcpy(&head, packet, sizeof(head));
		if (head.magic != PROTOCOL_MAGIC || head.type != MESSAGE_REPORT)
			return 1;
		fwrite(packet + sizeof(head), 1, (size_t)length - sizeof(head), stdout);
	} while (head.more);
	close(fd);
	return fputc('\n', stdout) == EOF;
}
