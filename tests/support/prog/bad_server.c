/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bad_server DIR: an API server whose answers are files, so that a test can say whatever a broken or hostile
 * one could.
 *
 * Prints "READY url=http://127.0.0.1:PORT" and serves until it is killed. Knows pods, services, configmaps
 * (namespaced) and nodes of the core group. The files are read at each request:
 *
 *   DIR/pods.list     the answer to a LIST of pods; DIR/pods.list.3, when there is one, to the third. In a
 *                     namespace: DIR/NS/pods.list, so that a test can try many answers at once, each in a
 *                     namespace of its own
 *   DIR/pods.watch    what a WATCH of pods gets: the file's bytes, and those appended to it later; the stream
 *                     ends when the file is removed or made shorter. DIR/pods.watch.3 for the third. Without
 *                     a file: a stream without an event
 *
 * A file that begins with "HTTP/" is the whole answer, head and all: it is sent as it is, and the connection
 * closed. Others get a head of 200 and application/json; a LIST without a file is 404. DIR/requests gets a
 * line per request: the verb and the target.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOOK_AGAIN_MS 10

static const char *dir;
static const char *const resources[] = { "pods", "services", "configmaps", "nodes" };
static const char *const kinds[] = { "Pod", "Service", "ConfigMap", "Node" };
#define RESOURCES (sizeof(resources) / sizeof(resources[0]))

/* How often each script was asked for. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct count {
	char *script;
	unsigned number;
} counts[256];

static bool
send_all(int fd, const char *data, size_t length)
{
	while (length > 0) {
		ssize_t n = send(fd, data, length, MSG_NOSIGNAL);

		if (n <= 0)
			return false;
		data += n;
		length -= (size_t)n;
	}
	return true;
}

static void
send_text(int fd, int status, const char *text)
{
	char head[160];

	snprintf(head, sizeof(head),
		 "HTTP/1.1 %d X\r\nContent-Type: application/json\r\nContent-Length: %zu\r\nConnection: "
		 "close\r\n\r\n",
		 status, strlen(text));
	if (send_all(fd, head, strlen(head)))
		send_all(fd, text, strlen(text));
}

static void
send_discovery(int fd)
{
	char text[2048];
	size_t at = (size_t)snprintf(text, sizeof(text),
				     "{\"kind\":\"APIResourceList\",\"groupVersion\":\"v1\",\"resources\":[");

	for (size_t i = 0; i < RESOURCES; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at,
				       "%s{\"name\":\"%s\",\"singularName\":\"\",\"namespaced\":%s,\"kind\":"
				       "\"%s\",\"verbs\":[\"list\",\"watch\"]}",
				       i ? "," : "", resources[i],
				       strcmp(resources[i], "nodes") == 0 ? "false" : "true", kinds[i]);
	snprintf(text + at, sizeof(text) - at, "]}");
	send_text(fd, 200, text);
}

/* The number of this request for the script. */
static unsigned
count(const char *script)
{
	unsigned number = 0;

	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]) && number == 0; i++) {
		if (!counts[i].script)
			counts[i].script = strdup(script);
		if (counts[i].script && strcmp(counts[i].script, script) == 0)
			number = ++counts[i].number;
	}
	pthread_mutex_unlock(&lock);
	return number;
}

/* The numbered file, else the plain one; -1 when there is none. */
static int
open_script(const char *script)
{
	char *path = NULL;
	int fd = -1;

	if (asprintf(&path, "%s.%u", script, count(script)) < 0)
		return -1;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	free(path);
	return fd >= 0 ? fd : open(script, O_RDONLY | O_CLOEXEC);
}

/* Sends what the file has from *offset on. */
static bool
send_file(int fd, int file, off_t *offset)
{
	static __thread char buffer[65536];
	ssize_t n;

	while ((n = pread(file, buffer, sizeof(buffer), *offset)) > 0) {
		if (!send_all(fd, buffer, (size_t)n))
			return false;
		*offset += n;
	}
	return true;
}

static bool
hung_up(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN | POLLRDHUP };

	return poll(&p, 1, LOOK_AGAIN_MS) > 0;
}

static void
answer(int fd, const char *script, bool watch)
{
	static const char head[] =
		"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n";
	int file = open_script(script);
	char first[5] = "";
	struct stat st;
	off_t sent = 0;
	bool whole;

	if (file < 0 && !watch) {
		send_text(fd, 404, "there is no such file");
		return;
	}
	whole = file >= 0 && pread(file, first, sizeof(first), 0) == 5 && memcmp(first, "HTTP/", 5) == 0;
	if (whole || send_all(fd, head, sizeof(head) - 1)) {
		while (file < 0 || send_file(fd, file, &sent)) {
			if (whole || !watch || hung_up(fd))
				break;
			if (file >= 0 && (fstat(file, &st) < 0 || st.st_nlink == 0 || st.st_size < sent))
				break;
		}
	}
	if (file >= 0)
		close(file);
}

static void
note(const char *verb, const char *target)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/requests", dir);
	f = fopen(path, "ae");
	if (!f)
		return;
	fprintf(f, "%s %s\n", verb, target);
	fclose(f);
}

/* /api/v1/namespaces/NS/pods and /api/v1/pods; target is cut into pieces. */
static void
serve(int fd, char *target)
{
	static const char api[] = "/api/v1", in_namespace[] = "/namespaces/";
	char *query = target + strcspn(target, "?"), *name = target + sizeof(api) - 1, *ns = NULL,
	     script[4096];
	bool watch = strstr(query, "watch=1") || strstr(query, "watch=true");

	note(watch ? "WATCH" : "LIST", target);
	*query = '\0';
	if (strcmp(target, api) == 0) {
		send_discovery(fd);
		return;
	}
	if (strncmp(target, api, sizeof(api) - 1) == 0 &&
	    strncmp(name, in_namespace, sizeof(in_namespace) - 1) == 0) {
		ns = name + sizeof(in_namespace) - 1;
		name = ns + strcspn(ns, "/");
	}
	for (size_t i = 0; i < RESOURCES; i++) {
		if (name[0] != '/' || strcmp(name + 1, resources[i]) != 0)
			continue;
		snprintf(script, sizeof(script), "%s/%.*s%s.%s", dir, ns ? (int)(name + 1 - ns) : 0,
			 ns ? ns : "", resources[i], watch ? "watch" : "list");
		answer(fd, script, watch);
		return;
	}
	send_text(fd, 404, "nothing here");
}

static void *
connection(void *argument)
{
	int fd = (int)(intptr_t)argument;
	char request[16384], *end;
	size_t length = 0;

	for (;;) {
		ssize_t n = recv(fd, request + length, sizeof(request) - 1 - length, 0);

		if (n <= 0)
			break;
		length += (size_t)n;
		request[length] = '\0';
		if (!strstr(request, "\r\n\r\n"))
			continue;
		end = strncmp(request, "GET ", 4) == 0 ? strchr(request + 4, ' ') : NULL;
		if (end) {
			*end = '\0';
			serve(fd, request + 4);
		}
		break;
	}
	shutdown(fd, SHUT_WR);
	close(fd);
	return NULL;
}

int
main(int argc, char **argv)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t length = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (argc != 2)
		return 2;
	dir = argv[1];
	signal(SIGPIPE, SIG_IGN);
	if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(listener, 64) < 0 || getsockname(listener, (struct sockaddr *)&address, &length) < 0) {
		perror("bad_server");
		return 1;
	}
	printf("READY url=http://127.0.0.1:%u\n", ntohs(address.sin_port));
	fflush(stdout);
	for (;;) {
		int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		pthread_t thread;

		if (fd < 0)
			continue;
		if (pthread_create(&thread, NULL, connection, (void *)(intptr_t)fd) == 0)
			pthread_detach(thread);
		else
			close(fd);
	}
}
