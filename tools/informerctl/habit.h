/*
 * Habits: what users of kubectl type that informerctl has not, and what to type instead.
 *
 * Each gives a sentence, or NULL where there is nothing special to say.
 */
#ifndef INFORMERCTL_HABIT_H
#define INFORMERCTL_HABIT_H

/* A command: "describe", "logs". */
const char *
habit_command(const char *word);
/* A flag of a command, without dashes: "sort-by", "f". */
const char *
habit_flag(const char *name);
/* An output format, with what follows its '=': "jsonpath={...}". */
const char *
habit_output(const char *format);
/* A condition of wait: "condition=Ready". */
const char *
habit_condition(const char *condition);

#endif
