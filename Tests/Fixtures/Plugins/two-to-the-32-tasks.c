/* SPDX-License-Identifier: Apache-2.0
 * It claims 2^32 - 1 handlers (or N), with room for one. The host refuses the number without
 * reading on. */
#include "table.h"

BG_NOTE("abi=1.0;id=test.two-to-the-32-tasks;runtime=c");

#ifndef N
#define N 0xffffffffu
#endif

static const bg_plugin plugin = {
  sizeof plugin, 1, 0, BG_LIT("test.two-to-the-32-tasks"), BG_LIT("1.0.0"), { 0, 0 }, 0, N,
  good_tasks, 0, 0, 0,
};
ENTRY(&plugin)
