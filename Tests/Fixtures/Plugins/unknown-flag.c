/* SPDX-License-Identifier: Apache-2.0
 * It sets the flag of bit 15, which no 1.0 host understands (or FLAGS). The host refuses it; an
 * unknown flag of the upper half would be ignored. */
#include "table.h"

BG_NOTE("abi=1.0;id=test.unknown-flag;runtime=c");

#ifndef FLAGS
#define FLAGS 0x8000u
#endif

static const bg_plugin plugin = {
  sizeof plugin, 1, 0, BG_LIT("test.unknown-flag"), BG_LIT("1.0.0"), { 0, 0 }, FLAGS, 1,
  good_tasks, 0, 0, 0,
};
ENTRY(&plugin)
