/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The status socket of a running informer-run, and its folder; see run_status.h. run_status_show.c shows the
 * status.
 */
#include "tools/informer-run/run_status.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "tools/informer-run/say.h"
#include "tools/informer-run/run_status_folder.h"

int
status_folder(char *buffer, size_t size)
{
	const char *named = getenv("INFORMER_RUN_DIR"), *runtime = getenv("XDG_RUNTIME_DIR");
	int n;

	if (named && *named)
		n = snprintf(buffer, size, "%s", named);
	else if (geteuid() == 0)
		n = snprintf(buffer, size, "/run/informer-run");
	else if (runtime && *runtime == '/')
		n = snprintf(buffer, size, "%s/informer-run", runtime);
	else
		n = snprintf(buffer, size, "/tmp/informer-run-%u", (unsigned)geteuid());
	return n < (int)size ? 0 : -ENAMETOOLONG;
}

bool
status_is_socket(const char *name)
{
	size_t length = strlen(name);

	return length > 5 && strcmp(name + length - 5, ".sock") == 0;
}

int
status_connect(const char *folder, const char *name)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd, n = snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s", folder, name);

	if (n >= (int)sizeof(address.sun_path))
		return -ENAMETOOLONG;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	n = -errno;
	close(fd);
	return n;
}

/* Remove the sockets of killed processes: no process listens on them. */
static void
remove_dead(const char *folder)
{
	DIR *dir = opendir(folder);
	char path[512];
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		int fd = status_is_socket(entry->d_name) ? status_connect(folder, entry->d_name) : -EINVAL;

		if (fd >= 0)
			close(fd);
		if (fd == -ECONNREFUSED &&
		    snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name) < (int)sizeof(path))
			unlink(path);
	}
	if (dir)
		closedir(dir);
}

static int
make_folder(const char *folder)
{
	if (mkdir(folder, 0700) < 0 && errno != EEXIST)
		return -errno;
	return status_check_folder(folder);
}

int
status_check_folder(const char *folder)
{
	struct stat info;

	if (lstat(folder, &info) < 0)
		return -errno;
	if (!S_ISDIR(info.st_mode))
		return -ENOTDIR;
	return info.st_uid == geteuid() && !(info.st_mode & (S_IWGRP | S_IWOTH)) ? 0 : -EPERM;
}

/* Answer without waiting: an answer fits the socket's buffer, even if the client does not read. */
static void
answer(void *context, uint32_t events)
{
	struct status_server *server = context;
	int fd = accept4(server->descriptor.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct text text = TEXT_INIT(-1);

	(void)events;
	if (fd < 0)
		return;
	server->describe(server->context, &text);
	if (text.error == 0 && send(fd, text.data, text.length, MSG_NOSIGNAL) < 0)
		shutdown(fd, SHUT_RDWR);
	text_done(&text);
	close(fd);
}

static int
bind_socket(struct status_server *server, const char *folder)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	uint32_t chance = 0;
	int fd, r;

	if (getrandom(&chance, sizeof(chance), 0) < 0)
		return -errno;
	/* pid namespaces that share a folder may have equal pids */
	r = snprintf(address.sun_path, sizeof(address.sun_path), "%s/%d-%08x.sock", folder, (int)getpid(),
		     chance);
	if (r >= (int)sizeof(address.sun_path))
		return -ENAMETOOLONG;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		r = -errno;
		close(fd);
		return r;
	}
	memcpy(server->path, address.sun_path, sizeof(server->path));
	r = listen(fd, 16) < 0 ? -errno
			       : loop_add(server->loop, &server->descriptor, fd, EPOLLIN, answer, server);
	if (r < 0) {
		unlink(server->path);
		*server->path = '\0';
		close(fd);
	}
	return r;
}

int
status_listen(struct status_server *server, struct loop *loop,
	      void (*describe)(void *context, struct text *out), void *context)
{
	char folder[108];
	int r = status_folder(folder, sizeof(folder));

	*server = (struct status_server){
		.loop = loop, .descriptor = LOOP_DESCRIPTOR_NONE, .describe = describe, .context = context};
	if (r == 0)
		r = make_folder(folder);
	if (r == 0) {
		remove_dead(folder);
		r = bind_socket(server, folder);
	}
	if (r < 0)
		say(NULL,
		    "informer-run status will not show this one: %s: %s; name a folder of your own with "
		    "$INFORMER_RUN_DIR",
		    folder, strerror(-r));
	return r;
}

void
status_done(struct status_server *server)
{
	int fd = server->descriptor.fd;

	loop_remove(server->loop, &server->descriptor);
	if (fd >= 0)
		close(fd);
	if (*server->path)
		unlink(server->path);
}
