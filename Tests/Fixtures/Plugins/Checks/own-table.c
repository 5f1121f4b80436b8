/* SPDX-License-Identifier: Apache-2.0
 * A run changes the table of its handler. */
#include "author.h"

static bg_status start(void *plugin, const bg_run_info *info);

static bg_task              task = { sizeof task, BG_TASK_MAY_BLOCK, BG_LIT("work"), { 0, 0 }, start, 0, 0 };
static const bg_task *const tasks[] = { &task };
static const bg_plugin table = { sizeof table, BG_ABI_MAJOR, 0, BG_LIT("test.author"),
                                 BG_LIT("1.0.0"), { 0, 0 }, 0, 1, tasks, 0, 0, 0 };

static bg_status start(void *plugin, const bg_run_info *info) {
  task.flags |= BG_TASK_SERIAL;
  return succeed(plugin, info);
}
ENTRY
