/* SPDX-License-Identifier: Apache-2.0
 * The note says abi=1.0, the table says major 2. The host refuses the table. */
#include "table.h"

BG_NOTE("abi=1.0;id=test.abi-major-2;runtime=c");

static const bg_plugin plugin = {
  sizeof plugin, 2, 0, BG_LIT("test.abi-major-2"), BG_LIT("1.0.0"), { 0, 0 }, 0, 1, good_tasks,
  0, 0, 0,
};
ENTRY(&plugin)
