/* SPDX-License-Identifier: Apache-2.0
 * The list of handlers (or, with TASK, the handler) is at an address where nothing is mapped. The
 * host refuses it and does not fault. */
#include "table.h"

BG_NOTE("abi=1.0;id=test.wild-tasks;runtime=c");

#ifdef TASK
static const bg_task *const tasks[] = { (const bg_task *)0x1000 };
#else
#define tasks ((const bg_task *const *)0x1000)
#endif

static const bg_plugin plugin = {
  sizeof plugin, 1, 0, BG_LIT("test.wild-tasks"), { 0, 0 }, { 0, 0 }, 0, 1, tasks, 0, 0, 0,
};
ENTRY(&plugin)
