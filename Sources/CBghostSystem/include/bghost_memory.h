/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads memory of this process that may not be mapped. */
#ifndef BGHOST_MEMORY_H
#define BGHOST_MEMORY_H

#include <stddef.h>

/* Opens the pipe that bgs_probe_copy uses: fds[0] to read, fds[1] to write. Returns 0 or a negative
 * errno. */
int bgs_probe_open(int fds[2]);

/* Copies `count` bytes from an address that need not be mapped. Returns 0, -EFAULT if a byte cannot
 * be read, or another negative errno; `to` is undefined after an error. The pipe must be empty, and
 * is empty again afterwards. Only one thread at a time may use a pipe. */
int bgs_probe_copy(const int fds[2], void *to, const void *from, size_t count);

#endif
