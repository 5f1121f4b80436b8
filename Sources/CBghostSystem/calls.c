/* SPDX-License-Identifier: Apache-2.0
 *
 * The numbers of system calls by name. */
#include <string.h>
#include <sys/syscall.h>

#include "bghost_sandbox.h"

#if defined(__x86_64__)
#define ARCHITECTURE 0xC000003Eu
#define FOREIGN_FROM 0x40000000u
#elif defined(__aarch64__)
#define ARCHITECTURE 0xC00000B7u
#define FOREIGN_FROM 0x80000000u
#else
#error "the numbers of this machine's system calls are not known here"
#endif

struct call {
  const char *name;
  int number;
};

#define CALL(name) { #name, SYS_##name }

static const struct call calls[] = {
  CALL(read), CALL(write), CALL(readv), CALL(writev), CALL(pread64), CALL(pwrite64), CALL(preadv),
  CALL(pwritev), CALL(preadv2), CALL(pwritev2), CALL(lseek), CALL(close), CALL(dup), CALL(dup3),
  CALL(fcntl), CALL(flock), CALL(openat), CALL(fstat), CALL(newfstatat), CALL(statx), CALL(statfs),
  CALL(fstatfs), CALL(faccessat), CALL(readlinkat), CALL(getdents64), CALL(getcwd), CALL(chdir),
  CALL(fchdir), CALL(umask), CALL(mkdirat), CALL(unlinkat), CALL(renameat), CALL(renameat2),
  CALL(linkat), CALL(symlinkat), CALL(truncate), CALL(ftruncate), CALL(fallocate), CALL(fsync),
  CALL(fdatasync), CALL(sync_file_range), CALL(fadvise64), CALL(readahead), CALL(copy_file_range),
  CALL(sendfile), CALL(splice), CALL(tee), CALL(pipe2), CALL(getxattr), CALL(lgetxattr),
  CALL(fgetxattr), CALL(listxattr), CALL(llistxattr), CALL(flistxattr), CALL(inotify_init1),
  CALL(inotify_add_watch), CALL(inotify_rm_watch), CALL(fchmod), CALL(fchmodat), CALL(fchown),
  CALL(fchownat), CALL(utimensat), CALL(setxattr), CALL(lsetxattr), CALL(fsetxattr),
  CALL(removexattr), CALL(lremovexattr), CALL(fremovexattr), CALL(brk), CALL(mmap), CALL(munmap),
  CALL(mremap), CALL(mprotect), CALL(madvise), CALL(mincore), CALL(msync), CALL(mlock),
  CALL(munlock), CALL(mlock2), CALL(pkey_alloc), CALL(pkey_free), CALL(pkey_mprotect),
  CALL(membarrier), CALL(futex), CALL(set_robust_list), CALL(get_robust_list),
  CALL(set_tid_address), CALL(rseq), CALL(gettid), CALL(sched_yield), CALL(sched_getaffinity),
  CALL(sched_getparam), CALL(sched_getscheduler), CALL(sched_get_priority_max),
  CALL(sched_get_priority_min), CALL(exit), CALL(exit_group), CALL(restart_syscall),
  CALL(rt_sigaction), CALL(rt_sigprocmask), CALL(rt_sigreturn), CALL(rt_sigpending),
  CALL(rt_sigtimedwait), CALL(rt_sigsuspend), CALL(sigaltstack), CALL(signalfd4), CALL(getcpu),
  CALL(clock_gettime), CALL(clock_getres), CALL(clock_nanosleep), CALL(nanosleep),
  CALL(gettimeofday), CALL(getitimer), CALL(setitimer), CALL(timer_create), CALL(timer_settime),
  CALL(timer_gettime), CALL(timer_getoverrun), CALL(timer_delete), CALL(timerfd_create),
  CALL(timerfd_settime), CALL(timerfd_gettime), CALL(times), CALL(ppoll), CALL(pselect6),
  CALL(epoll_create1), CALL(epoll_ctl), CALL(epoll_pwait), CALL(eventfd2), CALL(sendto),
  CALL(recvfrom), CALL(sendmsg), CALL(recvmsg), CALL(sendmmsg), CALL(recvmmsg), CALL(shutdown),
  CALL(getsockname), CALL(getpeername), CALL(getsockopt), CALL(setsockopt), CALL(socket),
  CALL(connect), CALL(bind), CALL(listen), CALL(accept), CALL(accept4), CALL(getpid),
  CALL(getppid), CALL(getpgid), CALL(getsid), CALL(getuid), CALL(geteuid), CALL(getgid),
  CALL(getegid), CALL(getresuid), CALL(getresgid), CALL(getgroups), CALL(getrlimit),
  CALL(setrlimit), CALL(prlimit64), CALL(getrusage), CALL(getpriority), CALL(sysinfo), CALL(uname),
  CALL(getrandom), CALL(capget), CALL(wait4), CALL(waitid), CALL(ioctl), CALL(prctl), CALL(clone),
  CALL(memfd_create), CALL(kill), CALL(tkill), CALL(tgkill), CALL(execve), CALL(execveat),
  CALL(setsid), CALL(setpgid),
#if defined(__x86_64__)
  CALL(open), CALL(creat), CALL(stat), CALL(lstat), CALL(access), CALL(readlink), CALL(getdents),
  CALL(mkdir), CALL(rmdir), CALL(unlink), CALL(rename), CALL(link), CALL(symlink), CALL(pipe),
  CALL(dup2), CALL(inotify_init), CALL(chmod), CALL(chown), CALL(lchown), CALL(utime),
  CALL(utimes), CALL(futimesat), CALL(arch_prctl), CALL(pause), CALL(signalfd), CALL(time),
  CALL(alarm), CALL(poll), CALL(select), CALL(epoll_create), CALL(epoll_wait), CALL(eventfd),
  CALL(getpgrp), CALL(fork), CALL(vfork),
#endif
  /* These numbers are the same on every architecture; some are newer than the system's headers. */
  { "pidfd_send_signal", 424 }, { "pidfd_open", 434 }, { "clone3", 435 }, { "close_range", 436 },
  { "openat2", 437 }, { "faccessat2", 439 }, { "epoll_pwait2", 441 }, { "futex_waitv", 449 },
  { "fchmodat2", 452 }, { "futex_wake", 454 }, { "futex_wait", 455 }, { "futex_requeue", 456 },
  { "mseal", 462 },
};

int bgs_call_number(const char *name) {
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    if (strcmp(calls[i].name, name) == 0) return calls[i].number;
  return -1;
}

uint32_t bgs_call_architecture(void) { return ARCHITECTURE; }

uint32_t bgs_foreign_calls_from(void) { return FOREIGN_FROM; }
