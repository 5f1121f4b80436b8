/* SPDX-License-Identifier: Apache-2.0
 * It has no handler at all. The host refuses it. */
#include "table.h"

BG_NOTE("abi=1.0;id=test.zero-tasks;runtime=c");

static const bg_plugin plugin = {
  sizeof plugin, 1, 0, BG_LIT("test.zero-tasks"), BG_LIT("1.0.0"), { 0, 0 }, 0, 0, 0, 0, 0, 0,
};
ENTRY(&plugin)
