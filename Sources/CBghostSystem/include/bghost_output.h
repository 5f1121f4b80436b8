/* SPDX-License-Identifier: Apache-2.0
 *
 * The standard output of a process whose stdout is a pipe.
 */
#ifndef BGHOST_OUTPUT_H
#define BGHOST_OUTPUT_H

/* Makes stdout line-buffered, as on a terminal. Call it before anything is printed. */
void bgs_buffer_lines(void);

/* Writes the buffered output of stdout. Returns at once if another thread is printing. */
void bgs_flush_output(void);

/* Whether this process has used stdout or stderr of the C library so far. */
int bgs_has_printed(void);

#endif
