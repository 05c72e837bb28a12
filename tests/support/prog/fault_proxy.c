/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fault_proxy LOG [TOKEN]: stands between a client and an API server, by TLS on the client's side (HTTP/1.1),
 * and lets go wrong what standard input says. On its first line of output it is "READY port=PORT"; to LOG
 * goes what happened, a line each, in its order:
 *
 *	MS #CONNECTION ASKED VERB PATH		VERB: LIST, PAGE (a later page), PROBE (is this RV known?),
 *						WATCH, WATCHLIST, OTHER
 *	MS #CONNECTION ANSWERED VERB CODE
 *	MS #CONNECTION SYNCED WATCHLIST		its end mark; from here on it is a WATCH
 *	MS #CONNECTION ERROR VERB CODE LINES	within a stream, the server's or ours, behind so many lines
 *	MS #CONNECTION ENDED VERB HOW LINES	whole, cut, truncated, invalid, client: the client went first
 *	MS NOTE ...
 *
 * What may be said:
 *
 *	upstream PORT [tls]	the server from now on
 *	certificates DIR	from now on these (server.crt, server.key), and clients need one by
 *				DIR/ca.crt, else 401
 *	note TEXT
 *	refuse MS		refuse all connections for a while
 *	answer CODE MS [VERB]	instead of the server, for a while
 *	slow MS			bytes come in drops, for a while
 *	freeze MS		nothing comes, for a while
 *	cut | mid-frame | truncate | invalid | error CODE
 *				happens to each open stream: at once; within the next frame; the next frame
 *				ends half, the stream in good order; a frame that is no JSON; an ERROR event
 *				that ends it
 *	list N AFTER WHAT...	happens to the next N LISTs or WatchLists behind AFTER bytes: one of the line
 *				above, or answer CODE
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/support/duplex.h"
#include "tests/support/fault_orders.h"
#include "tests/support/fault_relay.h"

/* A socket on the port. A bound socket that does not listen keeps the port while connections are refused. */
static int
bind_to(unsigned *port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)*port),
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
	    bind(fd, (struct sockaddr *)&address, length) < 0 ||
	    getsockname(fd, (struct sockaddr *)&address, &length) < 0) {
		perror("fault_proxy: socket");
		exit(1);
	}
	*port = ntohs(address.sin_port);
	return fd;
}

static void *
serve(void *context)
{
	static _Atomic unsigned numbers;

	fault_relay((int)(intptr_t)context, ++numbers);
	return NULL;
}

static void
take_in(int fd)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	if (pthread_create(&thread, &attributes, serve, (void *)(intptr_t)fd) != 0)
		close(fd);
	pthread_attr_destroy(&attributes);
}

static void *
listen_always(void *context)
{
	unsigned port = *(unsigned *)context;

	for (;;) {
		struct duplex door = {.fd = bind_to(&port)};
		int fd;

		if (listen(door.fd, 64) < 0)
			exit(1);
		while (!fault_is_refusing())
			if (duplex_wait(&door, &door, 20) &&
			    (fd = accept4(door.fd, NULL, NULL, SOCK_CLOEXEC)) >= 0)
				take_in(fd);
		close(door.fd);
		while (fault_is_refusing())
			fault_sleep_ms(5);
	}
	return NULL;
}

int
main(int argc, char **argv)
{
	char order[512];
	unsigned port = 0;
	pthread_t thread;

	if (argc != 2 && argc != 3)
		return 2;
	if (!fault_orders_begin(argv[1]) || fault_relay_begin(argv[2]) < 0)
		return 1;
	signal(SIGPIPE, SIG_IGN);
	bind_to(&port);
	if (pthread_create(&thread, NULL, listen_always, &port) != 0)
		return 1;
	printf("READY port=%u\n", port);
	fflush(stdout);
	while (fgets(order, sizeof(order), stdin)) {
		order[strcspn(order, "\n")] = '\0';
		if (!fault_orders_obey(order)) {
			fprintf(stderr, "fault_proxy: what is \"%s\"?\n", order);
			return 1;
		}
	}
	return 0;
}
