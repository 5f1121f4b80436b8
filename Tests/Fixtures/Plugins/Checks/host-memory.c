/* SPDX-License-Identifier: Apache-2.0
 * Writes to the host's table; with PARAMETERS, to the params of a run. */
#include "author.h"

static bg_status start(void *plugin, const bg_run_info *info) {
#ifdef PARAMETERS
  volatile char *text = (char *)info->params.ptr;
  text[0] = '{';
#else
  volatile uint32_t *size = (uint32_t *)&host->size;
  *size = host->size;
#endif
  return succeed(plugin, info);
}
RUNS(BG_TASK_MAY_BLOCK, start)
