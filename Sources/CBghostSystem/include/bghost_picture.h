/* SPDX-License-Identifier: Apache-2.0
 *
 * What code in this process may have changed of it, and where it faulted. */
#ifndef BGHOST_PICTURE_H
#define BGHOST_PICTURE_H

#include <stddef.h>
#include <stdint.h>

/* What is done on a signal: the handler's address, or SIG_DFL or SIG_IGN as a number. Returns 0, or a
 * negative errno for a number that is none. */
int bgs_signal_handler(int number, uint64_t *handler);
/* Of the calling thread: the signals that it blocks, bit N - 1 for number N; where its handlers' stack
 * is; how floating point is rounded. */
uint64_t bgs_signal_mask(void);
uint64_t bgs_signal_stack(void);
int bgs_rounding(void);
/* Whether alarm() or setitimer() is armed. */
int bgs_timer_armed(void);
/* The soft limit of a resource, and the number of resources. */
uint64_t bgs_limit_of(int resource);
int bgs_limit_count(void);
/* Whether other processes may trace this one, and its priority. */
int bgs_dumpable(void);
int bgs_priority(void);
/* "SEGV" for SIGSEGV; 0 for a number without a name. */
const char *bgs_signal_name(int number);
/* Bytes that malloc has given out and not got back. */
uint64_t bgs_allocated(void);

/* From now on a fault writes a line to `fd` before it ends the process: "F" and the signal, and, if the
 * address lies in a region, the region's name. */
void bgs_fault_watch(int fd);
/* Names a region, at most 8 of them; `name` lives for ever. */
void bgs_fault_region(const void *start, size_t count, const char *name);

#endif
