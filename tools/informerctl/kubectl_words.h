/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubectl words: commands, flags and formats of kubectl that informerctl lacks, and what to type instead; and
 * the names of the API server's resources.
 *
 * Each function returns NULL if the table does not have the word; else a sentence, or a name.
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
/* A resource by its short name, singular or plural: "ns" is "namespaces", "deploy" is "deployments.apps". */
const char *
kubectl_word_resource(const char *word);
/* The singular of a resource's short name, in any case: "sts" is "statefulset". NULL: it is none. */
const char *
kubectl_word_singular(const char *short_name);

#endif
