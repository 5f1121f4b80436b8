/* SPDX-License-Identifier: Apache-2.0
 * It crashes in its entry function. Only its worker dies; the host names it and the signal. */
#include <signal.h>

#include "table.h"

BG_NOTE("abi=1.0;id=test.crash-in-entry;runtime=c");

const bg_plugin *bghost_plugin_v1(const bg_host *host) {
  (void)host;
  raise(SIGSEGV);
  return 0;
}
