/* SPDX-License-Identifier: Apache-2.0
 * Refuses hosts that are newer than itself. */
#include "author.h"

PLUGIN(BG_TASK_MAY_BLOCK, NO_SCHEMA, succeed, 0, 0, 0, 0, 0);

const bg_plugin *bghost_plugin_v1(const bg_host *given) {
  host = given;
  return given->abi_minor == 0 ? &table : 0;
}
