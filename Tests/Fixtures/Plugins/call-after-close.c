/* SPDX-License-Identifier: Apache-2.0
 * A thread of it calls the host for as long as the process lives, also after close(). Each of these calls is answered
 * with an error, and none is a fault. */
#include <pthread.h>

#include "table.h"

BG_NOTE("abi=1.0;id=test.call-after-close;runtime=c");

static const bg_host *host;

static void *call(void *nothing) {
  bg_result result = { sizeof result, BG_OK, { 0, 0 }, { 0, 0 }, 0 };
  for (bg_run run = 1;; run++) {
    host->log(host, run, 2, (bg_str)BG_LIT("from the grave"));
    host->progress(host, run, 1, 2, (bg_str)BG_LIT("late"));
    host->complete(host, run, &result);
    host->cancelled(host, run);
  }
  return nothing;
}

static void close_(void *plugin) {
  pthread_t thread;
  (void)plugin;
  for (int i = 0; i < 4; i++) pthread_create(&thread, 0, call, 0);
}

static const bg_plugin plugin = {
  sizeof plugin, 1, 0, BG_LIT("test.call-after-close"), { 0, 0 }, { 0, 0 }, 0, 1, good_tasks,
  0, 0, close_,
};

const bg_plugin *bghost_plugin_v1(const bg_host *given) {
  host = given;
  return &plugin;
}
