/* SPDX-License-Identifier: Apache-2.0
 * A plugin that saves and loads checkpoints. */
#include "misbehave.h"

BG_NOTE("abi=1.0;id=test.checkpoint;runtime=c");

static const bg_checkpoints *checkpoints(void) { return host->extension(host, BG_EXT_CHECKPOINT); }

/* Each attempt loads, saves "attempt N", and ends as letter N of params {"plan"} says:
 * c: crashes, f: fails, d: ends for good, p: its process is killed from outside, w: waits until it is
 * cancelled and then saves "cancelled N", else: succeeds. */
HANDLER(step) {
  (void)plugin;
  char   plan[64] = { 0 }, last[64] = { 0 }, line[160], text[64];
  size_t need = 0;
  host->param(host, info->run, TEXT("/plan"), plan, sizeof plan - 1, &need);
  need = 0;
  bg_status loaded = checkpoints()->load(host, info->run, last, sizeof last - 1, &need);
  snprintf(text, sizeof text, "attempt %u", info->attempt);
  bg_status saved = checkpoints()->save(host, info->run, text, strlen(text));
  snprintf(line, sizeof line, "attempt %u loaded %d \"%s\", saved %d", info->attempt, loaded,
           loaded == BG_OK ? last : "", saved);
  say(info->run, line);
  switch (info->attempt <= strlen(plan) ? plan[info->attempt - 1] : 's') {
  case 'c': abort();
  case 'f': return BG_E_FAILED;
  case 'd': return BG_E_FINAL;
  case 'p':
    for (;;) pause();
  case 'w':
    while (!is_cancelled(info->run)) poll(0, 0, 1);
    snprintf(text, sizeof text, "cancelled %u", info->attempt);
    return checkpoints()->save(host, info->run, text, strlen(text)) == BG_OK ? BG_E_CANCELLED
                                                                             : BG_E_FAILED;
  default: return BG_OK;
  }
}

static char large[BG_CHECKPOINT_MAX + 1], back[BG_CHECKPOINT_MAX + 1];

/* succeeded; logs what odd calls are answered */
HANDLER(odd) {
  (void)plugin;
  const bg_checkpoints *its = checkpoints();
  char                  line[256];
  size_t                need = 7, whole = 7;
  bg_run                run = info->run;
  for (size_t i = 0; i < sizeof large; i++) large[i] = (char)(i * 31 + 1);
  bg_status none = its->load(host, run, back, sizeof back, &need);
  bg_status most = its->save(host, run, large, BG_CHECKPOINT_MAX);
  bg_status longer = its->save(host, run, large, BG_CHECKPOINT_MAX + 1);
  bg_status huge = its->save(host, run, large, (size_t)-1);
  bg_status nowhere = its->save(host, run, 0, 5);
  bg_status length = its->load(host, run, 0, 0, &whole);
  bg_status small = its->load(host, run, back, BG_CHECKPOINT_MAX - 1, &need);
  bg_status got = its->load(host, run, back, sizeof back, 0);
  int       same = memcmp(large, back, BG_CHECKPOINT_MAX) == 0;
  bg_status invented = its->save(host, run + 1024, large, 1);
  bg_status unknown = its->load(host, run + 1024, back, sizeof back, 0);
  bg_status cleared = its->save(host, run, 0, 0);
  bg_status gone = its->load(host, run, back, sizeof back, 0);
  bg_status binary = its->save(host, run, "a\0\xff", 3);
  bg_status again = its->load(host, run, back, sizeof back, &need);
  snprintf(line, sizeof line,
           "none %d, most %d, longer %d, huge %d, nowhere %d, length %d %zu, small %d, got %d %d, "
           "invented %d %d, cleared %d %d, binary %d %d %zu %d",
           none, most, longer, huge, nowhere, length, whole, small, got, same, invented, unknown,
           cleared, gone, binary, again, need, memcmp(back, "a\0\xff", 3) == 0);
  say(run, line);
  return BG_OK;
}

#define TASK(name, flags, start)                                                                   \
  &(const bg_task) {                                                                               \
    sizeof(bg_task), flags, BG_LIT(name), { 0, 0 }, start, 0, 0                                    \
  }

static const bg_task *const tasks[] = {
  TASK("step", BG_TASK_MAY_BLOCK, step),
  TASK("odd", BG_TASK_MAY_BLOCK, odd),
};

static bg_status open_plugin(const bg_host *its, bg_str config, void **plugin) {
  (void)config;
  (void)plugin;
  host = its;
  return checkpoints() != 0 && checkpoints()->size == sizeof(bg_checkpoints) ? BG_OK : BG_E_FAILED;
}

static const bg_plugin table = {
  sizeof(bg_plugin), BG_ABI_MAJOR, 0, BG_LIT("test.checkpoint"), BG_LIT("1.0.0"), BG_LIT("Fixtures"), 0,
  sizeof tasks / sizeof *tasks, tasks, open_plugin, 0, 0
};

const bg_plugin *bghost_plugin_v1(const bg_host *its) {
  host = its;
  return &table;
}
