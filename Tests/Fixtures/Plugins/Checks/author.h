/* SPDX-License-Identifier: Apache-2.0
 * The well-behaved rest of a plugin that breaks one rule. */
#ifndef FIXTURE_AUTHOR_H
#define FIXTURE_AUTHOR_H

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bghost.h"

/* A plugin that pretends to have the runtime of Go: with LIKE_GO in its note, with LIKE_GO_FILE in the file. */
#ifdef LIKE_GO
BG_NOTE("abi=1.0;id=test.author;runtime=go");
#else
BG_NOTE("abi=1.0;id=test.author;runtime=c");
#endif
#ifdef LIKE_GO_FILE
__attribute__((section(".go.buildinfo"), used)) static const char build_information[16] = "go";
#endif

#define MAYBE_UNUSED __attribute__((unused))

static const bg_host *host;

/* A run that waits for this time, or until it is cancelled. */
MAYBE_UNUSED static bg_status wait_or_stop(const bg_run_info *info, int milliseconds) {
  struct pollfd stop = { info->cancel_fd, POLLIN, 0 };
  if (host->cancelled(host, info->run) != BG_OK) return BG_E_CANCELLED;
  return poll(&stop, 1, milliseconds) > 0 ? BG_E_CANCELLED : BG_OK;
}

MAYBE_UNUSED static bg_status succeed(void *plugin, const bg_run_info *info) {
  (void)plugin;
  return wait_or_stop(info, 5);
}

MAYBE_UNUSED static bg_status complete(bg_run run, bg_status status, bg_str payload) {
  bg_result result = { sizeof result, status, { 0, 0 }, payload, 0 };
  return host->complete(host, run, &result);
}

#define NOTHING ((bg_str){ 0, 0 })

/* Its functions; 0 for those that it has not got. */
#define PLUGIN(flags, schema, start, cancel, release, open, drain, close)                          \
  static const bg_task task = { sizeof task, flags, BG_LIT("work"), schema,                        \
                                start,       cancel, release };                                    \
  static const bg_task *const tasks[] = { &task };                                                 \
  static const bg_plugin table = { sizeof table, BG_ABI_MAJOR, 0, BG_LIT("test.author"),           \
                                   BG_LIT("1.0.0"), BG_LIT("Fixtures"), 0, 1, tasks,               \
                                   open, drain, close }

#define ENTRY                                                                                      \
  const bg_plugin *bghost_plugin_v1(const bg_host *given) {                                        \
    host = given;                                                                                  \
    return &table;                                                                                 \
  }

#define NO_SCHEMA { 0, 0 }
/* A plugin with one function of its own. */
#define RUNS(flags, start)                                                                         \
  PLUGIN(flags, NO_SCHEMA, start, 0, 0, 0, 0, 0);                                                  \
  ENTRY

#endif
