/* SPDX-License-Identifier: Apache-2.0 */
/* Each real pod becomes a template: its text with marks where replicas differ, cut into pieces once. */
#include "tests/bench/pods.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "writer/base/file.h"
#include "writer/base/message.h"

#define POD_MAX ((size_t)16 << 20)

/* One letter each; "@@N@@" stands for it in a template's text. */
#define MARKS "NSUVOIHTC"

struct pod_piece {
	const char *text;
	size_t length;
	char mark;		/* what follows the text; 0: nothing */
};

struct template_pod {
	char *text;
	char *ns, *name;
	struct pod_piece *pieces;
	size_t piece_count;
};

struct pods {
	struct template_pod *templates;
	size_t count;
};

/* ---- files ---- */

static int
is_json(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');

	return dot && strcmp(dot, ".json") == 0;
}

static void
hand_over(const char *directory, const char *file, void (*each)(void *context, const char *file, cJSON *pod),
	  void *context)
{
	_cleanup_(message_freep) char *error = NULL;
	char path[4096], *text;
	cJSON *pod;
	size_t length;

	snprintf(path, sizeof(path), "%s/%s", directory, file);
	if (file_read(path, POD_MAX, &text, &length, &error) < 0)
		return;
	pod = cJSON_ParseWithLength(text, length);
	if (pod)
		each(context, file, pod);
	cJSON_Delete(pod);
	free(text);
}

int
pod_files_each(const char *directory, void (*each)(void *context, const char *file, cJSON *pod),
	       void *context)
{
	struct dirent **files = NULL;
	int n = scandir(directory, &files, is_json, alphasort);

	if (n < 0)
		return -errno;
	for (int i = 0; i < n; i++) {
		hand_over(directory, files[i]->d_name, each, context);
		free(files[i]);
	}
	free(files);
	return 0;
}

/* ---- templates ---- */

static void
set_text(cJSON *object, const char *name, const char *text)
{
	cJSON *field = cJSON_GetObjectItemCaseSensitive(object, name);

	if (cJSON_IsString(field))
		cJSON_SetValuestring(field, text);
	else if (object && !field)
		cJSON_AddStringToObject(object, name, text);
}

static bool
is_time(const char *s)
{
	static const char form[] = "dddd-dd-ddTdd:dd:dd";

	for (size_t i = 0; form[i]; i++)
		if (form[i] == 'd' ? !isdigit((unsigned char)s[i]) : s[i] != form[i])
			return false;
	return true;
}

static void
mark_strings(cJSON *v)
{
	for (cJSON *c = v->child; c; c = c->next)
		mark_strings(c);
	if (!cJSON_IsString(v))
		return;
	if (is_time(v->valuestring))
		cJSON_SetValuestring(v, "@@T@@");
	else if (v->string && strcmp(v->string, "containerID") == 0)
		cJSON_SetValuestring(v, "@@C@@");
}

static void
cut(struct template_pod *t)
{
	const char *at = t->text, *mark;

	for (const char *from = at;; from = mark + 1) {
		mark = strstr(from, "@@");
		if (mark && (mark[2] == '\0' || !strchr(MARKS, mark[2]) || strncmp(mark + 3, "@@", 2) != 0))
			continue;
		t->pieces = realloc(t->pieces, (t->piece_count + 1) * sizeof(*t->pieces));
		if (!t->pieces)
			abort();
		t->pieces[t->piece_count++] = (struct pod_piece){
			at, mark ? (size_t)(mark - at) : strlen(at), mark ? mark[2] : '\0'};
		if (!mark)
			return;
		at = mark + 5;
		mark += 4;
	}
}

static void
add_template(void *context, const char *file, cJSON *pod)
{
	struct pods *p = context;
	cJSON *metadata = cJSON_GetObjectItemCaseSensitive(pod, "metadata");
	cJSON *spec = cJSON_GetObjectItemCaseSensitive(pod, "spec"),
	      *status = cJSON_GetObjectItemCaseSensitive(pod, "status");
	cJSON *ips = cJSON_GetObjectItemCaseSensitive(status, "podIPs");
	const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(metadata, "name"));
	const char *ns = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(metadata, "namespace"));
	struct template_pod t = {0};

	(void)file;
	if (!name || !ns || !spec)
		return;
	t.name = strdup(name);
	t.ns = strdup(ns);
	mark_strings(pod);
	set_text(metadata, "name", "@@N@@");
	set_text(metadata, "namespace", "@@S@@");
	set_text(metadata, "uid", "@@U@@");
	set_text(metadata, "resourceVersion", "@@V@@");
	set_text(spec, "nodeName", "@@O@@");
	set_text(status, "podIP", "@@I@@");
	if (ips && ips->child)
		set_text(ips->child, "ip", "@@I@@");
	set_text(status, "hostIP", "@@H@@");
	t.text = cJSON_PrintUnformatted(pod);
	p->templates = realloc(p->templates, (p->count + 1) * sizeof(t));
	if (!t.text || !p->templates)
		abort();
	cut(&t);
	p->templates[p->count++] = t;
}

int
pods_load(const char *directory, struct pods **ret_pods)
{
	struct pods *p = calloc(1, sizeof(*p));
	int r;

	if (!p)
		abort();
	r = pod_files_each(directory, add_template, p);
	if (r == 0 && p->count == 0)
		r = -ENOENT;
	if (r < 0) {
		pods_free(p);
		return r;
	}
	*ret_pods = p;
	return 0;
}

void
pods_free(struct pods *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->count; i++) {
		cJSON_free(p->templates[i].text);
		free(p->templates[i].ns);
		free(p->templates[i].name);
		free(p->templates[i].pieces);
	}
	free(p->templates);
	free(p);
}

size_t
pods_count(const struct pods *p)
{
	return p->count;
}

/* ---- replicas ---- */

/* splitmix64 */
static uint64_t
next(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static unsigned
any(uint64_t *state, unsigned below)
{
	return (unsigned)((next(state) >> 32) * below >> 32);
}

static void
hex(uint64_t *state, char *to, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] = "0123456789abcdef"[any(state, 16)];
	to[n] = '\0';
}

/* Five letters that no other i below 27^5 has. */
static void
suffix(size_t i, char to[6])
{
	uint64_t x = ((uint64_t)i * 2654435761u + 12345u) % 14348907u;

	for (int k = 0; k < 5; k++, x /= 27)
		to[k] = "bcdfghjklmnpqrstvwxz2456789"[x % 27];
	to[5] = '\0';
}

void
pods_node_name(size_t node, char ret[64])
{
	snprintf(ret, 64, "ip-10-%zu-%zu-%zu.us-east-2.compute.internal", node >> 16 & 255, node >> 8 & 255,
		 node & 255);
}

void
pods_names(const struct pods *p, enum pods_naming naming, size_t i, size_t total, struct pod_names *ret)
{
	const struct template_pod *t = &p->templates[i % p->count];
	size_t n = strlen(t->name), nodes = total / 50 > 0 ? total / 50 : 1;
	char letters[6];

	suffix(i, letters);
	if (naming == PODS_SPREAD) {
		snprintf(ret->ns, sizeof(ret->ns), "%.80s-%04u", t->ns, (unsigned)(i / 1000));
		snprintf(ret->name, sizeof(ret->name), "%.*s%s", (int)(n > 5 && n < 150 ? n - 5 : 1), t->name,
			 letters);
		pods_node_name(i * 7919 % nodes, ret->node);
		return;
	}
	if (n > 6 && t->name[n - 6] == '-' && !strchr(t->name + n - 5, '-') && !strchr(t->name + n - 5, '.'))
		n -= 6;
	snprintf(ret->ns, sizeof(ret->ns), "%.90s", t->ns);
	snprintf(ret->name, sizeof(ret->name), "%.*s-%s", (int)(n < 150 ? n : 150), t->name, letters);
	pods_node_name((size_t)(i * 0x9e3779b97f4a7c15u >> 40) % 200, ret->node);
}

void
pods_make(const struct pods *p, enum pods_naming naming, size_t i, size_t total, unsigned version,
	  struct bytes *out)
{
	const struct template_pod *t = &p->templates[i % p->count];
	uint64_t fixed = i * 0x2545f4914f6cdd1du + 1, moving = fixed ^ (version + 1) * 0xd6e8feb86659fd93u;
	char uid[40], ip[16], host[16], rv[16], minute[32], text[96];
	struct pod_names names;

	pods_names(p, naming, i, total, &names);
	hex(&fixed, uid, 36);
	uid[8] = uid[13] = uid[18] = uid[23] = '-';
	snprintf(ip, sizeof(ip), "10.%u.%u.%u", any(&fixed, 256), any(&fixed, 256), 1 + any(&fixed, 254));
	snprintf(host, sizeof(host), "10.0.%u.%u", any(&fixed, 256), any(&fixed, 256));
	snprintf(rv, sizeof(rv), "%u", 1 + any(&moving, 100000000));
	snprintf(minute, sizeof(minute), "2021-0%u-%02uT%02u:%02u:", 1 + any(&moving, 9),
		 1 + any(&moving, 28), any(&moving, 24), any(&moving, 60));
	if (bytes_room(out, strlen(t->text) + t->piece_count * 160) < 0)
		abort();
	for (size_t k = 0; k < t->piece_count; k++) {
		const struct pod_piece *piece = &t->pieces[k];
		const char *value = "";

		switch (piece->mark) {
		case 'N': value = names.name; break;
		case 'S': value = names.ns; break;
		case 'U': value = uid; break;
		case 'V': value = rv; break;
		case 'O': value = names.node; break;
		case 'I': value = ip; break;
		case 'H': value = host; break;
		case 'T':
			snprintf(text, sizeof(text), "%s%02uZ", minute, any(&moving, 60));
			value = text;
			break;
		case 'C':
			memcpy(text, "cri-o://", 8);
			hex(&fixed, text + 8, 64);
			value = text;
			break;
		default: break;
		}
		if (bytes_append(out, piece->text, piece->length) < 0 ||
		    bytes_append(out, value, strlen(value)) < 0)
			abort();
	}
}
