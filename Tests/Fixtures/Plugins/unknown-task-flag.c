/* SPDX-License-Identifier: Apache-2.0
 * A handler with the flag of bit 14, which no 1.0 host understands (or FLAGS). The host refuses
 * it; an unknown flag of the upper half would be ignored. */
#include "table.h"

BG_NOTE("abi=1.0;id=test.unknown-task-flag;runtime=c");

#ifndef FLAGS
#define FLAGS 0x4000u
#endif

static const bg_task task = { sizeof task, FLAGS, BG_LIT("succeed"), { 0, 0 }, succeed, 0, 0 };
static const bg_task *const tasks[] = { &task };
static const bg_plugin plugin = {
  sizeof plugin, 1, 0, BG_LIT("test.unknown-task-flag"), { 0, 0 }, { 0, 0 }, 0, 1, tasks, 0, 0, 0,
};
ENTRY(&plugin)
