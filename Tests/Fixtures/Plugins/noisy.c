/* SPDX-License-Identifier: Apache-2.0
 * Writes much where it is hard to charge. */
#include "misbehave.h"

BG_NOTE("abi=1.0;id=test.noisy;runtime=c");

static void lines(int count, int byte) {
  char line[1024];
  memset(line, byte, sizeof line - 1);
  line[sizeof line - 1] = '\n';
  for (int each = 0; each < count; each++)
    if (write(1, line, sizeof line) < 0) return;
}

/* Below the limit, until it is made fit to print. */
HANDLER(escapes) {
  UNUSED;
  lines(40, 1);
  return BG_OK;
}

static void *later(void *nothing) {
  for (;;) lines(16, 'x');
  return nothing;
}

/* Writes on when its run is over. */
HANDLER(afterwards) {
  UNUSED;
  pthread_t thread;
  return pthread_create(&thread, 0, later, 0) == 0 ? BG_OK : BG_E_FAILED;
}

/* 400 MB of nothing but ends of lines. */
HANDLER(newlines) {
  UNUSED;
  char ends[4096];
  memset(ends, '\n', sizeof ends);
  for (int each = 0; each < 100000; each++)
    if (write(1, ends, sizeof ends) < 0) break;
  return BG_OK;
}

#define TASK(name, start)                                                                          \
  &(const bg_task) {                                                                               \
    sizeof(bg_task), BG_TASK_MAY_BLOCK, BG_LIT(name), { 0, 0 }, start, 0, 0                        \
  }

static const bg_task *const tasks[] = {
  TASK("escapes", escapes),
  TASK("afterwards", afterwards),
  TASK("newlines", newlines),
};

static const bg_plugin plugin_table = {
  sizeof plugin_table, BG_ABI_MAJOR, 0, BG_LIT("test.noisy"), BG_LIT("1.0.0"),
  BG_LIT("Fixtures"),  0,            sizeof tasks / sizeof *tasks, tasks, 0, 0, 0,
};

const bg_plugin *bghost_plugin_v1(const bg_host *given) {
  host = given;
  (void)finish;
  return &plugin_table;
}
