/* SPDX-License-Identifier: Apache-2.0
 * A handler whose start() is an address of data. The host refuses it: a call would fault. */
#include "table.h"

BG_NOTE("abi=1.0;id=test.start-is-data;runtime=c");

static long place;

static const bg_task task = { sizeof task, 0, BG_LIT("succeed"), { 0, 0 }, (bg_status (*)(void *,
  const bg_run_info *))&place, 0, 0 };
static const bg_task *const tasks[] = { &task };
static const bg_plugin plugin = {
  sizeof plugin, 1, 0, BG_LIT("test.start-is-data"), { 0, 0 }, { 0, 0 }, 0, 1, tasks, 0, 0, 0,
};
ENTRY(&plugin)
