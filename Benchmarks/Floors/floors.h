/* SPDX-License-Identifier: Apache-2.0
 * What the machine can do at best: the same steps as bghost's, in plain C and nothing besides.
 * Each floor prints lines of "metric value"; times are microseconds unless the metric says else. */
#ifndef FLOORS_H
#define FLOORS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

uint64_t now_ns(void);
void     die(const char *what);
/* Has the calling process, and what it starts, run on one processor; -1 leaves it free. */
void pin(int cpu);
/* Prints p50, p99 and the lowest of these nanoseconds, which it sorts, as microseconds. */
void report(uint64_t *ns, size_t count);
void     reap(pid_t pid);
/* Sleeps until a deadline, 10 ms from now, and returns it. */
uint64_t pass_deadline(int timer);
/* Children that spin until they are killed, one for each processor. They end with this process. */
int  spinners_start(pid_t *pids, int max);
void spinners_end(const pid_t *pids, int count);

/* The subcommands. */
int roundtrip(int argc, char **argv);
int throughput(int argc, char **argv);
int kill_one(int argc, char **argv);
int kill_group(int argc, char **argv);
int spawn_empty(int argc, char **argv);
int stamp(int argc, char **argv);
int burn(int argc, char **argv);
int cancel(int argc, char **argv);
int zygote_start(int argc, char **argv);
int zygote_memory(int argc, char **argv);
int serve(int argc, char **argv);

#endif
