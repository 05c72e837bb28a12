/* SPDX-License-Identifier: Apache-2.0 */
/* The bearer token, kept fresh; see token.h. */
#include "writer/kube/token.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "writer/base/file.h"
#include "writer/base/message.h"

#define TOKEN_MAX_BYTES (1u << 20)

int
token_init(struct token *token, const struct kube_client_config *config)
{
	struct token t = {.stale = true};

	if (config->token_file)
		t.file = strdup(config->token_file);
	if (config->token)
		t.value = strdup(config->token);
	if ((config->token_file && !t.file) || (config->token && !t.value)) {
		token_done(&t);
		return -ENOMEM;
	}
	*token = t;
	return 0;
}

void
token_done(struct token *token)
{
	file_wipe_text(token->value);
	free(token->file);
	memset(token, 0, sizeof(*token));
}

static int
token_read(struct token *token, char **ret_error)
{
	char *text, *start, *value;
	size_t len, n;
	int r;

	r = file_read(token->file, TOKEN_MAX_BYTES, &text, &len, ret_error);
	if (r < 0)
		return r;
	start = text + strspn(text, " \t\r\n");
	n = strlen(start);
	while (n > 0 && strchr(" \t\r\n", start[n - 1]))
		n--;
	value = strndup(start, n);
	file_wipe(text, len);
	if (!value)
		return -ENOMEM;
	if (n == 0 || !kube_is_printable(value)) {
		file_wipe_text(value);
		return message_set(ret_error, -EINVAL,
				   n == 0 ? "%s: empty, a token was expected"
					  : "%s: not a token: a character that cannot stand in one",
				   token->file);
	}
	if (!token->value || strcmp(token->value, value) != 0)
		token->changes++;
	file_wipe_text(token->value);
	token->value = value;
	return 0;
}

int
token_get(struct token *token, uint64_t now_ms, const char **ret_value, char **ret_error)
{
	int r;

	if (token->file && (token->stale || now_ms - token->read_at_ms >= TOKEN_REREAD_S * 1000ll)) {
		r = token_read(token, token->value ? NULL : ret_error);
		if (r < 0 && !token->value)
			return r;
		token->read_at_ms = now_ms;
		token->stale = false;
	}
	*ret_value = token->value;
	return 0;
}

void
token_reject(struct token *token)
{
	token->stale = true;
}
