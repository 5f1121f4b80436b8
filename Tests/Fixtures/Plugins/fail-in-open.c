/* SPDX-License-Identifier: Apache-2.0
 * Its open() fails with a status of its own. The host says so, and does not call close(). */
#include "table.h"

BG_NOTE("abi=1.0;id=test.fail-in-open;runtime=c");

static const bg_host *host_of;

static bg_status open_(const bg_host *host, bg_str config, void **plugin) {
  (void)config;
  (void)plugin;
  host_of = host;
  return -1234;
}

static void close_(void *plugin) {
  (void)plugin;
  if (host_of) host_of->log(host_of, 0, 5, (bg_str)BG_LIT("close() came after a failed open()"));
}

static const bg_plugin plugin = {
  sizeof plugin, 1, 0, BG_LIT("test.fail-in-open"), { 0, 0 }, { 0, 0 }, 0, 1, good_tasks, open_,
  0, close_,
};
ENTRY(&plugin)
