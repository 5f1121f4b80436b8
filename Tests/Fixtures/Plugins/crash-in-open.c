/* SPDX-License-Identifier: Apache-2.0
 * It crashes in open(). Only its worker dies; the host names it and the signal. */
#include <signal.h>

#include "table.h"

BG_NOTE("abi=1.0;id=test.crash-in-open;runtime=c");

static bg_status open_(const bg_host *host, bg_str config, void **plugin) {
  (void)host;
  (void)config;
  (void)plugin;
  raise(SIGSEGV);
  return BG_OK;
}

static void close_(void *plugin) {
  (void)plugin;
}

static const bg_plugin plugin = {
  sizeof plugin, 1, 0, BG_LIT("test.crash-in-open"), { 0, 0 }, { 0, 0 }, 0, 1, good_tasks, open_,
  0, close_,
};
ENTRY(&plugin)
