/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading memory of this process that may not be there. */
#ifndef BGHOST_MEMORY_H
#define BGHOST_MEMORY_H

#include <stddef.h>

/* Opens the pipe that bgs_probe_copy works through: fds[0] to read, fds[1] to write. Returns 0 or a
 * negative errno. */
int bgs_probe_open(int fds[2]);

/* Copies `count` bytes from an address that need not be mapped. Returns 0, or -EFAULT if any of them
 * cannot be read, or another negative errno; `to` is then undefined. The pipe must be empty, and is
 * empty again afterwards. For one thread at a time. */
int bgs_probe_copy(const int fds[2], void *to, const void *from, size_t count);

#endif
