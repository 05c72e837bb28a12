/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides which peer may attach: root, the daemon's own user, and the users and groups in the configuration.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "writer/serve/broker_internal.h"

static bool
group_allowed(const struct broker *b, gid_t gid)
{
	for (size_t i = 0; i < b->options.n_allow_gids; i++)
		if (b->options.allow_gids[i] == gid)
			return true;
	return false;
}

/* True if one of the peer's supplementary groups is allowed. */
static bool
peer_groups_allowed(const struct broker *b, int fd)
{
	gid_t few[64], *groups = few;
	socklen_t bytes = sizeof(few);
	bool allowed = false;
	int r = getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, few, &bytes);

	if (r < 0 && errno == ERANGE) {
		groups = malloc(bytes);
		if (!groups)
			return false;
		r = getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &bytes);
	}
	for (size_t i = 0; r == 0 && !allowed && i < bytes / sizeof(gid_t); i++)
		allowed = group_allowed(b, groups[i]);
	if (groups != few)
		free(groups);
	return allowed;
}

static bool
uid_allowed(const struct broker *b, uid_t uid)
{
	for (size_t i = 0; i < b->options.n_allow_uids; i++)
		if (b->options.allow_uids[i] == uid)
			return true;
	return false;
}

bool
peer_is_privileged(const struct ucred *peer)
{
	return peer->uid == 0 || peer->uid == geteuid();
}

bool
peer_is_allowed(const struct broker *b, const struct ucred *peer, int fd)
{
	return peer_is_privileged(peer) || uid_allowed(b, peer->uid) || group_allowed(b, peer->gid) ||
	       peer_groups_allowed(b, fd);
}
