/* SPDX-License-Identifier: Apache-2.0
 * What the runtime of Go does, in C: a thread that rests for ever, handlers of signals, and a stack for
 * them on each thread that calls. */
#include "author.h"

static void take(int number) { (void)number; }

static void *rest(void *ignored) {
  (void)ignored;
  for (;;) pause();
}

static void ensure_stack(void) {
  static __thread char memory[16384];
  stack_t              stack;
  if (sigaltstack(0, &stack) != 0 || !(stack.ss_flags & SS_DISABLE)) return;
  stack = (stack_t){ .ss_sp = memory, .ss_size = sizeof memory };
  sigaltstack(&stack, 0);
}

__attribute__((constructor)) static void begin(void) {
  static const int signals[] = { SIGPIPE, SIGURG };
  pthread_t        thread;
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
    struct sigaction action = { .sa_handler = take, .sa_flags = SA_ONSTACK | SA_RESTART };
    sigaction(signals[i], &action, 0);
  }
  pthread_create(&thread, 0, rest, 0);
  pthread_detach(thread);
}

static bg_status work(void *plugin, const bg_run_info *info) {
  ensure_stack();
  return succeed(plugin, info);
}

/* Without BG_TASK_MAY_BLOCK, as in Go: start() is called on the thread that the check looks at. */
PLUGIN(0, NO_SCHEMA, work, 0, 0, 0, 0, 0);

const bg_plugin *bghost_plugin_v1(const bg_host *given) {
  host = given;
  ensure_stack();
  return &table;
}
