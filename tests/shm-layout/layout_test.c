/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LAYOUT.md says of every fixed structure what the compiler says.
 */
#include "shm-layout/consumer.h"
#include "shm-layout/fnv.h"
#include "shm-layout/header.h"
#include "shm-layout/object.h"
#include "shm-layout/posting.h"
#include "shm-layout/protocol.h"
#include "shm-layout/queue.h"
#include "shm-layout/root.h"
#include "shm-layout/shortcut.h"
#include "shm-layout/slot.h"
#include "shm-layout/tombstone.h"
#include "tests/room.h"

struct field {
	const char *section, *name;
	size_t offset, bytes; /* bytes 0: open-ended */
};

#define FIXED(section, type, member) {section, #member, offsetof(type, member), sizeof(((type *)0)->member)}
#define OPEN(section, type, member) {section, #member, offsetof(type, member), 0}

static const struct field fields[] = {
	FIXED("HEADER", struct header, magic),
	FIXED("HEADER", struct header, layout_major),
	FIXED("HEADER", struct header, layout_minor),
	FIXED("HEADER", struct header, byte_order),
	FIXED("HEADER", struct header, incompatible),
	FIXED("HEADER", struct header, compatible),
	FIXED("HEADER", struct header, fingerprint),
	FIXED("HEADER", struct header, generation),
	FIXED("HEADER", struct header, incarnation),
	FIXED("HEADER", struct header, max_bytes),
	FIXED("HEADER", struct header, created_boot_ns),
	FIXED("HEADER", struct header, created_wall_ns),
	FIXED("HEADER", struct header, hash_key),
	FIXED("HEADER", struct header, key_id),
	FIXED("HEADER", struct header, reserved),
	FIXED("HEADER", struct header, tag),
	FIXED("HEADER", struct header, root),
	FIXED("HEADER", struct header, epoch),
	FIXED("HEADER", struct header, committed_bytes),
	FIXED("HEADER", struct header, state),
	FIXED("HEADER", struct header, superseded_by),
	FIXED("HEADER", struct header, heartbeat_boot_ns),
	FIXED("HEADER", struct header, server_release),
	FIXED("HEADER", struct header, contact_boot_ns),
	FIXED("BLOCK", struct block, tag),
	FIXED("BLOCK", struct block, type_length),
	FIXED("BLOCK", struct block, aux),
	OPEN("BLOCK", struct block, payload),
	FIXED("ROOT", struct root, tag),
	FIXED("ROOT", struct root, epoch),
	FIXED("ROOT", struct root, seq),
	FIXED("ROOT", struct root, lineage),
	FIXED("ROOT", struct root, committed_boot_ns),
	FIXED("ROOT", struct root, committed_wall_ns),
	FIXED("ROOT", struct root, resource_count),
	FIXED("ROOT", struct root, consumers),
	FIXED("ROOT", struct root, table),
	OPEN("ROOT", struct root, resources),
	FIXED("RESOURCE", struct resource, descriptor),
	FIXED("RESOURCE", struct resource, state),
	FIXED("RESOURCE", struct resource, object_count),
	FIXED("RESOURCE", struct resource, next_ordinal),
	FIXED("RESOURCE", struct resource, changed_seq),
	FIXED("RESOURCE", struct resource, tombstone_floor),
	FIXED("RESOURCE", struct resource, complete_from),
	FIXED("RESOURCE", struct resource, fingerprint),
	FIXED("RESOURCE", struct resource, cluster),
	FIXED("RESOURCE", struct resource, version_length),
	FIXED("RESOURCE", struct resource, version),
	FIXED("RESOURCE", struct resource, identity),
	FIXED("RESOURCE", struct resource, ordinals),
	FIXED("RESOURCE", struct resource, by_seq),
	FIXED("RESOURCE", struct resource, deleted),
	FIXED("RESOURCE", struct resource, by_key),
	FIXED("RESOURCE", struct resource, by_ordinal),
	FIXED("RESOURCE", struct resource, status),
	FIXED("RESOURCE", struct resource, index_count),
	OPEN("RESOURCE", struct resource, indexes),
	FIXED("SHORTCUT", struct shortcut, cells),
	FIXED("SHORTCUT", struct shortcut, kind),
	FIXED("POSTINGS", struct posting, count),
	FIXED("POSTINGS", struct posting, value_length),
	OPEN("POSTINGS", struct posting, ordinals),
	FIXED("OBJECT", struct object, seq),
	FIXED("OBJECT", struct object, created_seq),
	FIXED("OBJECT", struct object, key_hash),
	FIXED("OBJECT", struct object, ordinal),
	FIXED("OBJECT", struct object, resource),
	FIXED("OBJECT", struct object, namespace_length),
	FIXED("OBJECT", struct object, flags),
	FIXED("OBJECT", struct object, name_length),
	FIXED("OBJECT", struct object, body_offset),
	FIXED("OBJECT", struct object, uid_length),
	FIXED("OBJECT", struct object, version_length),
	OPEN("OBJECT", struct object, key),
	FIXED("TOMBSTONE", struct tombstone, seq),
	FIXED("TOMBSTONE", struct tombstone, deleted_boot_ns),
	FIXED("TOMBSTONE", struct tombstone, deleted_wall_ns),
	FIXED("TOMBSTONE", struct tombstone, object),
	FIXED("TOMBSTONE", struct tombstone, flags),
	FIXED("CONSUMERS", struct consumer, lineage),
	FIXED("CONSUMERS", struct consumer, seq),
	FIXED("CONSUMERS", struct consumer, last_seen_wall_ns),
	FIXED("CONSUMERS", struct consumer, uid),
	FIXED("CONSUMERS", struct consumer, name_length),
	FIXED("CONSUMERS", struct consumer, name),
	FIXED("QUEUE", struct queue, head),
	FIXED("QUEUE", struct queue, base),
	FIXED("QUEUE", struct queue, openings),
	FIXED("QUEUE", struct queue, state),
	FIXED("QUEUE", struct queue, capacity),
	FIXED("ENTRY", struct queue_entry, seq),
	FIXED("ENTRY", struct queue_entry, kind),
	FIXED("ENTRY", struct queue_entry, resource),
	FIXED("ENTRY", struct queue_entry, old_ref),
	FIXED("ENTRY", struct queue_entry, new_ref),
	FIXED("ENTRY", struct queue_entry, pushed_ms),
	FIXED("SUBSCRIBE", struct message_subscribe, number),
	FIXED("SUBSCRIBE", struct message_subscribe, entries),
	FIXED("SUBSCRIBE", struct message_subscribe, resource),
	FIXED("SUBSCRIBE", struct message_subscribe, namespace_),
	FIXED("SUBSCRIBE", struct message_subscribe, consumer),
	FIXED("SUBSCRIBE", struct message_subscribe, name),
	FIXED("SUBSCRIBED", struct message_subscribed, number),
	FIXED("SUBSCRIBED", struct message_subscribed, entries),
	FIXED("SUBSCRIBED", struct message_subscribed, base),
	FIXED("SUBSCRIBED", struct message_subscribed, lineage),
	FIXED("SUBSCRIBED", struct message_subscribed, seq),
	FIXED("SUBSCRIBED", struct message_subscribed, has_cursor),
	FIXED("SUBSCRIBED", struct message_subscribed, reserved),
	FIXED("UNSUBSCRIBED", struct message_unsubscribed, number),
	FIXED("UNSUBSCRIBED", struct message_unsubscribed, code),
	FIXED("UNSUBSCRIBED", struct message_unsubscribed, text_length),
	OPEN("UNSUBSCRIBED", struct message_unsubscribed, text),
	FIXED("UNSUBSCRIBE", struct message_unsubscribe, number),
	FIXED("UNSUBSCRIBE", struct message_unsubscribe, reserved),
	FIXED("WANT", struct message_want, resource),
};
#define FIELDS (sizeof(fields) / sizeof(fields[0]))

/*
 * Every row of a section's table is a field of its struct, at that offset and of that size, and no field is
 * missing.
 */
TEST_CASE(the_page_and_the_structs_agree)
{
	FILE *f = fopen("shm-layout/LAYOUT.md", "re");
	char line[1024], section[64] = "";
	unsigned found[FIELDS] = {0};

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		char name[64], bytes[16];
		unsigned long offset;
		size_t i;

		if (sscanf(line, "## %63[A-Z]", section) == 1)
			continue;
		if (sscanf(line, "| %lu | %15[0-9 ]| %63[a-z_] |", &offset, bytes, name) != 3 &&
		    (strcpy(bytes, ""), sscanf(line, "| %lu | | %63[a-z_] |", &offset, name)) != 2)
			continue;
		for (i = 0; i < FIELDS; i++)
			if (strcmp(fields[i].section, section) == 0 && strcmp(fields[i].name, name) == 0)
				break;
		if (i == FIELDS)
			continue; /* another kind of table */
		if (fields[i].offset != offset || fields[i].bytes != strtoul(bytes, NULL, 10))
			print_message("%s.%s: the struct says %zu, %zu\n", section, name, fields[i].offset,
				      fields[i].bytes);
		assert_int_equal(fields[i].offset, offset);
		assert_int_equal(fields[i].bytes, strtoul(bytes, NULL, 10));
		found[i]++;
	}
	fclose(f);
	for (size_t i = 0; i < FIELDS; i++) {
		if (found[i] != 1)
			print_message("%s.%s stands %u times in the page\n", fields[i].section,
				      fields[i].name, found[i]);
		assert_int_equal(found[i], 1);
	}
}

/* The fingerprint is what the page's list of numbers gives. */
TEST_CASE(the_fingerprint_is_what_the_page_says)
{
	static const uint32_t numbers[] = {8192, 16, 96, 176, 8, 8, 38, 8192, 8, 16, 128, 60, 63};
	uint64_t hash = 0xcbf29ce484222325ull;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		for (unsigned byte = 0; byte < 4; byte++)
			hash = (hash ^ ((numbers[i] >> (8 * byte)) & 0xff)) * 0x100000001b3ull;
	assert_true(hash == header_fingerprint());
}

/* What LAYOUT_MAJOR.LAYOUT_MINOR stands for. */
#define LAYOUT_FINGERPRINT 0xd5921684b7fa4bfeull

#define NUMBER_OF(name, number) number,
#define TYPE_NUMBER_OF(name, number, text) number,

static uint64_t
fingerprint_of_all(void)
{
	static const uint32_t numbers[] = {
		LAYOUT_MAJOR,
		LAYOUT_MINOR,
		BLOCK_TYPES(TYPE_NUMBER_OF) 0,
		MESSAGES(NUMBER_OF) 0,
		REFUSALS(NUMBER_OF) 0,
		/* what has no table in the page */
		offsetof(struct slot, closed),
		offsetof(struct slot, touched),
		offsetof(struct slot, cells),
		sizeof(struct pin_cell),
		offsetof(struct slot, queues),
		sizeof(struct queue_cursor),
		offsetof(struct queue_cursor, acknowledged),
		offsetof(struct message_hello, layout_major),
		offsetof(struct message_hello, layout_minor),
		offsetof(struct message_hello, flags),
		offsetof(struct message_hello, reader_name),
		sizeof(struct message_hello),
		offsetof(struct message_welcome, generation),
		offsetof(struct message_welcome, slot_bytes),
		offsetof(struct message_welcome, has_keys),
		offsetof(struct message_welcome, keys),
		sizeof(struct message_welcome),
		offsetof(struct message_refused, code),
		offsetof(struct message_refused, text_length),
		offsetof(struct message_refused, text),
	};
	uint64_t sizes = header_fingerprint(), hash = fnv64(FNV64_BEGIN, &sizes, sizeof(sizes));

	hash = fnv64(hash, numbers, sizeof(numbers));
	for (size_t i = 0; i < FIELDS; i++) {
		const uint64_t place[] = {fields[i].offset, fields[i].bytes};

		hash = fnv64(hash, fields[i].section, strlen(fields[i].section) + 1);
		hash = fnv64(hash, fields[i].name, strlen(fields[i].name) + 1);
		hash = fnv64(hash, place, sizeof(place));
	}
	return hash;
}

/* Fields, sizes, types of blocks and messages do not change without a new version. */
TEST_CASE(another_layout_has_another_version)
{
	if (fingerprint_of_all() != LAYOUT_FINGERPRINT)
		fail_msg("the layout changed. Once %u.%u is released, raise LAYOUT_MINOR or LAYOUT_MAJOR by "
			 "LAYOUT.md, VERSION. Then let LAYOUT_FINGERPRINT be 0x%llx",
			 LAYOUT_MAJOR, LAYOUT_MINOR, (unsigned long long)fingerprint_of_all());
}
