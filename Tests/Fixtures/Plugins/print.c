/* SPDX-License-Identifier: Apache-2.0
 * Prints as most C does, without thinking of buffers. */
#include "bghost.h"

#include <stdio.h>
#include <stdlib.h>

BG_NOTE("abi=1.0;id=test.print;runtime=c");

static const bg_host *host;

static bg_status start(void *plugin, const bg_run_info *run) {
  char text[64] = "";
  (void)plugin;
  host->param(host, run->run, (bg_str)BG_LIT("/lines"), text, sizeof text - 1, 0);
  int lines = atoi(text);
  for (int i = 1; i <= lines; i++) printf("line %d\n", i);
  char last[64] = "";
  if (host->param(host, run->run, (bg_str)BG_LIT("/last"), last, sizeof last - 1, 0) == BG_OK)
    printf("%s", last);
  return BG_OK;
}

static const bg_task print = {
    sizeof print, BG_TASK_MAY_BLOCK, BG_LIT("print"), {0, 0}, start, 0, 0};
static const bg_task *const tasks[] = {&print};
static const bg_plugin me = {
    sizeof me, 1, 0, BG_LIT("test.print"), BG_LIT("0.9"), BG_LIT("test"), 0, 1, tasks, 0, 0, 0};

const bg_plugin *bghost_plugin_v1(const bg_host *h) {
  host = h;
  return &me;
}
