/* SPDX-License-Identifier: Apache-2.0 */
/* Splits words. The text of `say` is removed before the line is split; see fault_words.h. */
#include "tools/informer-sim/fault_words.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

int
sim_words_refuse(struct sim_words *w, const char *format, ...)
{
	struct api_buf text = {0};
	char *message = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&message, format, args) < 0)
		message = NULL;
	va_end(args);
	api_buf_puts(&text, message ? message : "it cannot be read");
	free(message);
	if (!*w->ret_error)
		*w->ret_error = api_buf_take(&text);
	else
		api_buf_done(&text);
	return -EINVAL;
}

const char *
sim_words_peek(const struct sim_words *w)
{
	return w->at[w->next] ? w->at[w->next] : "";
}

bool
sim_words_take(struct sim_words *w, const char *word)
{
	if (strcasecmp(sim_words_peek(w), word) != 0)
		return false;
	w->next++;
	return true;
}

int
sim_words_number(struct sim_words *w, const char *what, uint64_t low, uint64_t *ret)
{
	const char *text = sim_words_peek(w);
	char *end;

	errno = 0;
	*ret = strtoull(text, &end, 10);
	if (!isdigit((unsigned char)text[0]) || *end || errno || *ret < low)
		return sim_words_refuse(w, "%s wants a number from %" PRIu64 " here: \"%s\"", what, low,
					text);
	w->next++;
	return 0;
}

bool
sim_is_time(const char *text, unsigned *ret_ms)
{
	char *end = NULL;
	unsigned long n = isdigit((unsigned char)text[0]) ? strtoul(text, &end, 10) : ULONG_MAX;

	if (n > 3600000 || (strcmp(end, "ms") != 0 && (strcmp(end, "s") != 0 || n > 3600)))
		return false;
	*ret_ms = (unsigned)(strcmp(end, "s") == 0 ? n * 1000 : n);
	return true;
}

/* The length of a text without " once" or " times N" at its end. */
static size_t
without_count(const char *text)
{
	size_t len = strlen(text), digits = len;

	if (len > 5 && !strcmp(text + len - 5, " once"))
		return len - 5;
	while (digits > 0 && isdigit((unsigned char)text[digits - 1]))
		digits--;
	if (digits < len && digits > 7 && !strncmp(text + digits - 7, " times ", 7))
		return digits - 7;
	return len;
}

/* Cut the text of "say" out of a line. "once" or "times N" stays in the line. */
static char *
take_said(char *line)
{
	char *say = strstr(line, "say "), *text;
	struct api_buf said = {0};
	size_t len;

	while (say && say != line && say[-1] != ' ' && say[-1] != '\t')
		say = strstr(say + 1, "say ");
	if (!say)
		return NULL;
	text = say + 4 + strspn(say + 4, " \t");
	len = without_count(text);
	if (len == 0)
		return NULL;
	api_buf_put(&said, text, len);
	api_buf_puts(&said, "\n");
	memmove(say + 4, text + len, strlen(text + len) + 1);
	return api_buf_take(&said);
}

int
sim_words_split(struct sim_words *w, char *line)
{
	unsigned count = 0;
	char *word;

	w->said = take_said(line);
	while ((word = strsep(&line, " \t\r"))) {
		if (!word[0])
			continue;
		if (count == SIM_WORDS_MAX)
			return sim_words_refuse(w, "more than %d words", SIM_WORDS_MAX);
		w->at[count++] = word;
	}
	return 0;
}

int
sim_words_end(struct sim_words *w)
{
	return sim_words_peek(w)[0]
		       ? sim_words_refuse(w, "nothing should follow here: \"%s\"", sim_words_peek(w))
		       : 0;
}
