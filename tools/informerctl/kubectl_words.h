/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubectl words: what users of kubectl type that informerctl has not, and what to type instead.
 *
 * Each gives a sentence, or NULL where there is nothing special to say.
 */
#ifndef TOOLS_INFORMERCTL_KUBECTL_WORDS_H
#define TOOLS_INFORMERCTL_KUBECTL_WORDS_H

/* A command: "describe", "logs". */
const char *
kubectl_word_command(const char *word);
/* A flag of a command, without dashes: "sort-by", "f". */
const char *
kubectl_word_flag(const char *name);
/* An output format, with what follows its '=': "jsonpath={...}". */
const char *
kubectl_word_output(const char *format);

#endif
