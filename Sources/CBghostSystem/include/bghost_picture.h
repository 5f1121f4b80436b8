/* SPDX-License-Identifier: Apache-2.0
 *
 * State of this process that plugin code may have changed, and reports of faults. */
#ifndef BGHOST_PICTURE_H
#define BGHOST_PICTURE_H

#include <stddef.h>
#include <stdint.h>

/* Gets the action for a signal: the handler's address, or SIG_DFL or SIG_IGN as a number. Returns
 * 0, or a negative errno for an invalid signal number. */
int bgs_signal_handler(int number, uint64_t *handler);
/* State of the calling thread: the signals that it blocks (bit N - 1 for signal N), the address of
 * its signal stack, and its floating-point rounding mode. */
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
/* The number of bytes allocated by malloc and not yet freed. */
uint64_t bgs_allocated(void);

/* From now on a fault writes a line to `fd` before it ends the process: "F", the signal, and the
 * region's name if the address lies in a region. */
void bgs_fault_watch(int fd);
/* Names a region; there are at most 8. `name` must stay valid for ever. */
void bgs_fault_region(const void *start, size_t count, const char *name);

#endif
