/* SPDX-License-Identifier: Apache-2.0
 * Makes room for as many requests as there were, and looks at as many as there are. */
#include "author.h"

static bg_status start(void *plugin, const bg_run_info *info) {
  const bg_schedule *schedule = host->extension(host, BG_EXT_SCHEDULE);
  size_t             room = 0, count = 0, dated = 0;
  if (!schedule || schedule->pending(host, 0, 0, &room) != BG_OK || room == 0)
    return succeed(plugin, info);
  bg_pending *list = calloc(room, sizeof *list);
  list->size = sizeof *list;
  if (schedule->pending(host, list, room, &count) != BG_OK) count = 0;
  for (size_t n = 0; n < count; n++) {
    /* Memory behind the list is not the host's to write. */
    if (list[n].size != sizeof *list) abort();
    dated += list[n].earliest_unix_ms > 0;
  }
  free(list);
  return dated > 0 ? BG_E_RETRY : succeed(plugin, info);
}
RUNS(BG_TASK_MAY_BLOCK, start)
