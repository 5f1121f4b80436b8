/* SPDX-License-Identifier: Apache-2.0 */
#include "bghost_crash.h"

#include "crash_report.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

enum { stack_bytes = 64 << 10, frames_max = 32, threads_max = 32 };

static const int crash_signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT};

static pid_t reporter;
/* The thread that reports its crash; 0 if there is none. */
static atomic_int crashing;
/* The thread that is asked for its stack; its negative once it walks it; 0 if there is none. */
static atomic_int looked_at;
static atomic_int is_walking;
/* Where to continue if the walk itself faults, since the stack may be damaged. One walk at a
 * time. */
static sigjmp_buf after_walk;

static struct {
  uintptr_t frames[frames_max];
  int count;
} stack;

static pid_t thread_id(void) { return (pid_t)syscall(SYS_gettid); }

/* ---- stacks ---- */

static _Unwind_Reason_Code step(struct _Unwind_Context *context, void *unused) {
  (void)unused;
  int is_exact = 0;
  uintptr_t at = _Unwind_GetIPInfo(context, &is_exact);
  if (!at || stack.count == frames_max) return _URC_END_OF_STACK;
  /* A return address may already lie in the next function. */
  stack.frames[stack.count++] = is_exact ? at : at - 1;
  return _URC_NO_REASON;
}

/* Collects the frames above this handler's own, the innermost first. */
static void walk(uintptr_t from) {
  stack.count = 0;
  atomic_store(&is_walking, 1);
  if (sigsetjmp(after_walk, 1) == 0) _Unwind_Backtrace(step, 0);
  atomic_store(&is_walking, 0);
  int first = 0;
  while (first < stack.count && stack.frames[first] != from) first++;
  if (first == stack.count) {
    /* The stack cannot be unwound: only the faulting instruction is known. */
    stack.frames[0] = from;
    stack.count = 1;
    first = 0;
  }
  bgs_report_frames(stack.frames + first, stack.count - first);
}

static uintptr_t instruction(const void *context) {
  const ucontext_t *at = context;
#if defined(__x86_64__)
  return (uintptr_t)at->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
  return (uintptr_t)at->uc_mcontext.pc;
#else
#error "where is the program counter?"
#endif
}

/* ---- crashes ---- */

/* Whether the faulting instruction is executed again after the handler returns, and faults
 * again. */
static int faults_again(int number, const siginfo_t *info) {
  return info->si_code > 0 && number != SIGTRAP && number != SIGABRT;
}

static void let_die(int number, const siginfo_t *info) {
  struct sigaction plain;
  memset(&plain, 0, sizeof plain);
  plain.sa_handler = SIG_DFL;
  sigaction(number, &plain, 0);
  if (!faults_again(number, info)) syscall(SYS_tgkill, getpid(), thread_id(), number);
}

static void handle_crash(int number, siginfo_t *info, void *context) {
  int error = errno;
  pid_t self = thread_id();
  int first = 0;
  if (atomic_load(&is_walking) &&
      (atomic_load(&crashing) == self || atomic_load(&looked_at) == -self))
    siglongjmp(after_walk, 1);
  /* A forked child shares the socket; it must not report in its parent's name. */
  if (getpid() != reporter) return let_die(number, info);
  if (!atomic_compare_exchange_strong(&crashing, &first, self)) {
    /* Another thread ends the process in a moment; if it does not, this thread does. */
    struct timespec moment = {.tv_sec = 1};
    if (first != self) nanosleep(&moment, 0);
    return let_die(number, info);
  }
  uintptr_t at = instruction(context);
  int is_fault = info->si_code > 0 && (number == SIGSEGV || number == SIGBUS);
  bgs_report_begin(0);
  bgs_report_signal(number);
  bgs_report_place(at);
  if (is_fault) bgs_report_address((uintptr_t)info->si_addr);
  bgs_report_thread(self);
  walk(at);
  bgs_report_send();
  let_die(number, info);
  errno = error;
}

void bgs_report_crashes(int socket, unsigned char kind, unsigned char version) {
  bgs_report_to(socket, kind, version);
  reporter = getpid();
  bgs_use_signal_stack();
  /* The first walk may load libraries that later walks need; do that now, outside a signal
   * handler. */
  stack.count = 0;
  _Unwind_Backtrace(step, 0);
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = handle_crash;
  /* A fault in the handler calls the handler again. */
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (size_t i = 0; i < sizeof crash_signals / sizeof *crash_signals; i++)
    sigaction(crash_signals[i], &action, 0);
}

void bgs_use_signal_stack(void) {
  if (!reporter) return;
  void *memory = mmap(0, stack_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return;
  stack_t own = {.ss_sp = memory, .ss_size = stack_bytes};
  if (sigaltstack(&own, 0) < 0) munmap(memory, stack_bytes);
}

/* ---- threads ---- */

static void look(int number, siginfo_t *info, void *context) {
  (void)number;
  (void)info;
  int error = errno;
  pid_t self = thread_id();
  int asked = self;
  /* In one step, so that a thread that comes late does not write into the answer of another. A
   * thread that was asked twice answers once. */
  if (atomic_compare_exchange_strong(&looked_at, &asked, -self)) {
    bgs_report_thread(self);
    walk(instruction(context));
    atomic_store(&looked_at, 0);
  }
  errno = error;
}

static long milliseconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000L + now.tv_nsec / 1000000L;
}

/* Returns whether the thread has begun to answer, or is no more. */
static int look_at(pid_t thread, int number, long until) {
  struct timespec moment = {.tv_nsec = 200000};
  int asked = thread;
  atomic_store(&looked_at, thread);
  int is_asked = syscall(SYS_tgkill, getpid(), thread, number) == 0;
  while (is_asked && atomic_load(&looked_at) && milliseconds_now() < until) nanosleep(&moment, 0);
  if (atomic_compare_exchange_strong(&looked_at, &asked, 0)) return !is_asked;
  /* A walk that has started must finish, since it writes into the report. */
  for (int i = 0; i < 50 && atomic_load(&looked_at); i++) nanosleep(&moment, 0);
  return 1;
}

static int is_free(int number) {
  struct sigaction there;
  return sigaction(number, 0, &there) == 0 && there.sa_handler == SIG_DFL;
}

/* Returns a signal that this process does not handle; 0 if there is none. */
static int free_signal(void) {
  /* The kernel does not send these to processes. Unlike a realtime signal, which has to be queued, they reach
   * a thread also at the limit of queued signals, where timers of the plugin can bring the worker. */
  static const int unused[] = {SIGSTKFLT, SIGPWR};
  for (size_t i = 0; i < sizeof unused / sizeof *unused; i++)
    if (is_free(unused[i])) return unused[i];
  for (int number = SIGRTMAX - 1; number > SIGRTMAX - 8; number--)
    if (is_free(number)) return number;
  return 0;
}

void bgs_report_stacks(int milliseconds) {
  long until = milliseconds_now() + milliseconds;
  int number = free_signal();
  DIR *threads = number ? opendir("/proc/self/task") : 0;
  if (!threads) return;
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = look;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigaction(number, &action, 0);
  bgs_report_begin(1);
  pid_t silent[threads_max];
  int count = 0;
  for (struct dirent *entry; (entry = readdir(threads)) && count < threads_max;) {
    pid_t thread = (pid_t)atoi(entry->d_name);
    if (thread > 0 && thread != thread_id()) silent[count++] = thread;
  }
  closedir(threads);
  /* One thread may not use the time of all others. Where every processor is busy, a thread may
   * need more than its first share to answer: those that were silent share the rest. */
  long share = 20;
  while (count > 0 && milliseconds_now() < until) {
    int left = 0;
    for (int i = 0; i < count; i++) {
      long now = milliseconds_now();
      long end = now + share < until ? now + share : until;
      /* A thread that does not finish its walk is the last one: it may still write. */
      if (atomic_load(&looked_at)) until = now;
      if (now >= until || !look_at(silent[i], number, end)) silent[left++] = silent[i];
    }
    count = left;
    if (count) share = (until - milliseconds_now()) / count + 1;
  }
  bgs_report_send();
}
