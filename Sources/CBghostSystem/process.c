/* SPDX-License-Identifier: Apache-2.0 */
#include "bghost_system.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

static int arguments;
static char **argument_values;

/* The C library passes constructors what it passes to main. */
__attribute__((constructor)) static void keep_arguments(int count, char **values) {
  arguments = count;
  argument_values = values;
}

int bgs_only_argument(void) {
  if (arguments != 2) return 0;
  char *end = NULL;
  errno = 0;
  long number = strtol(argument_values[1], &end, 10);
  return errno == 0 && *end == 0 && number > 0 && number <= INT_MAX ? (int)number : 0;
}

pid_t bgs_spawn_process(const struct bgs_spawn *what) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t none, all;
  pid_t pid = 0;
  int error = posix_spawn_file_actions_init(&actions);
  if (error) return -error;
  error = posix_spawnattr_init(&attributes);
  if (error) {
    posix_spawn_file_actions_destroy(&actions);
    return -error;
  }
  for (int i = 0; i < what->n_fds && !error; i++)
    error = posix_spawn_file_actions_adddup2(&actions, what->fds[i], i);
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
  if (!what->keeps_group) flags |= POSIX_SPAWN_SETPGROUP;
  posix_spawnattr_setflags(&attributes, flags);
  if (!error)
    error = posix_spawn(&pid, what->path, &actions, &attributes, what->argv, what->envp);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error ? -error : pid;
}

int bgs_pidfd_open(pid_t pid) {
  int fd = (int)syscall(SYS_pidfd_open, pid, 0);
  return fd < 0 ? -errno : fd;
}

int bgs_pidfd_signal(int pidfd, int number) {
  return syscall(SYS_pidfd_send_signal, pidfd, number, NULL, 0) < 0 ? -errno : 0;
}

int bgs_exit_of(int pidfd, struct bgs_exit *out) {
  siginfo_t info;
  struct rusage usage;
  memset(&info, 0, sizeof info);
  memset(&usage, 0, sizeof usage);
  /* glibc's waitid() hides the fifth argument, which receives the resource usage. */
  if (syscall(SYS_waitid, P_PIDFD, pidfd, &info, WEXITED | WNOHANG | WNOWAIT, &usage) < 0)
    return -errno;
  if (info.si_pid == 0) return 0;
  out->exited = info.si_code == CLD_EXITED;
  out->code = info.si_status;
  out->cpu_ns = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000L +
                (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000L;
  out->peak_bytes = usage.ru_maxrss * 1024L;
  return 1;
}

int64_t bgs_own_peak_bytes(void) {
  struct rusage usage;
  return getrusage(RUSAGE_SELF, &usage) < 0 ? 0 : usage.ru_maxrss * 1024L;
}

int bgs_collect(pid_t pid) {
  siginfo_t info;
  memset(&info, 0, sizeof info);
  if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG) < 0) return -errno;
  return info.si_pid != 0;
}

int bgs_die_with_parent(void) { return prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 ? -errno : 0; }

int bgs_become_subreaper(void) { return prctl(PR_SET_CHILD_SUBREAPER, 1UL) < 0 ? -errno : 0; }

int bgs_close_from(int first) {
  return syscall(SYS_close_range, first, ~0u, 0) < 0 ? -errno : 0;
}

int bgs_realtime(pid_t id) {
  struct sched_param parameters = {.sched_priority = 1};
  return sched_setscheduler(id, SCHED_FIFO | SCHED_RESET_ON_FORK, &parameters) < 0 ? -errno : 0;
}

int bgs_not_realtime(void) {
  struct sched_param parameters = {.sched_priority = 0};
  return sched_setscheduler(0, SCHED_OTHER, &parameters) < 0 ? -errno : 0;
}

void bgs_name_thread(const char *name) { prctl(PR_SET_NAME, name); }

pid_t bgs_thread_id(void) { return (pid_t)syscall(SYS_gettid); }

int bgs_lock_file(const char *path, int64_t wait_ms) {
  int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return -errno;
  struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  while (fcntl(fd, F_OFD_SETLK, &whole) < 0) {
    int error = errno;
    if (error == EAGAIN && wait_ms-- > 0) {
      /* The kernel can wait for a lock, but not for a limited time. */
      nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
      continue;
    }
    close(fd);
    return -error;
  }
  return fd;
}

int bgs_limit(int which, uint64_t value) {
  static const int resources[] = {RLIMIT_CORE, RLIMIT_NOFILE, RLIMIT_NPROC, RLIMIT_CPU, RLIMIT_AS};
  struct rlimit limit;
  if (getrlimit(resources[which], &limit) < 0) return -errno;
  /* Never raise a hard limit. */
  if (limit.rlim_max == RLIM_INFINITY || value < limit.rlim_max) limit.rlim_max = value;
  limit.rlim_cur = limit.rlim_max;
  return setrlimit(resources[which], &limit) < 0 ? -errno : 0;
}

int bgs_limit_file_size(int pid, uint64_t bytes) {
  struct rlimit limit = {.rlim_cur = bytes, .rlim_max = bytes};
  return prlimit(pid, RLIMIT_FSIZE, &limit, NULL) < 0 ? -errno : 0;
}

int bgs_pipe(int fds[2]) {
  if (pipe2(fds, O_CLOEXEC) < 0) return -errno;
  return fcntl(fds[0], F_SETFL, O_NONBLOCK) < 0 ? -errno : 0;
}

static const char capabilities[] = "security.capability";

int bgs_is_on_ext(int file) {
  struct statfs status;
  return fstatfs(file, &status) == 0 && status.f_type == EXT4_SUPER_MAGIC;
}

int bgs_has_capabilities(const char *path) { return getxattr(path, capabilities, NULL, 0) > 0; }

int bgs_remove_capabilities(const char *path) {
  return removexattr(path, capabilities) == 0 || errno == ENODATA ? 0 : -errno;
}

int bgs_uses_swap(void) {
  struct sysinfo machine;
  return sysinfo(&machine) == 0 && machine.totalswap > machine.freeswap;
}
