/* SPDX-License-Identifier: Apache-2.0
 * It claims one handler, but there is no list. The host refuses it. */
#include "table.h"

BG_NOTE("abi=1.0;id=test.null-tasks;runtime=c");

static const bg_plugin plugin = {
  sizeof plugin, 1, 0, BG_LIT("test.null-tasks"), BG_LIT("1.0.0"), { 0, 0 }, 0, 1, 0, 0, 0, 0,
};
ENTRY(&plugin)
