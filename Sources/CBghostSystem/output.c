/* SPDX-License-Identifier: Apache-2.0 */
#include "bghost_output.h"

#include <stdio.h>
#include <stdio_ext.h>

void bgs_buffer_lines(void) { setvbuf(stdout, NULL, _IOLBF, 0); }

void bgs_flush_output(void) {
  /* Do not wait for the lock: a handler that holds it must not block the host. */
  if (ftrylockfile(stdout)) return;
  if (__fpending(stdout) > 0) fflush_unlocked(stdout);
  funlockfile(stdout);
}

/* The C library allocates a stream's buffer at its first use. */
int bgs_has_printed(void) { return __fbufsize(stdout) > 0 || __fbufsize(stderr) > 0; }
