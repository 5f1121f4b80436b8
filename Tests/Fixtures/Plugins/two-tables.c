/* SPDX-License-Identifier: Apache-2.0
 * Its entry function returns another table each time. The host calls it once only, or refuses. */
#include "table.h"

BG_NOTE("abi=1.0;id=test.two-tables;runtime=c");

static const bg_plugin plugins[2] = { GOOD_PLUGIN("test.two-tables"),
  GOOD_PLUGIN("test.two-tables") };

const bg_plugin *bghost_plugin_v1(const bg_host *host) {
  static unsigned calls;
  (void)host;
  return &plugins[calls++ & 1];
}
