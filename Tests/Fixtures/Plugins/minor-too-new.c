/* SPDX-License-Identifier: Apache-2.0
 * It cannot live with a host older than minor 9. The host refuses it and names both. */
#include "table.h"

BG_NOTE("abi=1.0;id=test.minor-too-new;runtime=c");

static const bg_plugin plugin = {
  sizeof plugin, 1, 9, BG_LIT("test.minor-too-new"), BG_LIT("1.0.0"), { 0, 0 }, 0, 1, good_tasks,
  0, 0, 0,
};
ENTRY(&plugin)
