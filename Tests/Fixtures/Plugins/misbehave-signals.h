/* SPDX-License-Identifier: Apache-2.0
 * Handlers that die, or will not, by signals. */
#ifndef MISBEHAVE_SIGNALS_H
#define MISBEHAVE_SIGNALS_H

#include <setjmp.h>
#include <sys/time.h>

#include "misbehave.h"

/* crashed(signalled SIGILL) */
HANDLER(illegal_instruction) {
  UNUSED;
  __builtin_trap();
}

/* crashed(signalled SIGBUS): behind the end of a file that is mapped */
HANDLER(bus_error) {
  UNUSED;
  char name[] = "/tmp/bus-XXXXXX";
  int  fd = mkstemp(name);
  if (fd < 0) return BG_E_FAILED;
  unlink(name);
  volatile char *page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (page == MAP_FAILED) return BG_E_FAILED;
  page[0] = 1;
  return BG_OK;
}

/* crashed(signalled SIGSEGV) */
__attribute__((noinline)) static int deeper(volatile int *outer) {
  volatile int page[1024];
  page[0] = outer[0] + 1;
  if (page[0] < 0) return 0;
  return deeper(page) + page[0];
}

HANDLER(overflow_stack) {
  UNUSED;
  volatile int start[1] = { 0 };
  return deeper(start) ? BG_OK : BG_E_FAILED;
}

/* crashed(signalled SIGABRT): the C library finds that a block is freed twice */
HANDLER(free_twice) {
  UNUSED;
  void *volatile block = malloc(2000);
  void *volatile again = block;
  free(block);
  free(again);
  return BG_OK;
}

/* crashed(signalled SIGSEGV): tables are constants */
HANDLER(write_constant) {
  (void)plugin;
  static const bg_run constant = 7;
  bg_run *volatile     own = (bg_run *)(uintptr_t)&constant;
  *own = info->run;
  return BG_OK;
}

/* crashed, one way or another, or killed(graceExceeded): it jumps into a frame that has returned, and
 * what it returns to from there is anybody's guess */
static jmp_buf gone;

__attribute__((noinline)) static int leave_a_mark(void) { return setjmp(gone); }

HANDLER(jump_out) {
  UNUSED;
  if (leave_a_mark() == 0) longjmp(gone, 1);
  for (;;) pause();
}

/* crashed(exited 0): not even its own handlers of exit() are called */
HANDLER(quick_exit_in_start) {
  UNUSED;
  _exit(0);
}

/* crashed(signalled SIGKILL) */
HANDLER(kill_itself) {
  UNUSED;
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

/* killed(graceExceeded): nothing wakes it */
HANDLER(stop_itself) {
  UNUSED;
  kill(getpid(), SIGSTOP);
  return BG_PENDING;
}

/* killed(graceExceeded): it blocks and ignores whatever it can */
HANDLER(refuse_signals) {
  UNUSED;
  sigset_t all;
  sigfillset(&all);
  for (int number = 1; number < 65; number++) signal(number, SIG_IGN);
  sigprocmask(SIG_SETMASK, &all, 0);
  for (;;) pause();
}

/* succeeded: signals that the host's runtime may need have handlers of the plugin's now, and the run
 * after it has a worker that works */
static void swallow(int number) { (void)number; }

HANDLER(take_signals) {
  UNUSED;
  for (int number = 1; number < 32; number++) signal(number, swallow);
  signal(SIGCHLD, SIG_IGN);
  return BG_OK;
}

/* succeeded, or killed(graceExceeded) if the signal came where the runtime holds a lock: complete()
 * promises nothing in a signal handler */
static bg_run  signalled_run;
static void    complete_in_handler(int number) {
  (void)number;
  finish(signalled_run, BG_OK, TEXT("in a signal handler"), NOTHING);
}

HANDLER(complete_in_signal) {
  (void)plugin;
  signalled_run = info->run;
  struct itimerval soon = { { 0, 0 }, { 0, 20000 } };
  signal(SIGALRM, complete_in_handler);
  setitimer(ITIMER_REAL, &soon, 0);
  for (;;) pause();
}

/* crashed(signalled SIGSEGV): on the worker's other thread, which calls cancel() */
static void crash_in_cancel(void *plugin, bg_run run, void *state, uint32_t why) {
  (void)plugin, (void)run, (void)state, (void)why;
  volatile int *volatile nowhere = (volatile int *)16;
  *nowhere = 1;
}

/* crashed(exited 0) */
static void exit_in_cancel(void *plugin, bg_run run, void *state, uint32_t why) {
  (void)plugin, (void)run, (void)state, (void)why;
  exit(0);
}

#endif
