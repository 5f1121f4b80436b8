/* SPDX-License-Identifier: Apache-2.0
 * Its list of handlers holds a null pointer. The host refuses it. */
#include "table.h"

BG_NOTE("abi=1.0;id=test.null-task;runtime=c");

static const bg_task *const no_tasks[] = { 0 };

static const bg_plugin plugin = {
  sizeof plugin, 1, 0, BG_LIT("test.null-task"), BG_LIT("1.0.0"), { 0, 0 }, 0, 1, no_tasks, 0, 0, 0,
};
ENTRY(&plugin)
