/* SPDX-License-Identifier: Apache-2.0
 * Its table says it is 0 bytes long (or SIZE). The host refuses it. */
#include "table.h"

BG_NOTE("abi=1.0;id=test.size-zero;runtime=c");

#ifndef SIZE
#define SIZE 0
#endif

static const bg_plugin plugin = {
  SIZE, 1, 0, BG_LIT("test.size-zero"), BG_LIT("1.0.0"), { 0, 0 }, 0, 1, good_tasks, 0, 0, 0,
};
ENTRY(&plugin)
