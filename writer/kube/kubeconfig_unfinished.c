/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at the named kubeconfig files; see kubeconfig_unfinished.h. */
#include "writer/kube/kubeconfig_unfinished.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "writer/base/message.h"

#define MS_NS UINT64_C(1000000)

/* A time in the future does not count: with a wrong clock a wrong file would never be complete. */
static bool
is_fresh(const struct stat *st, uint64_t now_wall_ns)
{
	uint64_t changed = (uint64_t)st->st_mtim.tv_sec * 1000000000u + (uint64_t)st->st_mtim.tv_nsec;

	return changed <= now_wall_ns && now_wall_ns - changed < KUBECONFIG_SETTLE_MS * MS_NS;
}

/* Why this file is not complete; NULL: it is. Pipes and devices are complete. */
static const char *
look_at(const char *path, uint64_t now_wall_ns, bool *ret_fresh)
{
	struct stat st;

	*ret_fresh = false;
	if (stat(path, &st) < 0)
		return errno == ENOENT ? "there is no such file yet" : NULL;
	if (!S_ISREG(st.st_mode))
		return NULL;
	if (st.st_size == 0)
		return "the file is still empty";
	*ret_fresh = is_fresh(&st, now_wall_ns);
	return *ret_fresh ? "the file is being written" : NULL;
}

/* The files that are named, joined by ':' if they are several; NULL: none. */
static const char *
named_files(const struct kubeconfig_choice *choice)
{
	return choice->kubeconfig ? choice->kubeconfig
	       : choice->getenv   ? choice->getenv("KUBECONFIG")
				  : getenv("KUBECONFIG");
}

const char *
kubeconfig_unfinished(const struct kubeconfig_choice *choice, uint64_t now_wall_ns, char **ret_path)
{
	const char *list = named_files(choice), *found = NULL;
	_cleanup_(message_freep) char *path = NULL;
	bool complete = false, fresh = false;

	while (list && *list && !fresh) {
		size_t length = choice->kubeconfig ? strlen(list) : strcspn(list, ":");
		_cleanup_(message_freep) char *file = strndup(list, length);
		const char *why = file && *file ? look_at(file, now_wall_ns, &fresh) : NULL;

		complete |= length > 0 && !why;
		if (why && (fresh || !found)) {
			free(path);
			path = file;
			file = NULL;
			found = why;
		}
		list += length + (list[length] == ':');
	}
	if (!found || (complete && !fresh))
		return NULL;
	*ret_path = path;
	path = NULL;
	return found;
}
