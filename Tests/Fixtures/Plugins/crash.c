/* SPDX-License-Identifier: Apache-2.0
 * Handlers that crash, or do not stop, in functions that have names. */
#include "bghost.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

BG_NOTE("abi=1.0;id=test.crash;runtime=c");

static const bg_host *host;

#define NAMED static __attribute__((noinline, used))

NAMED int write_through(volatile int *place) {
  *place = 3;
  return *place + 1;
}

NAMED void give_up(int traps) {
  if (traps) __builtin_trap();
  abort();
}

NAMED int descend(volatile int depth) {
  if (depth < 0) return 0;
  volatile char room[4096];
  room[0] = (char)depth;
  return descend(depth + 1) + room[0];
}

/* Says that it is here; the rest of what it prints is no whole line when the worker is killed. */
NAMED void stay_here(void) {
  printf("here\nhalf a line");
  for (;;) pause();
}

static void last_words(void) { fprintf(stderr, "first words\nlast words\n"); }

static bg_status segfault(void *plugin, const bg_run_info *run) {
  (void)plugin, (void)run;
  last_words();
  return write_through((volatile int *)16);
}

static bg_status trap(void *plugin, const bg_run_info *run) {
  (void)plugin, (void)run;
  last_words();
  give_up(1);
  return BG_OK;
}

static bg_status aborts(void *plugin, const bg_run_info *run) {
  (void)plugin, (void)run;
  last_words();
  give_up(0);
  return BG_OK;
}

static void *fault(void *unused) {
  (void)unused;
  write_through((volatile int *)16);
  return 0;
}

static bg_status segfault_in_thread(void *plugin, const bg_run_info *run) {
  (void)plugin, (void)run;
  last_words();
  pthread_t thread;
  pthread_create(&thread, 0, fault, 0);
  pthread_join(thread, 0);
  return BG_OK;
}

static bg_status overflow_stack(void *plugin, const bg_run_info *run) {
  (void)plugin, (void)run;
  last_words();
  return descend(0);
}

static void leave(int number) {
  (void)number;
  _exit(42);
}

static bg_status handles_itself(void *plugin, const bg_run_info *run) {
  (void)plugin, (void)run;
  signal(SIGSEGV, leave);
  return write_through((volatile int *)16);
}

static bg_status stuck(void *plugin, const bg_run_info *run) {
  (void)plugin, (void)run;
  stay_here();
  return BG_OK;
}

static void *stay(void *unused) {
  (void)unused;
  stay_here();
  return 0;
}

static bg_status stuck_in_thread(void *plugin, const bg_run_info *run) {
  (void)plugin, (void)run;
  pthread_t thread;
  pthread_create(&thread, 0, stay, 0);
  pthread_join(thread, 0);
  return BG_OK;
}

/* Makes timers until the worker gets no more: it is at its limit of timers and queued signals then. */
static bg_status stuck_at_limit(void *plugin, const bg_run_info *run) {
  (void)plugin, (void)run;
  struct sigevent event = {.sigev_notify = SIGEV_NONE};
  timer_t timer;
  for (int i = 0; i < 1 << 20 && timer_create(CLOCK_MONOTONIC, &event, &timer) == 0; i++) continue;
  stay_here();
  return BG_OK;
}

/* Handles every signal below the realtime ones that others leave alone. */
static bg_status stuck_with_handlers(void *plugin, const bg_run_info *run) {
  (void)plugin, (void)run;
  signal(SIGSTKFLT, leave);
  signal(SIGPWR, leave);
  stay_here();
  return BG_OK;
}

#define TASK(variable, name, function)    \
  static const bg_task variable = {sizeof(bg_task), BG_TASK_MAY_BLOCK, BG_LIT(name), {0, 0}, function, 0, 0}
TASK(t1, "segfault", segfault);
TASK(t2, "trap", trap);
TASK(t3, "abort", aborts);
TASK(t4, "segfault-in-thread", segfault_in_thread);
TASK(t5, "overflow-stack", overflow_stack);
TASK(t6, "handles-itself", handles_itself);
TASK(t7, "stuck", stuck);
TASK(t8, "stuck-in-thread", stuck_in_thread);
TASK(t9, "stuck-at-limit", stuck_at_limit);
TASK(t10, "stuck-with-handlers", stuck_with_handlers);
static const bg_task *const tasks[] = {&t1, &t2, &t3, &t4, &t5, &t6, &t7, &t8, &t9, &t10};
static const bg_plugin me = {
    sizeof me, 1, 0, BG_LIT("test.crash"), BG_LIT("1"), BG_LIT("test"), 0, 10, tasks, 0, 0, 0};

const bg_plugin *bghost_plugin_v1(const bg_host *h) {
  host = h;
  return &me;
}
