/* SPDX-License-Identifier: Apache-2.0
 * drain() waits for what does not come. */
#include "author.h"

static void wait_in_vain(void *plugin) {
  (void)plugin;
  poll(0, 0, 4000);
}
PLUGIN(BG_TASK_MAY_BLOCK, NO_SCHEMA, succeed, 0, 0, 0, wait_in_vain, 0);
ENTRY
