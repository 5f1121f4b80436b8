/* SPDX-License-Identifier: Apache-2.0
 *
 * The text of a report. Signal handlers call these functions, so they neither allocate nor lock. */
#ifndef BGHOST_CRASH_REPORT_H
#define BGHOST_CRASH_REPORT_H

#include <stdint.h>
#include <sys/types.h>

void bgs_report_to(int socket, unsigned char kind, unsigned char version);
void bgs_report_begin(unsigned short flags);
void bgs_report_signal(int number);
void bgs_report_place(uintptr_t at);
void bgs_report_address(uintptr_t address);
void bgs_report_thread(pid_t thread);
void bgs_report_frames(const uintptr_t *frames, int count);
void bgs_report_send(void);

#endif
