/* SPDX-License-Identifier: Apache-2.0 */
/* The common file systems of Linux by their numbers; see arena_file_system.h. */
#include "writer/arena/arena_file_system.h"

#include <stddef.h>

#include <linux/magic.h>

#define XFS_NUMBER 0x58465342 /* the header above lacks these */
#define CIFS_NUMBER 0xff534d42
#define ZFS_NUMBER 0x2fc12fc1

/* name NULL: files stay in memory */
static const struct {
	unsigned long type;
	const char *name;
} systems[] = {
	{TMPFS_MAGIC, NULL},
	{HUGETLBFS_MAGIC, NULL},
	{RAMFS_MAGIC, NULL},
	{EXT4_SUPER_MAGIC, "ext4"},
	{XFS_NUMBER, "xfs"},
	{BTRFS_SUPER_MAGIC, "btrfs"},
	{OVERLAYFS_SUPER_MAGIC, "overlay"},
	{NFS_SUPER_MAGIC, "nfs"},
	{CIFS_NUMBER, "cifs"},
	{ZFS_NUMBER, "zfs"},
	{F2FS_SUPER_MAGIC, "f2fs"},
	{FUSE_SUPER_MAGIC, "fuse"},
};

const char *
arena_file_system_not_memory(long type)
{
	for (size_t i = 0; i < sizeof(systems) / sizeof(*systems); i++)
		if (systems[i].type == (unsigned long)type)
			return systems[i].name;
	return "another file system";
}
