/* SPDX-License-Identifier: Apache-2.0
 * Handlers that do as little as can be, and say when they were reached. */
#include <bghost.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

BG_NOTE("abi=1.0;id=org.bghost.bench.c;runtime=c");

enum { tree_size = 10 };

static const bg_host *host;

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Completes with a number as the message and the result. */
static void complete(bg_run run, bg_status status, int64_t number) {
  char text[24];
  int  length = snprintf(text, sizeof text, "%lld", (long long)number);
  /* A failure has no payload that is kept. */
  bg_str    said = {text, (size_t)length};
  bg_result result = {sizeof result, status, said, said, 0};
  host->complete(host, run, &result);
}

static bg_status nop(void *plugin, const bg_run_info *info) {
  (void)plugin;
  (void)info;
  return BG_OK;
}

/* When start() was reached. */
static bg_status stamp(void *plugin, const bg_run_info *info) {
  int64_t now = now_ns();
  (void)plugin;
  complete(info->run, BG_OK, now);
  return BG_PENDING;
}

/* The same, and a failure: the next run gets a new worker. */
static bg_status stamp_and_fail(void *plugin, const bg_run_info *info) {
  int64_t now = now_ns();
  (void)plugin;
  complete(info->run, BG_E_FAILED, now);
  return BG_PENDING;
}

/* Says that it runs, and its deadline with it. */
static bg_status hold(void *plugin, const bg_run_info *info) {
  (void)plugin;
  host->set_state(host, info->run, (void *)(intptr_t)info->deadline_mono_ns);
  host->progress(host, info->run, (uint64_t)info->deadline_mono_ns, 0, (bg_str)BG_LIT("holding"));
  return BG_PENDING;
}

/* How late after the deadline the cancel came. */
static void expire(void *plugin, bg_run run, void *deadline, uint32_t why) {
  int64_t late = now_ns() - (int64_t)(intptr_t)deadline;
  (void)plugin;
  (void)why;
  complete(run, BG_E_CANCELLED, late);
}

static bg_status spin(void *plugin, const bg_run_info *info) {
  hold(plugin, info);
  for (volatile uint64_t n = 0;; n++) {}
  return BG_OK;
}

static bg_status tree(void *plugin, const bg_run_info *info) {
  for (int i = 1; i < tree_size; i++) {
    if (fork() != 0) continue;
    alarm(60); /* should the bench itself be killed */
    for (;;) pause();
  }
  return hold(plugin, info);
}

static const bg_task t_nop = {sizeof t_nop, 0, BG_LIT("nop"), {0, 0}, nop, 0, 0};
static const bg_task t_stamp = {sizeof t_stamp, 0, BG_LIT("stamp"), {0, 0}, stamp, 0, 0};
static const bg_task t_fail = {sizeof t_fail, 0, BG_LIT("stamp-and-fail"), {0, 0},
                               stamp_and_fail, 0, 0};
static const bg_task t_expire = {sizeof t_expire, 0, BG_LIT("expire"), {0, 0}, hold, expire, 0};
static const bg_task t_ignore = {sizeof t_ignore, 0, BG_LIT("ignore"), {0, 0}, hold, 0, 0};
static const bg_task t_spin = {sizeof t_spin, BG_TASK_MAY_BLOCK, BG_LIT("spin"), {0, 0}, spin, 0,
                               0};
static const bg_task t_tree = {sizeof t_tree, 0, BG_LIT("tree"), {0, 0}, tree, 0, 0};

static const bg_task *const tasks[] = {&t_nop,    &t_stamp, &t_fail, &t_expire,
                                       &t_ignore, &t_spin,  &t_tree};

static const bg_plugin me = {
    sizeof me, 1, 0, BG_LIT("org.bghost.bench.c"), BG_LIT("1.0.0"), BG_LIT("bghost bench"), 0,
    sizeof tasks / sizeof *tasks, tasks, 0, 0, 0};

const bg_plugin *bghost_plugin_v1(const bg_host *given) {
  host = given;
  return &me;
}
