/* SPDX-License-Identifier: Apache-2.0
 * A plugin with a library of its own: its handler succeeds if that is the right one. */
#include "table.h"

BG_NOTE("abi=1.0;id=test.needs-helper;runtime=c");

int helper_value(void);

static bg_status ask(void *plugin, const bg_run_info *info) {
  (void)plugin;
  (void)info;
  return helper_value() == 42 ? BG_OK : BG_E_FAILED;
}

static const bg_task        task = { sizeof(bg_task), 0, BG_LIT("succeed"), { 0, 0 }, ask, 0, 0 };
static const bg_task *const tasks[] = { &task };
static const bg_plugin      plugin = {
  sizeof(bg_plugin),   BG_ABI_MAJOR, 0, BG_LIT("test.needs-helper"), BG_LIT("1.0.0"),
  BG_LIT("Fixtures"), 0,            1, tasks,                       0,
  0,                  0
};
ENTRY(&plugin)
