/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing YAML in block style, line by line as sigs.k8s.io/yaml does: two spaces a level, sequences at their
 * key's level, long texts folded at spaces beyond column 80.
 *
 * Source: libyaml's emitter, of which goyaml.v2 is a translation: the state (whitespace, indention, column)
 * has its names.
 */
#ifndef TOOLS_INFORMERCTL_EMITTER_H
#define TOOLS_INFORMERCTL_EMITTER_H

#include <stdbool.h>
#include <stddef.h>

#include "tools/printer/field.h"
#include "tools/printer/text.h"

/*
 * indent      of the lines of the collection that is written; -1 outside of any
 * column      where the next character will stand
 * whitespace  the last character was a space, or the line is new
 * indention   the line holds nothing but indentation and indicators ("- ")
 */
struct emitter {
	struct text *out;
	long indent;
	long column;
	bool whitespace;
	bool indention;
};

#define EMITTER_INIT(text) {.out = (text), .indent = -1, .whitespace = true, .indention = true}
#define EMITTER_STEP 2

/* A new line if this one has something in it, then its indentation. */
void
emitter_indent(struct emitter *e);
/*
 * "-", ":", "[]": need_whitespace puts a space before it; keeps_indention: the line still counts as new
 * behind it.
 */
void
emitter_indicator(struct emitter *e, const char *indicator, bool need_whitespace, bool keeps_indention);
/* A text that is written as it is: a number, true. */
void
emitter_word(struct emitter *e, struct field_text word);
/* A string, in whatever style it needs. key: as a key on one line. */
void
emitter_string(struct emitter *e, struct field_text text, bool key);

#endif
