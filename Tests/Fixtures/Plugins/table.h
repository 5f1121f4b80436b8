/* SPDX-License-Identifier: Apache-2.0
 * The well-behaved rest of a fixture that is wrong in one point only. Define FIXTURE_ID before it.
 * Static functions and tables: a fixture uses what it needs. */
#ifndef FIXTURE_TABLE_H
#define FIXTURE_TABLE_H

#include "bghost.h"

#define MAYBE_UNUSED __attribute__((unused))

MAYBE_UNUSED static bg_status succeed(void *plugin, const bg_run_info *info) {
  (void)plugin;
  (void)info;
  return BG_OK;
}

#define GOOD_TASK                                                                                  \
  { sizeof(bg_task), 0, BG_LIT("succeed"), { 0, 0 }, succeed, 0, 0 }

MAYBE_UNUSED static const bg_task good_task = GOOD_TASK;
MAYBE_UNUSED static const bg_task *const good_tasks[] = { &good_task };

#define GOOD_PLUGIN(id)                                                                            \
  {                                                                                                \
    sizeof(bg_plugin), BG_ABI_MAJOR, 0, BG_LIT(id), BG_LIT("1.0.0"), BG_LIT("Fixtures"), 0, 1,     \
    good_tasks, 0, 0, 0                                                                            \
  }

/* The entry function that hands out `table`. */
#define ENTRY(table)                                                                               \
  const bg_plugin *bghost_plugin_v1(const bg_host *host) {                                         \
    (void)host;                                                                                    \
    return (table);                                                                                \
  }

#endif
