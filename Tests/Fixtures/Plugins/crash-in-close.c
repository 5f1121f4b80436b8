/* SPDX-License-Identifier: Apache-2.0
 * It crashes in close(), when its worker has nothing left to do anyway. */
#include <signal.h>

#include "table.h"

BG_NOTE("abi=1.0;id=test.crash-in-close;runtime=c");

static void close_(void *plugin) {
  (void)plugin;
  raise(SIGSEGV);
}

static const bg_plugin plugin = {
  sizeof plugin, 1, 0, BG_LIT("test.crash-in-close"), { 0, 0 }, { 0, 0 }, 0, 1, good_tasks,
  0, 0, close_,
};
ENTRY(&plugin)
