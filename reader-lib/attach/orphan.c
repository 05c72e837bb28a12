/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the arena that a dead writer left, and makes sure that no writer stores into it any more. The code
 * names the steps of orphan.h.
 *
 * All files are input. The lock file names the arena's file, so its owner must be this user, root, or anybody
 * if this user is root. The arena's file and the key file must belong to the same owner. All three must be
 * closed to group and others.
 */
#include "reader-lib/attach/orphan.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <sodium.h>

#include "shm-layout/key_file.h"
#include "shm-layout/lock_note.h"
#include "shm-layout/plain_file.h"
#include "shm-layout/root.h"

#define ROUNDS 4u /* how often to read the note again, because another writer came and went */

/* The arena that a lock file names (shm-layout/lock_note.h). */
struct noted_arena {
	int lock;     /* SOCKET.lock; -1: this user may not open it */
	dev_t device; /* of that file */
	ino_t inode;
	uid_t owner;
	const char *socket;
	struct lock_note note;
};

/* Read the note again. Returns 1: it changed; 0: it did not; or negative. */
static int
noted_again(struct noted_arena *noted)
{
	struct lock_note before = noted->note;
	int r = lock_note_read(noted->lock, &noted->note);

	if (r < 0)
		return r;
	return strcmp(before.arena, noted->note.arena) != 0 ||
	       memcmp(before.incarnation, noted->note.incarnation, sizeof(before.incarnation)) != 0;
}

/*
 * Open SOCKET.lock and read its note. Call noted_close() in any case.
 *
 * Returns 0; -EACCES: this user may not read it, but noted_held() works; -ENOENT: there is none, or it
 *         is no writer's; other negative errno
 */
static int
noted_open(const char *socket, struct noted_arena *ret)
{
	char path[sizeof(((struct sockaddr_un *)0)->sun_path) + sizeof(".lock")];
	struct stat st;

	memset(ret, 0, sizeof(*ret));
	ret->socket = socket;
	snprintf(path, sizeof(path), "%s.lock", socket);
	ret->lock = plain_file_open(path, &st);
	ret->device = st.st_dev;
	ret->inode = st.st_ino;
	ret->owner = st.st_uid;
	if (ret->lock < 0)
		return ret->lock == -EINVAL ? -ENOENT : ret->lock;
	if ((st.st_mode & 077) != 0 || (st.st_uid != geteuid() && st.st_uid != 0 && geteuid() != 0))
		return -ENOENT;
	return noted_again(ret) < 0 ? -ENOENT : 0;
}

static void
noted_close(struct noted_arena *noted)
{
	if (noted->lock >= 0)
		close(noted->lock);
	noted->lock = -1;
}

/*
 * A line of /proc/locks: "1: OFDLCK ADVISORY WRITE -1 00:18:4711 0 EOF", with the file system's major and
 * minor number in hexadecimal, and the inode. A line with an arrow waits for the lock, and does not match.
 */
static int
held_by_list(const struct noted_arena *noted)
{
	FILE *list = fopen("/proc/locks", "re");
	unsigned device_major, device_minor;
	unsigned long long inode;
	char line[256];
	int held = 0;

	if (!list)
		return errno == ENOENT || errno == EACCES ? 0 : -errno;
	while (!held && fgets(line, sizeof(line), list))
		held = sscanf(line, "%*u: OFDLCK ADVISORY WRITE %*d %x:%x:%llu", &device_major, &device_minor,
			      &inode) == 3 &&
		       makedev(device_major, device_minor) == noted->device && inode == noted->inode;
	fclose(list);
	return held;
}

/*
 * Whether a writer holds the lock: 1, 0, or negative errno. If this user may not open the file, by
 * /proc/locks; 0 if that does not tell.
 */
static int
noted_held(const struct noted_arena *noted)
{
	struct flock whole = {.l_type = F_RDLCK, .l_whence = SEEK_SET};

	if (noted->inode == 0)
		return 0;
	if (noted->lock < 0)
		return held_by_list(noted);
	if (fcntl(noted->lock, F_OFD_GETLK, &whole) < 0)
		return -errno;
	return whole.l_type != F_UNLCK;
}

/* Open the arena's file, read-only. A descriptor, or negative; -ENOENT: gone, or not what it should be. */
static int
noted_open_file(const struct noted_arena *noted)
{
	struct stat st;
	int fd = plain_file_open(noted->note.arena, &st);

	if (fd < 0)
		return fd == -EINVAL ? -ENOENT : fd;
	if (st.st_uid == noted->owner && st.st_nlink == 1 && (st.st_mode & 077) == 0)
		return fd;
	close(fd);
	return -ENOENT;
}

/* Read the block keys from SOCKET.key, as a broker would send them, and the root's key. */
static int
read_keys(const struct noted_arena *noted, uint8_t ret_id[16], struct tag_root_key *ret_root,
	  struct message_welcome *ret_welcome)
{
	char path[sizeof(((struct sockaddr_un *)0)->sun_path) + sizeof(".key")], why[256];
	uint8_t master[TAG_MASTER_BYTES];
	struct tag_keys keys;
	int r;

	snprintf(path, sizeof(path), "%s.key", noted->socket);
	r = key_file_read(path, noted->owner, master, why, sizeof(why));
	if (r < 0)
		return error_set(-ENOKEY, "nothing can be verified: %s", why);
	tag_derive(master, &keys, ret_root);
	tag_key_id(master, ret_id);
	memcpy(ret_welcome->keys, &keys, sizeof(keys));
	ret_welcome->has_keys = 1;
	sodium_memzero(master, sizeof(master));
	sodium_memzero(&keys, sizeof(keys));
	return 0;
}

/* Check what no block's tag covers, the header's identity and the root, by the key that brokers keep. */
static int
check_root(const struct mapping *m, const uint8_t id[16], const struct tag_root_key *key)
{
	const struct arena_view view = {(const uint8_t *)m->header, m->checked, m->verifier};
	uint64_t offset = slot_load_root(m->header);
	uint8_t tag[TAG_ROOT_BYTES];
	const struct root *root;

	if (memcmp(id, m->header->key_id, sizeof(m->header->key_id)) != 0)
		return error_set(INFORMER_E_CORRUPT,
				 "the arena that informerd left was made with another key file");
	tag_identity(key, m->header, tag);
	if (sodium_memcmp(tag, m->header->tag, sizeof(tag)) != 0)
		return error_set(INFORMER_E_CORRUPT,
				 "the arena that informerd left is damaged: the tag of its header is wrong");
	root = root_at(&view, offset);
	if (root)
		tag_root(key, m->header->hash_key, offset,
			 (const struct block *)(const void *)(view.base + offset), tag);
	if (!root || sodium_memcmp(tag, root->tag, sizeof(tag)) != 0)
		return error_set(INFORMER_E_CORRUPT,
				 "the arena that informerd left is damaged: the tag of its root is wrong");
	return 0;
}

/* Map the arena with a slot and an eventfd of our own: no writer uses them. */
static int
map_with_own_slot(struct informer *inf, int arena, const struct message_welcome *welcome,
		  struct mapping **ret_mapping)
{
	int fds[PROTOCOL_DESCRIPTORS] = {arena, memfd_create("informer-slot", MFD_CLOEXEC),
					 eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
	int r = 0;

	if (fds[1] < 0 || fds[2] < 0 || ftruncate(fds[1], SLOT_BYTES) < 0)
		r = error_set(-errno, "cannot make a slot for what informerd left: %s", errno_text(errno));
	if (r == 0)
		return mapping_new(inf, fds, welcome, ret_mapping);
	for (unsigned i = 0; i < PROTOCOL_DESCRIPTORS; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	return r;
}

/*
 * Map the arena with a slot and an eventfd of our own. Takes over `arena`, also on failure. With
 * INFORMER_VERIFY the keys come from SOCKET.key, and identity and root are checked by them.
 *
 * Returns 0; -ENOENT: another arena than the note names, or it is incomplete or revoked; other codes with a
 *         message
 */
static int
noted_map(struct informer *inf, const struct noted_arena *noted, int arena, struct mapping **ret_mapping)
{
	bool verify = inf->flags & INFORMER_VERIFY;
	struct message_welcome welcome = {0};
	struct tag_root_key root_key = {0};
	struct mapping *m;
	uint8_t id[16];
	int r = verify ? read_keys(noted, id, &root_key, &welcome) : 0;

	if (r < 0) {
		close(arena);
		return r;
	}
	r = map_with_own_slot(inf, arena, &welcome, &m);
	if (r == 0) {
		if (memcmp(m->incarnation, noted->note.incarnation, sizeof(m->incarnation)) != 0 ||
		    atomic_load_explicit(m->state, memory_order_relaxed) == HEADER_REVOKED)
			r = -ENOENT;
		else if (verify)
			r = check_root(m, id, &root_key);
		if (r < 0)
			mapping_free(inf, m);
	}
	sodium_memzero(&welcome.keys, sizeof(welcome.keys));
	sodium_memzero(&root_key, sizeof(root_key));
	if (r == 0)
		*ret_mapping = m;
	return r == -EAGAIN ? -ENOENT : r;
}

/* O2 to O4. */
static int
take(struct informer *inf, const struct noted_arena *noted, struct mapping **ret_mapping)
{
	int arena = noted_open_file(noted), held; /* O2 */

	held = noted_held(noted); /* O3 */
	if (held != 0) {
		if (arena >= 0)
			close(arena);
		return held < 0 ? held : -EBUSY;
	}
	return arena < 0 ? arena : noted_map(inf, noted, arena, ret_mapping); /* O4 */
}

static int
find_beside(struct informer *inf, const char *socket, struct mapping **ret_mapping, long *ret_pid)
{
	struct noted_arena noted;
	int r = noted_open(socket, &noted), held; /* O1 */

	if (r == 0 && ret_mapping) {
		for (unsigned i = 0; i < ROUNDS; i++) {
			r = take(inf, &noted, ret_mapping);
			if (r == 0 || noted_again(&noted) != 1)
				break;
			r = -EBUSY;
		}
	} else {
		held = noted_held(&noted);
		r = held < 0 ? held : held > 0 ? -EBUSY : r == 0 ? -ENOENT : r;
	}
	*ret_pid = noted.note.pid;
	noted_close(&noted);
	return r;
}

int
orphan_find(struct informer *inf, struct mapping **ret_mapping, long *ret_pid)
{
	int result = -ENOENT;

	for (unsigned i = 0; i < inf->place_count; i++) {
		long pid;
		int r = find_beside(inf, inf->places[i].address.sun_path, ret_mapping, &pid);

		if (r == 0)
			return 0;
		/* of two failures, keep -EBUSY before others, and -ENOENT last */
		if (result == -ENOENT || r == -EBUSY) {
			result = r;
			*ret_pid = pid;
		}
	}
	return result;
}
