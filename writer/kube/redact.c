/* SPDX-License-Identifier: Apache-2.0 */
/* Foreign text without secrets; see redact.h. */
#include "writer/kube/redact.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "writer/base/file.h"

#define LONG_MIXED 20 /* capitals, small letters and digits */
#define LONG_PLAIN 32 /* letters and digits */
#define PEM_BEGIN  "-----BEGIN "

/* Mark text[from, to) as secret; squeeze() replaces it. */
static void
star(char *text, size_t from, size_t to)
{
	memset(text + from, '\x01', to - from);
}

static bool
is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static void
hide_known(char *text, const char *secret)
{
	size_t len = strlen(secret);

	if (len == 0)
		return;
	for (char *at = text; (at = strstr(at, secret)); at += len) {
		if (len <= 3 && ((at > text && is_word(at[-1])) || is_word(at[len])))
			continue;
		star(at, 0, len);
	}
}

void
redact_userinfo(char *text)
{
	for (char *at = text; (at = strstr(at, "://")); at += 3) {
		size_t end = strcspn(at + 3, " \t\r\n'\"<>"), last = 0;

		/* A password may hold a '/' or '@' that should be encoded: all up to the last '@' goes. */
		for (size_t i = 0; i < end; i++)
			if (at[3 + i] == '@')
				last = i;
		if (last)
			memset(at + 3, '*', last);
	}
}

static void
hide_pem(char *text)
{
	for (char *at = text; (at = strstr(at, PEM_BEGIN));) {
		char *end = strstr(at, "-----END ");

		end = end ? end + strcspn(end, "\r\n") : at + strlen(at);
		star(at, 0, (size_t)(end - at));
		at = end;
	}
}

/* "password=x", "token: x", "Authorization: Bearer x" */
static void
hide_named(char *text)
{
	static const char *const names[] = {"password", "passwd",        "passphrase", "pwd",    "secret",
					    "token",    "authorization", "credential", "apikey", "api-key",
					    "api_key",  "access_key",    "access-key", "bearer", "basic"};

	for (size_t n = 0; n < sizeof(names) / sizeof(*names); n++) {
		bool needs_sign = strcmp(names[n], "bearer") != 0 && strcmp(names[n], "basic") != 0;

		for (char *at = text; (at = strcasestr(at, names[n]));) {
			char *value = at + strlen(names[n]);

			at = value;
			value += strspn(value, "\"'");
			value += strspn(value, " \t");
			if (needs_sign && *value != '=' && *value != ':')
				continue;
			value += strspn(value, "=: \t\"'");
			if (strncasecmp(value, "bearer", 6) == 0 || strncasecmp(value, "basic", 5) == 0)
				continue; /* hidden under its own name */
			star(value, 0, strcspn(value, " \t\r\n\"',;"));
		}
	}
}

static bool
in_run(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("_+=/-", c));
}

static void
hide_long_runs(char *text)
{
	for (char *at = text; *at;) {
		bool digit = false, small = false, capital = false;
		size_t len = 0;

		for (; in_run(at[len]); len++) {
			digit |= isdigit((unsigned char)at[len]) != 0;
			small |= islower((unsigned char)at[len]) != 0;
			capital |= isupper((unsigned char)at[len]) != 0;
		}
		if ((len >= LONG_MIXED && digit && small && capital) ||
		    (len >= LONG_PLAIN && digit && (small || capital)) ||
		    (len >= 10 && strncmp(at, "eyJ", 3) == 0))
			star(at, 0, len);
		at += len + (at[len] != '\0' && len == 0);
	}
}

/* Marked runs become REDACTED, white space a blank or "; ", control characters '?'. */
static char *
squeeze(const char *text)
{
	char *line = malloc(strlen(text) * strlen(REDACTED) + 1), *to = line;

	if (!line)
		return NULL;
	while (*text) {
		unsigned char c = (unsigned char)*text;

		if (c == '\x01') {
			to = stpcpy(to, REDACTED);
			while (*text == '\x01')
				text++;
			continue;
		}
		if (isspace(c)) {
			size_t len = strspn(text, " \t\r\n\v\f");

			if (to > line)
				to = stpcpy(to, memchr(text, '\n', len) && to[-1] != ';' ? "; " : " ");
			text += len;
			continue;
		}
		*to++ = c < 0x20 || c == 0x7f ? '?' : (char)c;
		text++;
	}
	while (to > line && (to[-1] == ' ' || to[-1] == ';'))
		to--;
	*to = '\0';
	return line;
}

char *
redact_text(const char *text, size_t len, const struct kube_pairs *known, size_t max)
{
	char *copy = malloc(len + 1), *line;
	size_t n;

	if (!copy)
		return NULL;
	memcpy(copy, text, len);
	copy[len] = '\0';
	for (size_t i = 0; i < len; i++)
		if (copy[i] == '\x01' || copy[i] == '\0')
			copy[i] = '?';
	for (size_t i = 0; known && i < known->n; i++)
		hide_known(copy, known->items[i].value);
	redact_userinfo(copy);
	hide_pem(copy);
	hide_named(copy);
	hide_long_runs(copy);
	line = squeeze(copy);
	file_wipe(copy, len);
	n = line ? strlen(line) : 0;
	if (n > max) {
		size_t from = n - max + 3;

		while (((unsigned char)line[from] & 0xc0) == 0x80) /* do not cut a UTF-8 character */
			from++;
		memcpy(line, "...", 3);
		memmove(line + 3, line + from, n - from + 1);
	}
	return line;
}
