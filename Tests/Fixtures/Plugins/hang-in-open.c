/* SPDX-License-Identifier: Apache-2.0
 * Its open() never returns. The host kills its worker once the time to start is over. */
#include <unistd.h>

#include "table.h"

BG_NOTE("abi=1.0;id=test.hang-in-open;runtime=c");

static bg_status open_(const bg_host *host, bg_str config, void **plugin) {
  (void)host;
  (void)config;
  (void)plugin;
  for (;;) pause();
  return BG_OK;
}

static void close_(void *plugin) {
  (void)plugin;
}

static const bg_plugin plugin = {
  sizeof plugin, 1, 0, BG_LIT("test.hang-in-open"), { 0, 0 }, { 0, 0 }, 0, 1, good_tasks, open_,
  0, close_,
};
ENTRY(&plugin)
