/* SPDX-License-Identifier: Apache-2.0
 *
 * Reports of a process about its own crash, and about its threads when it does not stop.
 *
 * A report is one frame of the worker's protocol whose payload is lines of printable ASCII:
 *   S signal   P place of the instruction   A address of the memory   T thread   F frame of its stack
 * A place is library+offset, followed by the function where the library's symbols name one. */
#ifndef BGHOST_CRASH_H
#define BGHOST_CRASH_H

/* Installs handlers for the crash signals. A handler sends a report on the socket and then lets the
 * signal have its default effect. Call it before plugin code is loaded, which may install its own
 * handlers. */
void bgs_report_crashes(int socket, unsigned char kind, unsigned char version);

/* Gives the calling thread a stack for signal handlers if crashes are reported. It is never
 * freed. */
void bgs_use_signal_stack(void);

/* Records the address ranges of the loaded libraries. fd is the file of the library that contains
 * `inside`, or -1; a copy stays open, so that the symbols can be read at a crash. name is the name
 * of that library in reports. */
void bgs_note_libraries(int fd, const void *inside, const char *name);

/* Sends a report of the stacks of all other threads, within about `milliseconds`. Only one thread
 * at a time may call it. */
void bgs_report_stacks(int milliseconds);

#endif
