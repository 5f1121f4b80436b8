/* SPDX-License-Identifier: Apache-2.0
 * A handler whose table says it is 0 bytes long (or SIZE). The host refuses it. */
#include "table.h"

BG_NOTE("abi=1.0;id=test.task-size-zero;runtime=c");

#ifndef SIZE
#define SIZE 0
#endif

static const bg_task task = { SIZE, 0, BG_LIT("succeed"), { 0, 0 }, succeed, 0, 0 };
static const bg_task *const tasks[] = { &task };
static const bg_plugin plugin = {
  sizeof plugin, 1, 0, BG_LIT("test.task-size-zero"), { 0, 0 }, { 0, 0 }, 0, 1, tasks, 0, 0, 0,
};
ENTRY(&plugin)
