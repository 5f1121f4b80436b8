/* SPDX-License-Identifier: Apache-2.0
 * A handler without start(). The host refuses it. */
#include "table.h"

BG_NOTE("abi=1.0;id=test.null-start;runtime=c");

static const bg_task task = { sizeof task, 0, BG_LIT("succeed"), { 0, 0 }, 0, 0, 0 };
static const bg_task *const tasks[] = { &task };
static const bg_plugin plugin = {
  sizeof plugin, 1, 0, BG_LIT("test.null-start"), { 0, 0 }, { 0, 0 }, 0, 1, tasks, 0, 0, 0,
};
ENTRY(&plugin)
