/* SPDX-License-Identifier: Apache-2.0
 * It calls a function that no library defines. The loader refuses it, because the host binds all
 * symbols at once; the message names the function. */
#include "table.h"

BG_NOTE("abi=1.0;id=test.undefined-symbol;runtime=c");

void no_library_defines_this(void);

static bg_status start(void *plugin, const bg_run_info *info) {
  (void)plugin;
  (void)info;
  no_library_defines_this();
  return BG_OK;
}

static const bg_task task = { sizeof task, 0, BG_LIT("call"), { 0, 0 }, start, 0, 0 };
static const bg_task *const tasks[] = { &task };
static const bg_plugin plugin = {
  sizeof plugin, 1, 0, BG_LIT("test.undefined-symbol"), { 0, 0 }, { 0, 0 }, 0, 1, tasks, 0, 0, 0,
};
ENTRY(&plugin)
