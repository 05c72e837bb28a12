/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds, reads and compares schemas in files, for the daemon's start; see schema_file.h.
 */
#include "writer/decode/schema_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "writer/base/file.h"
#include "writer/base/log.h"
#include "writer/base/message.h"

int
schema_file_read(const char *path, struct proto_schema **ret, char **ret_error)
{
	char why[256], *text = NULL;
	size_t length;
	int r = file_read(path, PROTO_SCHEMA_MAX, &text, &length, ret_error);

	if (r < 0)
		return r;
	*ret = proto_schema_parse(text, length, why, sizeof(why));
	free(text);
	return *ret ? 0 : message_set(ret_error, -EINVAL, "%s: %s", path, why);
}

/* The newest release in "v0.36.6 v0.37.2", as a number that grows with it; 0: none. */
static uint64_t
newest(const char *releases)
{
	uint64_t best = 0;

	for (const char *p = releases; p; p = strchr(p, ' ')) {
		uint64_t version = 0;

		p += strspn(p, " ");
		if (*p != 'v')
			continue;
		for (int part = 0; part < 3; part++) {
			char *end = NULL;
			unsigned long n = strtoul(p + 1, &end, 10);

			version = version << 20 | (n < 0xfffff ? n : 0xfffff);
			p = *end == '.' ? end : end - 1;
			if (*end != '.' && part < 2) {
				version <<= 20 * (2 - part);
				break;
			}
		}
		best = version > best ? version : best;
	}
	return best;
}

/* The installed schema, if it is newer than the built-in one; else NULL. */
static struct proto_schema *
read_installed(const char *path)
{
	_cleanup_(message_freep) char *error = NULL;
	struct proto_schema *s = NULL;
	int r = schema_file_read(path, &s, &error);

	if (r == -ENOENT || r == -ENOTDIR)
		return NULL;
	if (r < 0) {
		log_warning("%s; what is built in is used", error ? error : path);
		return NULL;
	}
	if (newest(proto_schema_releases(s)) > newest(proto_schema_releases(proto_schema_builtin())))
		return s;
	log_debug("%s is of %s, and no newer than what is built in", path, proto_schema_releases(s));
	proto_schema_free(s);
	return NULL;
}

int
schema_file_choose(const char *path, const char *installed, struct proto_schema **ret, char **ret_error)
{
	struct proto_schema *s = NULL;
	char span[PROTO_SCHEMA_SPAN];
	int r = 0;

	*ret = NULL;
	if (!proto_schema_builtin())
		return -ENOMEM;
	if (path)
		r = schema_file_read(path, &s, ret_error);
	else if (installed)
		s = read_installed(installed);
	if (r < 0)
		return r;
	log_info("protobuf definitions: %s, of %s", !s ? "built in" : path ? path : installed,
		 proto_schema_span(s ? s : proto_schema_builtin(), span));
	*ret = s;
	return 0;
}

char *
schema_file_installed(void)
{
	char program[PATH_MAX], *path;
	ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);

	if (n <= 0)
		return NULL;
	program[n] = '\0';
	for (int i = 0; i < 2; i++) { /* cut off the names of file and folder */
		char *slash = strrchr(program, '/');

		if (!slash)
			return NULL;
		*slash = '\0';
	}
	return asprintf(&path, "%s/share/informer/kubernetes.schema", program) < 0 ? NULL : path;
}
