/* SPDX-License-Identifier: Apache-2.0 */
/* LAYOUT.md describes each fixed structure as the compiler lays it out. */
#include "shm-layout/consumer.h"
#include "shm-layout/fnv.h"
#include "shm-layout/header_check.h"
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

#define FIXED(section, type, member)                                                                         \
	{                                                                                                    \
		section, #member, offsetof(type, member), sizeof(((type *)0)->member)                        \
	}
#define OPEN(section, type, member)                                                                          \
	{                                                                                                    \
		section, #member, offsetof(type, member), 0                                                  \
	}

#define HEADER(member) FIXED("HEADER", struct header, member)
#define BLOCK(member) FIXED("BLOCK", struct block, member)
#define ROOT(member) FIXED("ROOT", struct root, member)
#define RESOURCE(member) FIXED("RESOURCE", struct resource, member)
#define SHORTCUT(member) FIXED("SHORTCUT", struct shortcut, member)
#define POSTINGS(member) FIXED("POSTINGS", struct posting, member)
#define OBJECT(member) FIXED("OBJECT", struct object, member)
#define TOMBSTONE(member) FIXED("TOMBSTONE", struct tombstone, member)
#define CONSUMERS(member) FIXED("CONSUMERS", struct consumer, member)
#define QUEUE(member) FIXED("QUEUE", struct queue, member)
#define ENTRY(member) FIXED("ENTRY", struct queue_entry, member)
#define SUBSCRIBE(member) FIXED("SUBSCRIBE", struct message_subscribe, member)
#define SUBSCRIBED(member) FIXED("SUBSCRIBED", struct message_subscribed, member)
#define UNSUBSCRIBED(member) FIXED("UNSUBSCRIBED", struct message_unsubscribed, member)
#define UNSUBSCRIBE(member) FIXED("UNSUBSCRIBE", struct message_unsubscribe, member)
#define WANT(member) FIXED("WANT", struct message_want, member)

/* clang-format off */
static const struct field fields[] = {
	HEADER(magic), HEADER(layout_major), HEADER(layout_minor), HEADER(byte_order), HEADER(incompatible),
	HEADER(compatible), HEADER(fingerprint), HEADER(generation), HEADER(incarnation), HEADER(max_bytes),
	HEADER(created_boot_ns), HEADER(created_wall_ns), HEADER(hash_key), HEADER(key_id), HEADER(reserved),
	HEADER(tag), HEADER(root), HEADER(epoch), HEADER(committed_bytes), HEADER(state),
	HEADER(superseded_by), HEADER(heartbeat_boot_ns), HEADER(server_release), HEADER(contact_boot_ns),
	BLOCK(tag), BLOCK(type_length), BLOCK(aux), OPEN("BLOCK", struct block, payload),
	ROOT(tag), ROOT(epoch), ROOT(seq), ROOT(lineage), ROOT(committed_boot_ns), ROOT(committed_wall_ns),
	ROOT(resource_count), ROOT(consumers), ROOT(table), OPEN("ROOT", struct root, resources),
	RESOURCE(descriptor), RESOURCE(state), RESOURCE(object_count), RESOURCE(next_ordinal),
	RESOURCE(changed_seq), RESOURCE(valued_seq), RESOURCE(tombstone_floor), RESOURCE(complete_from),
	RESOURCE(fingerprint),
	RESOURCE(cluster), RESOURCE(version_length), RESOURCE(version), RESOURCE(identity),
	RESOURCE(ordinals), RESOURCE(by_seq), RESOURCE(deleted), RESOURCE(by_key), RESOURCE(by_ordinal),
	RESOURCE(status), RESOURCE(index_count), OPEN("RESOURCE", struct resource, indexes),
	SHORTCUT(cells), SHORTCUT(kind),
	POSTINGS(count), POSTINGS(value_length), OPEN("POSTINGS", struct posting, ordinals),
	OBJECT(seq), OBJECT(created_seq), OBJECT(key_hash), OBJECT(ordinal), OBJECT(resource),
	OBJECT(namespace_length), OBJECT(flags), OBJECT(name_length), OBJECT(body_offset), OBJECT(uid_length),
	OBJECT(version_length), OPEN("OBJECT", struct object, key),
	TOMBSTONE(seq), TOMBSTONE(deleted_boot_ns), TOMBSTONE(deleted_wall_ns), TOMBSTONE(object),
	TOMBSTONE(flags),
	CONSUMERS(lineage), CONSUMERS(seq), CONSUMERS(last_seen_wall_ns), CONSUMERS(uid),
	CONSUMERS(name_length), CONSUMERS(name),
	QUEUE(head), QUEUE(base), QUEUE(openings), QUEUE(state), QUEUE(capacity),
	ENTRY(seq), ENTRY(kind), ENTRY(resource), ENTRY(old_ref), ENTRY(new_ref), ENTRY(pushed_ms),
	SUBSCRIBE(number), SUBSCRIBE(entries), SUBSCRIBE(resource), SUBSCRIBE(namespace_),
	SUBSCRIBE(consumer), SUBSCRIBE(name),
	SUBSCRIBED(number), SUBSCRIBED(entries), SUBSCRIBED(base), SUBSCRIBED(lineage), SUBSCRIBED(seq),
	SUBSCRIBED(has_cursor), SUBSCRIBED(reserved),
	UNSUBSCRIBED(number), UNSUBSCRIBED(code), UNSUBSCRIBED(text_length),
	OPEN("UNSUBSCRIBED", struct message_unsubscribed, text),
	UNSUBSCRIBE(number), UNSUBSCRIBE(reserved),
	WANT(resource),
};
/* clang-format on */
#define FIELDS (sizeof(fields) / sizeof(fields[0]))

/* Each row of a table is a field of its struct with the same place and size. No field is missing. */
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
			continue; /* not a table of fields */
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

TEST_CASE(the_fingerprint_is_what_the_page_says)
{
	static const uint32_t numbers[] = {8192, 16, 96, 184, 8, 8, 38, 8192, 8, 16, 128, 60, 63};
	uint64_t hash = 0xcbf29ce484222325ull;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		for (unsigned byte = 0; byte < 4; byte++)
			hash = (hash ^ ((numbers[i] >> (8 * byte)) & 0xff)) * 0x100000001b3ull;
	assert_true(hash == header_fingerprint());
}

/* The fingerprint of LAYOUT_MAJOR.LAYOUT_MINOR. */
#define LAYOUT_FINGERPRINT 0x6082d70d180d7802ull

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
		/* offsets that the page has no table for */
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

/* Fields, sizes, block types and messages change only with the version. */
TEST_CASE(another_layout_has_another_version)
{
	if (fingerprint_of_all() != LAYOUT_FINGERPRINT)
		fail_msg("the layout changed. Once %u.%u is released, raise LAYOUT_MINOR or LAYOUT_MAJOR by "
			 "LAYOUT.md, VERSION. Then let LAYOUT_FINGERPRINT be 0x%llx",
			 LAYOUT_MAJOR, LAYOUT_MINOR, (unsigned long long)fingerprint_of_all());
}
