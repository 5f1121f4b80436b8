/* SPDX-License-Identifier: Apache-2.0
 * Its entry function never returns. The host kills its worker once the time to start is over. */
#include <unistd.h>

#include "table.h"

BG_NOTE("abi=1.0;id=test.hang-in-entry;runtime=c");

const bg_plugin *bghost_plugin_v1(const bg_host *host) {
  (void)host;
  for (;;) pause();
}
