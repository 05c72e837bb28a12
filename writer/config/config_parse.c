/* SPDX-License-Identifier: Apache-2.0 */
/* Parsers of single configuration values; see config_parse.h. */
#include "writer/config/config_parse.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/flags/nearest.h"
#include "shm-layout/index_def.h"
#include "shm-layout/path.h"
#include "writer/base/listen_address.h"
#include "writer/base/message.h"
#include "writer/base/quantity.h"
#include "writer/base/number.h"

#define RESOURCE_SYNTAX                                                                                      \
	"write it as pods or 'pods?namespace=NS&labelSelector=app in (a,b)&fieldSelector=spec.nodeName=N'"
#define INDEX_SYNTAX	"write it as NAME=RESOURCE:PATH, with :split=, or :prefix=12 behind it if needed"

int
config_take_backoff(void *at, const char *text, char **ret_error)
{
	return quantity_time(text, CONFIG_LEAST_BACKOFF, CONFIG_LIMIT_BACKOFF, at, ret_error);
}

int
config_take_backoff_reset(void *at, const char *text, char **ret_error)
{
	return quantity_time(text, CONFIG_LEAST_RESET, CONFIG_LIMIT_RESET, at, ret_error);
}

int
config_take_watch_timeout(void *at, const char *text, char **ret_error)
{
	return quantity_time(text, CONFIG_LEAST_WATCH, CONFIG_LIMIT_WATCH, at, ret_error);
}

int
config_take_check_every(void *at, const char *text, char **ret_error)
{
	return quantity_time(text, CONFIG_LEAST_CHECK, CONFIG_LIMIT_CHECK, at, ret_error);
}

int
config_take_address(void *at, const char *text, char **ret_error)
{
	struct listen_address address;
	int r = listen_address_parse(text, &address, ret_error);

	return r < 0 ? r : flag_take_copy(at, text, ret_error);
}

int
config_check_namespace(const char *text, char **ret_error)
{
	size_t len = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-");

	if (len == 0 || len > 63 || text[len] || *text == '-' || text[len - 1] == '-')
		return message_set(ret_error, -EINVAL,
				   "'%s' cannot be a namespace (lower-case letters, digits and '-')", text);
	return 0;
}

int
config_check_namespaces(const char *text, char **ret_error)
{
	char *copy, *rest, *ns;
	int r = 0;

	if (strstr(text, "${"))
		return 0;
	copy = rest = strdup(text);
	if (!copy)
		return -ENOMEM;
	while (r == 0 && (ns = strsep(&rest, ",")))
		r = config_check_namespace(ns, ret_error);
	free(copy);
	return r;
}

int
config_check_index_name(const char *text, char **ret_error)
{
	size_t len = 0;

	while (isalnum((unsigned char)text[len]) || (len > 0 && (text[len] == '-' || text[len] == '_')))
		len++;
	if (len == 0 || len > 63 || text[len] || !isalpha((unsigned char)*text))
		return message_set(
			ret_error, -EINVAL,
			"'%s' cannot be an index's name (a letter, then letters, digits, '-' and '_')", text);
	return 0;
}

int
config_check_path(const char *path, char **ret_error)
{
	const char *why = "";
	struct path compiled;
	size_t offset = 0;
	int r;

	if (!*path)
		return message_set(ret_error, -EINVAL,
				   "an empty path; write it as metadata.labels or spec.containers[*].image");
	r = path_compile(&compiled, path, strlen(path), &offset, &why);
	if (r < 0)
		return message_set(ret_error, -EINVAL, "path '%s', character %zu: %s", path, offset + 1, why);
	if (compiled.count == 0)
		return message_set(ret_error, -EINVAL,
				   "path '%s', character 1: names the whole object; name a field of it",
				   path);
	return 0;
}

/* ---- resources ------------------------------------------------------------------------------ */

static int
hex_digit(char c)
{
	return isdigit((unsigned char)c)    ? c - '0'
	       : isxdigit((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10
					    : -1;
}

/* Decode %XX in place. */
static int
percent_decode(char *text, char **ret_error)
{
	char *out = text;

	for (const char *in = text; *in; in++) {
		if (*in == '%') {
			int high = hex_digit(in[1]), low = high < 0 ? -1 : hex_digit(in[2]);

			if (low < 0 || high + low == 0)
				return message_set(ret_error, -EINVAL,
						   "'%s': behind a %% stand two hexadecimal digits", text);
			*out++ = (char)(high * 16 + low);
			in += 2;
		} else {
			*out++ = *in;
		}
	}
	*out = '\0';
	return 0;
}

int
config_take_version(void *at, const char *text, char **ret_error)
{
	if (strcmp(text, "any") != 0 && strcmp(text, "latest") != 0)
		return message_set(ret_error, -EINVAL, "'%s' is neither any nor latest", text);
	*(enum reflector_version *)at = *text == 'a' ? REFLECTOR_VERSION_ANY : REFLECTOR_VERSION_LATEST;
	return 0;
}

/* Which of three words it is, or -EINVAL with message. */
static int
word_of(const char *text, const char *const words[3], char **ret_error)
{
	for (int i = 0; i < 3; i++)
		if (strcmp(text, words[i]) == 0)
			return i;
	return message_set(ret_error, -EINVAL, "'%s' is neither %s, %s nor %s", text, words[0], words[1],
			   words[2]);
}

int
config_take_wire(void *at, const char *text, char **ret_error)
{
	static const char *const words[] = {"auto", "json", "protobuf"};
	int word = word_of(text, words, ret_error);

	if (word < 0)
		return word;
	*(enum wire_choice *)at = (enum wire_choice)(WIRE_AUTO + word);
	return 0;
}

int
config_take_compression(void *at, const char *text, char **ret_error)
{
	static const char *const words[] = {[KUBE_COMPRESSION_AUTO] = "auto",
					    [KUBE_COMPRESSION_GZIP] = "gzip",
					    [KUBE_COMPRESSION_NONE] = "none"};
	int word = word_of(text, words, ret_error);

	if (word < 0)
		return word;
	*(enum kube_compression *)at = (enum kube_compression)word;
	return 0;
}

static int
take_page_size(void *at, const char *text, char **ret_error)
{
	uint64_t number;
	int r = number_parse(text, CONFIG_LIMIT_PAGE_SIZE, &number, ret_error);

	if (r == 0 && number == 0)
		r = message_set(ret_error, -EINVAL, "a page of 0 objects never comes to an end");
	if (r == 0)
		*(unsigned *)at = (unsigned)number;
	return r;
}

static int
take_bool(void *at, const char *text, char **ret_error)
{
	if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
		return message_set(ret_error, -EINVAL, "'%s' is neither true nor false", text);
	return flag_take_on(at, text, ret_error);
}

static int
take_choice(void *at, const char *text, char **ret_error)
{
	bool yes = false;
	int r = take_bool(&yes, text, ret_error);

	*(enum config_choice *)at = yes ? CONFIG_YES : CONFIG_NO;
	return r;
}

static int
take_namespaces(void *at, const char *text, char **ret_error)
{
	int r = config_check_namespaces(text, ret_error);

	return r < 0 ? r : flag_take_copy(at, text, ret_error);
}

#define AT(member) offsetof(struct config_resource, member)
static const struct parameter {
	const char *name;
	flag_take *take;
	size_t offset;
} parameters[] = {
	{"namespace", take_namespaces, AT(namespace_)},
	{"labelSelector", flag_take_copy, AT(label_selector)},
	{"fieldSelector", flag_take_copy, AT(field_selector)},
	{"metadataOnly", take_bool, AT(metadata_only)},
	{"onDemand", take_bool, AT(on_demand)},
	{"watchList", take_choice, AT(watch_list)},
	{"pageSize", take_page_size, AT(page_size)},
	{"resourceVersion", config_take_version, AT(version)},
	{"optional", take_bool, AT(optional)},
	{"wire", config_take_wire, AT(wire)},
};
#undef AT
#define PARAMETERS (sizeof(parameters) / sizeof(*parameters))

static int
take_parameter(char *parameter, unsigned *given, struct config_resource *resource, char **ret_error)
{
	_cleanup_(message_freep) char *error = NULL;
	char *value = strchr(parameter, '=');
	const char *near, *names[PARAMETERS];
	unsigned i;
	int r;

	if (!value || !value[1])
		return message_set(ret_error, -EINVAL, "'%s' needs a value; " RESOURCE_SYNTAX, parameter);
	*value++ = '\0';
	r = percent_decode(value, ret_error);
	if (r < 0)
		return r;
	for (i = 0; i < PARAMETERS && strcmp(parameter, parameters[i].name) != 0; i++)
		names[i] = parameters[i].name;
	if (i == PARAMETERS) {
		near = nearest(parameter, names, PARAMETERS);
		return message_set(ret_error, -EINVAL, "unknown parameter '%s'%s%s%s; " RESOURCE_SYNTAX,
				   parameter, near ? " (did you mean " : "", near ? near : "",
				   near ? "?)" : "");
	}
	if (*given & 1u << i)
		return message_set(ret_error, -EINVAL, "%s is given twice", parameter);
	*given |= 1u << i;
	r = parameters[i].take((char *)resource + parameters[i].offset, value, &error);
	if (r < 0 && r != -ENOMEM)
		return message_set(ret_error, r, "%s: %s", parameter, error ? error : value);
	return r;
}

int
config_parse_resource(const char *text, struct config_resource *ret, char **ret_error)
{
	struct config_resource resource = {0};
	char *copy = strdup(text), *rest, *parameter;
	struct resource_name name;
	unsigned given = 0;
	int r;

	*ret = resource;
	if (!copy)
		return -ENOMEM;
	rest = copy;
	parameter = strsep(&rest, "?");
	r = resource_name_parse(parameter, &name, ret_error);
	if (r == 0) {
		resource_name_done(&name);
		resource.resource = strdup(parameter);
		r = resource.resource ? 0 : -ENOMEM;
	}
	while (r == 0 && (parameter = strsep(&rest, "&")))
		r = take_parameter(parameter, &given, &resource, ret_error);
	free(copy);
	if (r < 0) {
		config_resource_done(&resource);
		return r;
	}
	*ret = resource;
	return 0;
}

/* ---- indexes -------------------------------------------------------------------------------- */

/* The last option (":split=") that is not inside brackets, or NULL. */
static char *
find_option(char *path, const char *option)
{
	char *found = NULL;
	int depth = 0;

	for (char *p = path; *p; p++) {
		depth += (*p == '[') - (*p == ']');
		if (depth <= 0 && strncmp(p, option, strlen(option)) == 0)
			found = p;
	}
	return found;
}

/* Cut an option off, so that its value remains. at may be NULL. */
static char *
cut_option(char *at, const char *option)
{
	if (!at)
		return NULL;
	*at = '\0';
	return at + strlen(option);
}

static int
take_prefix(const char *text, unsigned *ret, char **ret_error)
{
	uint64_t bytes;

	if (number_parse(text, INDEX_PREFIX_MAX, &bytes, NULL) < 0 || bytes == 0)
		return message_set(ret_error, -EINVAL,
				   "prefix=%s: a number of bytes from 1 to %u is expected", text,
				   INDEX_PREFIX_MAX);
	*ret = (unsigned)bytes;
	return 0;
}

int
config_parse_index(const char *text, struct config_index *ret, char **ret_error)
{
	struct config_index index = {0};
	char *copy = strdup(text), *resource, *path, *split, *prefix;
	struct resource_name name;
	int r = -ENOMEM;

	*ret = index;
	if (!copy)
		return -ENOMEM;
	resource = strchr(copy, '=');
	path = resource ? strchr(resource, ':') : NULL;
	if (!path) {
		r = message_set(ret_error, -EINVAL, "'%s' is no index; " INDEX_SYNTAX, text);
		goto out;
	}
	*resource++ = '\0';
	*path++ = '\0';
	split = find_option(path, ":split=");
	prefix = find_option(path, ":prefix=");
	split = cut_option(split, ":split=");
	prefix = cut_option(prefix, ":prefix=");
	if ((r = config_check_index_name(copy, ret_error)) < 0 ||
	    (r = resource_name_parse(resource, &name, ret_error)) < 0)
		goto out;
	resource_name_done(&name);
	r = config_check_path(path, ret_error);
	if (r < 0)
		goto out;
	if (split && !*split) {
		r = message_set(ret_error, -EINVAL, "split= needs a separator, as in split=,");
		goto out;
	}
	if (prefix && (r = take_prefix(prefix, &index.prefix, ret_error)) < 0)
		goto out;
	index.name = strdup(copy);
	index.resource = strdup(resource);
	index.paths = calloc(1, sizeof(*index.paths));
	if (index.paths && (index.paths[0] = strdup(path)))
		index.n_paths = 1;
	if (split)
		index.split = strdup(split);
	r = index.name && index.resource && index.n_paths && (!split || index.split) ? 0 : -ENOMEM;
out:
	free(copy);
	if (r < 0) {
		config_index_done(&index);
		return r;
	}
	*ret = index;
	return 0;
}
