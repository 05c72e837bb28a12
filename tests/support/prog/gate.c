/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate [--upstream PORT] [--token-file FILE]: stands before an API server in tests, and tells on standard
 * output what it was asked. On one port of 127.0.0.1 it is
 *
 *	a proxy		"CONNECT host:port", "GET http://host:port/..." and SOCKS5 (with or without password)
 *	a server	"GET /..." is asked of 127.0.0.1:PORT; with --token-file only for who shows the token
 *			that is in FILE now, others get 401
 *
 * Whatever host is asked for, it is 127.0.0.1 that is connected to, so that names need not exist. Each
 * request to the server or through the proxy as text gets a connection of its own upstream.
 *
 *	READY url=http://127.0.0.1:PORT
 *	SOCKS5 host:port [user]
 *	GET http://... | GET /... | CONNECT host:port
 *	> Header: value
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/support/duplex.h"

#define HEAD_MAX 16384

static unsigned upstream;
static const char *token_file;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool
send_all(int fd, const char *data, size_t len)
{
	while (len > 0) {
		ssize_t n = send(fd, data, len, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		data += n;
		len -= (size_t)n;
	}
	return true;
}

static bool
read_exactly(int fd, void *to, size_t len)
{
	return len == 0 || recv(fd, to, len, MSG_WAITALL) == (ssize_t)len;
}

static void
copy_between(int a, int b)
{
	struct pollfd fds[2] = {{.fd = a, .events = POLLIN}, {.fd = b, .events = POLLIN}};
	char buffer[65536];

	while (poll(fds, 2, -1) > 0) {
		for (int i = 0; i < 2; i++) {
			ssize_t n;

			if (!fds[i].revents)
				continue;
			n = recv(fds[i].fd, buffer, sizeof(buffer), 0);
			if (n <= 0 || !send_all(fds[1 - i].fd, buffer, (size_t)n))
				return;
		}
	}
}

/* What follows the last ':' */
static unsigned
port_of(const char *host)
{
	const char *colon = strrchr(host, ':');

	return colon ? (unsigned)strtoul(colon + 1, NULL, 10) : 80;
}

static void
serve_socks(int fd)
{
	unsigned char head[4], n, name[256], user[256] = "", port[2];
	char host[INET6_ADDRSTRLEN];
	bool password;
	int to;

	if (!read_exactly(fd, head, 2) || !read_exactly(fd, name, head[1]))
		return;
	password = memchr(name, 2, head[1]);
	send_all(fd, password ? "\5\2" : "\5\0", 2);
	if (password) {
		if (!read_exactly(fd, head, 2) || !read_exactly(fd, user, head[1]) ||
		    !read_exactly(fd, &n, 1) || !read_exactly(fd, name, n))
			return;
		user[head[1]] = '\0';
		send_all(fd, "\1\0", 2);
	}
	if (!read_exactly(fd, head, 4))
		return;
	memset(name, 0, sizeof(name));
	if (head[3] == 3) {
		if (!read_exactly(fd, &n, 1) || !read_exactly(fd, name, n))
			return;
		name[n] = '\0';
	} else {
		if (!read_exactly(fd, name, head[3] == 4 ? 16 : 4))
			return;
		inet_ntop(head[3] == 4 ? AF_INET6 : AF_INET, name, host, sizeof(host));
		snprintf((char *)name, sizeof(name), "%s", host);
	}
	if (!read_exactly(fd, port, 2))
		return;
	printf("SOCKS5 %s:%u%s%s\n", (char *)name, port[0] * 256u + port[1], *user ? " " : "", (char *)user);
	to = duplex_connect(port[0] * 256u + port[1]);
	send_all(fd, to < 0 ? "\5\5\0\1\0\0\0\0\0\0" : "\5\0\0\1\0\0\0\0\0\0", 10);
	if (to >= 0) {
		copy_between(fd, to);
		close(to);
	}
}

static bool
has_token(const char *head)
{
	const char *shown = strcasestr(head, "\r\nAuthorization: Bearer ");
	char token[4096] = "";
	FILE *file;

	if (!token_file)
		return true;
	file = fopen(token_file, "re");
	if (file) {
		if (!fgets(token, sizeof(token), file))
			token[0] = '\0';
		fclose(file);
	}
	token[strcspn(token, "\n")] = '\0';
	shown = shown ? shown + strlen("\r\nAuthorization: Bearer ") : NULL;
	return shown && *token && strncmp(shown, token, strlen(token)) == 0 && shown[strlen(token)] == '\r';
}

static void
tell(const char *head)
{
	pthread_mutex_lock(&lock);
	for (const char *line = head; *line && *line != '\r';) {
		size_t len = strcspn(line, "\r");

		printf("%s%.*s\n", line == head ? "" : "> ", (int)len, line);
		line += len + strspn(line + len, "\r\n");
	}
	fflush(stdout);
	pthread_mutex_unlock(&lock);
}

/* Read to the empty line. Returns whether it came. */
static bool
read_head(int fd, char *head)
{
	size_t len = 0;

	while (len < HEAD_MAX && recv(fd, head + len, 1, 0) == 1) {
		head[++len] = '\0';
		if (len >= 4 && strcmp(head + len - 4, "\r\n\r\n") == 0)
			return true;
	}
	return false;
}

static void
serve_text(int fd)
{
	static const char refused[] =
		"HTTP/1.1 401 Unauthorized\r\nContent-Type: application/json\r\nConnection: close\r\n"
		"Content-Length: 114\r\n\r\n"
		"{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"message\":"
		"\"Unauthorized\","
		"\"reason\":\"Unauthorized\",\"code\":401}";
	char head[HEAD_MAX + 1], verb[16], target[4096];
	const char *path, *rest;
	int to;

	if (!read_head(fd, head) || sscanf(head, "%15s %4095s", verb, target) != 2)
		return;
	tell(head);
	rest = strstr(head, "\r\n") + 2;
	if (strcmp(verb, "CONNECT") == 0) {
		to = duplex_connect(port_of(target));
		if (to >= 0)
			send_all(fd, "HTTP/1.1 200 OK\r\n\r\n", 19);
	} else {
		bool is_proxy = strncmp(target, "http://", 7) == 0;
		char host[256];

		path = is_proxy ? target + 7 + strcspn(target + 7, "/") : target;
		snprintf(host, sizeof(host), "%.*s", is_proxy ? (int)(path - target - 7) : 0, target + 7);
		if (!is_proxy && !has_token(head)) {
			send_all(fd, refused, strlen(refused));
			return;
		}
		to = duplex_connect(is_proxy ? port_of(host) : upstream);
		if (to >= 0) {
			char first[4200];

			snprintf(first, sizeof(first), "%s %s HTTP/1.1\r\nConnection: close\r\n", verb, path);
			send_all(to, first, strlen(first));
			send_all(to, rest, strlen(rest));
		}
	}
	if (to < 0) {
		send_all(fd, "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
			 67);
		return;
	}
	copy_between(fd, to);
	close(to);
}

static void *
serve(void *ctx)
{
	int fd = (int)(intptr_t)ctx;
	char first;

	if (recv(fd, &first, 1, MSG_PEEK) == 1) {
		if (first == 5)
			serve_socks(fd);
		else
			serve_text(fd);
	}
	close(fd);
	return NULL;
}

int
main(int argc, char **argv)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(address);
	int listener, fd;

	for (int i = 1; i + 1 < argc; i += 2) {
		if (strcmp(argv[i], "--upstream") == 0)
			upstream = (unsigned)strtoul(argv[i + 1], NULL, 10);
		else if (strcmp(argv[i], "--token-file") == 0)
			token_file = argv[i + 1];
		else
			return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	setvbuf(stdout, NULL, _IOLBF, 0);
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listener < 0 || bind(listener, (struct sockaddr *)&address, len) < 0 ||
	    listen(listener, 64) < 0 || getsockname(listener, (struct sockaddr *)&address, &len) < 0)
		return 1;
	printf("READY url=http://127.0.0.1:%u\n", ntohs(address.sin_port));
	while ((fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
		pthread_attr_t attributes;
		pthread_t thread;

		pthread_attr_init(&attributes);
		pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
		if (pthread_create(&thread, &attributes, serve, (void *)(intptr_t)fd) != 0)
			close(fd);
		pthread_attr_destroy(&attributes);
	}
	return 0;
}
