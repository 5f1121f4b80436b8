/* SPDX-License-Identifier: Apache-2.0
 * It was built against a later minor: its tables are longer than this host's and hold fields that
 * this host has never heard of. The host loads it and ignores them. */
#include "table.h"

BG_NOTE("abi=1.0;id=test.appended-fields;runtime=c");

typedef struct later_task {
  bg_task  task;
  uint64_t unheard_of[4];
} later_task;

typedef struct later_plugin {
  bg_plugin plugin;
  uint64_t  unheard_of[4];
} later_plugin;

static const later_task later = {
  { sizeof later, 0x10000, BG_LIT("succeed"), { 0, 0 }, succeed, 0, 0 }, { 1, 2, 3, 4 },
};
static const bg_task *const tasks[] = { &later.task };
static const later_plugin plugin = {
  { sizeof plugin, 1, 0, BG_LIT("test.appended-fields"), { 0, 0 }, { 0, 0 }, 0x80000000, 1, tasks,
    0, 0, 0 },
  { 1, 2, 3, 4 },
};
ENTRY(&plugin.plugin)
