/* SPDX-License-Identifier: Apache-2.0
 * The entry makes a new table each time. */
#include "author.h"

PLUGIN(BG_TASK_MAY_BLOCK, NO_SCHEMA, succeed, 0, 0, 0, 0, 0);

const bg_plugin *bghost_plugin_v1(const bg_host *given) {
  host = given;
  bg_plugin *copy = malloc(sizeof table);
  memcpy(copy, &table, sizeof table);
  return copy;
}
