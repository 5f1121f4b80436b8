/* SPDX-License-Identifier: Apache-2.0
 * Two handlers of one name. The host refuses it: which one would a task mean? */
#include "table.h"

BG_NOTE("abi=1.0;id=test.duplicate-handlers;runtime=c");

static const bg_task again = GOOD_TASK;
static const bg_task *const tasks[] = { &good_task, &again };
static const bg_plugin plugin = {
  sizeof plugin, 1, 0, BG_LIT("test.duplicate-handlers"), { 0, 0 }, { 0, 0 }, 0, 2, tasks, 0, 0, 0,
};
ENTRY(&plugin)
