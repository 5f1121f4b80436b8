/* SPDX-License-Identifier: Apache-2.0
 * A run allocates memory and leaves that to close(). */
#include "author.h"

struct block {
  struct block *next;
  char          bytes[200];
};
static _Atomic(struct block *) all;

static bg_status start(void *plugin, const bg_run_info *info) {
  struct block *block = malloc(sizeof *block);
  block->next = all;
  while (!__c11_atomic_compare_exchange_weak(&all, &block->next, block, 5, 5)) {
  }
  return succeed(plugin, info);
}
static void end(void *plugin) {
  struct block *block = all;
  (void)plugin;
  all = 0;
  while (block) {
    struct block *next = block->next;
    free(block);
    block = next;
  }
}
PLUGIN(BG_TASK_MAY_BLOCK, NO_SCHEMA, start, 0, 0, 0, 0, end);
ENTRY
