/* SPDX-License-Identifier: Apache-2.0
 * A plugin of the next major only. The host refuses it and names what it offers. */
#include "bghost.h"

BG_NOTE("abi=2.0;id=test.entry-v2-only;runtime=c");

BG_EXPORT const void *bghost_plugin_v2(const bg_host *host);
const void *bghost_plugin_v2(const bg_host *host) {
  (void)host;
  return 0;
}
