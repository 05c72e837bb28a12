/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes and reads the note in SOCKET.lock. What is read is input: a malformed note is refused.
 */
#include "shm-layout/lock_note.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sodium.h>

#define FIRST_LINE "informer 1\n"
#define NOTE_MAX (LOCK_NOTE_PATH_MAX + 128)

int
lock_note_write(int fd, const struct lock_note *note)
{
	char text[NOTE_MAX], hex[2 * sizeof(note->incarnation) + 1];
	int n;

	if (strchr(note->arena, '\n'))
		return -ENAMETOOLONG;
	sodium_bin2hex(hex, sizeof(hex), note->incarnation, sizeof(note->incarnation));
	n = snprintf(text, sizeof(text), FIRST_LINE "%ld\n%s\n%s\n", note->pid, note->arena,
		     *note->arena ? hex : "");
	if (n < 0 || (size_t)n >= sizeof(text))
		return -ENAMETOOLONG;
	/* In this order: a writer that is killed in between leaves a whole note, followed by older bytes. */
	errno = 0;
	if (pwrite(fd, text, (size_t)n, 0) != n)
		return errno ? -errno : -EIO;
	return ftruncate(fd, n) < 0 ? -errno : 0;
}

int
lock_note_read(int fd, struct lock_note *ret)
{
	char text[NOTE_MAX], *at = text + sizeof(FIRST_LINE) - 1, *path, *hex;
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	size_t length;

	memset(ret, 0, sizeof(*ret));
	if (n < 0)
		return -errno;
	text[n] = '\0';
	if (strncmp(text, FIRST_LINE, sizeof(FIRST_LINE) - 1) != 0)
		return -EBADMSG;
	ret->pid = strtol(at, &at, 10);
	path = *at == '\n' ? at + 1 : NULL;
	hex = path ? strchr(path, '\n') : NULL;
	if (!hex)
		return -EBADMSG;
	*hex++ = '\0';
	hex[strcspn(hex, "\n")] = '\0';
	if (*path != '/' || strlen(path) >= sizeof(ret->arena) ||
	    sodium_hex2bin(ret->incarnation, sizeof(ret->incarnation), hex, strlen(hex), NULL, &length,
			   NULL) != 0 ||
	    length != sizeof(ret->incarnation)) {
		memset(ret->incarnation, 0, sizeof(ret->incarnation));
		return -EBADMSG;
	}
	memcpy(ret->arena, path, strlen(path) + 1);
	return 0;
}
