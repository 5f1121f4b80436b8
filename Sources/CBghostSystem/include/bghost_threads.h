/* SPDX-License-Identifier: Apache-2.0
 *
 * Where threads run and how urgently. Errors are negative errno values. */
#ifndef BGHOST_THREADS_H
#define BGHOST_THREADS_H

#include <stdint.h>
#include <sys/types.h>

/* Processors, one bit each. */
struct bgs_processors {
  uint64_t words[16];
};

/* The processor of the calling thread; it may be another one by the time of the return. */
int bgs_processor(void);
/* Where a thread may run; 0 is the calling one. */
int bgs_processors_of(pid_t thread, struct bgs_processors *out);
int bgs_place_thread(pid_t thread, const struct bgs_processors *where);
/* Moves those threads of a process that may run on exactly `from` to `to`; others have been placed by
 * somebody else. Returns how many threads it has, or a negative errno value; with more than `max`, for
 * which it answers max + 1, nothing is moved. */
int bgs_move_threads(pid_t process, const struct bgs_processors *from,
                     const struct bgs_processors *to, int max);
/* Has the threads of a process, or the first 256, go before others. Stops at the first refusal. */
int bgs_realtime_threads(pid_t process);

#endif
