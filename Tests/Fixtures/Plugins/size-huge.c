/* SPDX-License-Identifier: Apache-2.0
 * Its table says it is 4 GiB long (or SIZE), far more than is mapped. The host refuses it without
 * reading on. */
#include "table.h"

BG_NOTE("abi=1.0;id=test.size-huge;runtime=c");

#ifndef SIZE
#define SIZE 0xffffffffu
#endif

static const bg_plugin plugin = {
  SIZE, 1, 0, BG_LIT("test.size-huge"), BG_LIT("1.0.0"), { 0, 0 }, 0, 1, good_tasks, 0, 0, 0,
};
ENTRY(&plugin)
