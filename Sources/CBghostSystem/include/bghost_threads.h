/* SPDX-License-Identifier: Apache-2.0
 *
 * The processors and priorities of threads. Errors are negative errno values. */
#ifndef BGHOST_THREADS_H
#define BGHOST_THREADS_H

#include <stdint.h>
#include <sys/types.h>

/* A set of processors, one bit each. */
struct bgs_processors {
  uint64_t words[16];
};

/* The processor of the calling thread, which may have changed when the call returns. */
int bgs_processor(void);
/* The processors on which a thread may run; 0 is the calling thread. */
int bgs_processors_of(pid_t thread, struct bgs_processors *out);
int bgs_place_thread(pid_t thread, const struct bgs_processors *where);
/* Moves those threads of a process that may run on exactly `from` to `to`; threads with any other
 * set were placed deliberately and stay. Returns the number of threads, or a negative errno value.
 * If there are more than `max`, it returns max + 1 and moves none. */
int bgs_move_threads(pid_t process, const struct bgs_processors *from,
                     const struct bgs_processors *to, int max);
/* Gives the threads of a process, or the first 256, real-time priority. Stops at the first
 * error. */
int bgs_realtime_threads(pid_t process);

#endif
