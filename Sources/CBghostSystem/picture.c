/* SPDX-License-Identifier: Apache-2.0 */
#include "bghost_picture.h"

#include <errno.h>
#include <fenv.h>
#include <malloc.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

int bgs_signal_handler(int number, uint64_t *handler) {
  struct sigaction action;
  if (sigaction(number, 0, &action) != 0) return -errno;
  *handler = (uint64_t)(uintptr_t)action.sa_handler;
  return 0;
}

uint64_t bgs_signal_mask(void) {
  sigset_t set;
  uint64_t mask = 0;
  sigemptyset(&set);
  pthread_sigmask(SIG_SETMASK, 0, &set);
  for (int number = 1; number <= 64; number++)
    if (sigismember(&set, number) == 1) mask |= 1ull << (number - 1);
  return mask;
}

uint64_t bgs_signal_stack(void) {
  stack_t stack;
  if (sigaltstack(0, &stack) != 0 || (stack.ss_flags & SS_DISABLE)) return 0;
  return (uint64_t)(uintptr_t)stack.ss_sp;
}

int bgs_rounding(void) { return fegetround(); }

int bgs_timer_armed(void) {
  static const int kinds[] = { ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF };
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    struct itimerval value;
    if (getitimer(kinds[i], &value) == 0 && (value.it_value.tv_sec || value.it_value.tv_usec))
      return 1;
  }
  return 0;
}

uint64_t bgs_limit_of(int resource) {
  struct rlimit limit = { 0, 0 };
  getrlimit((__rlimit_resource_t)resource, &limit);
  return limit.rlim_cur;
}

int bgs_limit_count(void) { return RLIM_NLIMITS; }

int bgs_dumpable(void) { return prctl(PR_GET_DUMPABLE); }
int bgs_priority(void) { return getpriority(PRIO_PROCESS, 0); }
const char *bgs_signal_name(int number) { return sigabbrev_np(number); }

uint64_t bgs_allocated(void) {
  struct mallinfo2 information = mallinfo2();
  return information.uordblks + information.hblkhd;
}

/* ---- faults ---- */

static struct region {
  uintptr_t start, end;
  const char *name;
} regions[8];
static int region_count;
static int watched = -1;

/* Uses only functions that are safe in a signal handler. */
static void on_fault(int number, siginfo_t *information, void *context) {
  (void)context;
  char      line[128];
  size_t    length = 0;
  uintptr_t address = (uintptr_t)information->si_addr;
  line[length++] = 'F';
  if (number >= 10) line[length++] = (char)('0' + number / 10);
  line[length++] = (char)('0' + number % 10);
  for (int i = 0; i < region_count; i++) {
    if (address < regions[i].start || address >= regions[i].end) continue;
    line[length++] = ' ';
    for (const char *c = regions[i].name; *c && length < sizeof line - 1; c++) line[length++] = *c;
    break;
  }
  line[length++] = '\n';
  if (write(watched, line, length) < 0) {
  }
  /* The default action is restored: the same instruction faults again and ends the process. */
}

void bgs_fault_watch(int fd) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | (int)SA_RESETHAND;
  watched = fd;
  sigaction(SIGSEGV, &action, 0);
  sigaction(SIGBUS, &action, 0);
}

void bgs_fault_region(const void *start, size_t count, const char *name) {
  if (region_count == (int)(sizeof regions / sizeof *regions)) return;
  struct region region = { (uintptr_t)start, (uintptr_t)start + count, name };
  regions[region_count++] = region;
}
