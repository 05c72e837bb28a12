/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whois question: what a word on the command line is, by its form.
 *
 *	4711					a process
 *	10.0.0.1, fd00::1			an IP address
 *	/kubepods/burstable/pod6f2c…/9a0b…	a cgroup: it has a '/'
 *	containerd://9a0b…, 9a0b…		a container's ID, or the first 12 or more digits of it
 *	6f2c0001-1111-4222-8333-444455556666	a UID; also the 32 digits of a static Pod
 */
#ifndef TOOLS_INFORMERCTL_WHOIS_QUESTION_H
#define TOOLS_INFORMERCTL_WHOIS_QUESTION_H

enum whois_question { WHOIS_UNCLEAR, WHOIS_PID, WHOIS_IP, WHOIS_CGROUP, WHOIS_CONTAINER, WHOIS_UID };

enum whois_question whois_question_of(const char *word);

#endif
