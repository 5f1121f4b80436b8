/* SPDX-License-Identifier: Apache-2.0
 *
 * System calls and macros that Swift cannot use. No policy: each function does one thing and
 * returns what the kernel returns, except that an error is a negative errno value as the result. */
#ifndef BGHOST_SYSTEM_H
#define BGHOST_SYSTEM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bghost_crash.h"
#include "bghost_output.h"

/* ---- arguments ---- */
/* The only argument of this program, a number above 0; 0 if there is none, or another one, or more.
 *
 * Swift's `CommandLine.arguments` makes types and strings, for 2 % of the processor time of a
 * worker's start. */
int bgs_only_argument(void);

/* ---- epoll ---- */
struct bgs_ready {
  uint64_t token;
  uint32_t events;
  uint32_t reserved;
};
#define BGS_IN 0x001u
#define BGS_OUT 0x004u
#define BGS_ERROR 0x008u
#define BGS_HANGUP 0x010u
/* Told once for each event, not as long as the descriptor is ready. */
#define BGS_EDGE 0x80000000u

int bgs_epoll_create(void);
int bgs_epoll_add(int epoll, int fd, uint32_t events, uint64_t token);
int bgs_epoll_remove(int epoll, int fd);
/* Waits at most timeout_ns, or for ever if it is negative. Returns the number of ready descriptors;
 * 0 also after a signal. */
int bgs_epoll_wait(int epoll, struct bgs_ready *ready, int capacity, int64_t timeout_ns);

int bgs_eventfd(void);
int bgs_eventfd_signal(int fd);
int bgs_eventfd_drain(int fd);
/* A descriptor that is readable once the wall clock has been set; arm it again after that. */
int bgs_clock_watch(void);
int bgs_clock_watch_arm(int fd);
/* A descriptor that is readable once a time has passed on the monotonic clock, which stands still while the
 * machine sleeps; first and then each period. 0 stops it, and a period of 0 is none. */
int bgs_timer(void);
int bgs_timer_arm(int fd, uint64_t first_ns, uint64_t period_ns);
int bgs_timer_drain(int fd);
/* 1 if the wall clock is synchronised, 0 if it is not, a negative errno if the kernel does not
 * report it. */
int bgs_clock_is_kept(void);

/* ---- time ----
 * Swift reads no `struct timespec`: the compiler takes it for a type of Glibc or of a module that cannot be
 * imported, whichever it happens to read first, and refuses its fields in some builds. */
uint64_t bgs_monotonic_ns(void);
/* The same clock as of the last tick, a few milliseconds ago, without reading the hardware. */
uint64_t bgs_monotonic_coarse_ns(void);
int64_t bgs_realtime_ns(void);
/* Nanoseconds since the machine started, also those that it slept; -1 if the kernel does not report them. */
int64_t bgs_uptime_ns(void);
/* The processor time of the calling process and of the calling thread. */
uint64_t bgs_process_cpu_ns(void);
uint64_t bgs_thread_cpu_ns(void);
/* Waits for a `pthread_cond_t` of the monotonic clock, with its `pthread_mutex_t` locked; 0 if it was
 * signalled, an errno after the deadline. */
int bgs_condition_wait(void *condition, void *mutex, uint64_t deadline_ns);
/* Takes a `sem_t` within so many seconds of the monotonic clock; 0, or -ETIMEDOUT. */
int bgs_semaphore_wait(void *semaphore, uint32_t seconds);
/* Lets timers of the calling thread fire without the default slack of 50 us. */
void bgs_timer_slack_min(void);

/* ---- processes ---- */
struct bgs_spawn {
  const char *path;
  char *const *argv;
  char *const *envp;
  const int *fds; /* become 0, 1, 2 ... in the child; none may be below n_fds */
  int n_fds;
  int keeps_group; /* 0: it leads a process group of its own; 1: it stays in the caller's */
};
/* Starts a program with default signal handlers and no blocked signals. Blocks until the child has called
 * exec. Returns the pid. */
pid_t bgs_spawn_process(const struct bgs_spawn *what);
int bgs_pidfd_open(pid_t pid);
int bgs_pidfd_signal(int pidfd, int signal);

struct bgs_exit {
  int32_t exited;  /* 1: `code` is an exit code; 0: it is a signal */
  int32_t code;
  int64_t cpu_ns;
  int64_t peak_bytes; /* at least bgs_own_peak_bytes() of its parent when that started it */
};
/* Whether a process has ended: 1 if so, with how in `out`; 0 if it is alive. It is not reaped. */
int bgs_exit_of(int pidfd, struct bgs_exit *out);
/* The peak resident memory of this process, bytes. */
int64_t bgs_own_peak_bytes(void);
/* Reaps a child without waiting: 1 if it was reaped, 0 if it is still alive. */
int bgs_collect(pid_t pid);
/* Makes the kernel send SIGKILL to this process when the thread that spawned it ends. */
int bgs_die_with_parent(void);
int bgs_become_subreaper(void);
int bgs_close_from(int first);
/* Gives a thread of this process, or another process, SCHED_FIFO priority 1; needs CAP_SYS_NICE. */
int bgs_realtime(pid_t id);
/* Restores normal scheduling for the calling thread. */
int bgs_not_realtime(void);
void bgs_name_thread(const char *name);
pid_t bgs_thread_id(void);

/* ---- processor time of another process ---- */
int bgs_cpu_ns(pid_t pid, int64_t *out);
/* A timer that signals the thread `tid` of this process each time `pid` has used another
 * `period_ns` of processor time. */
int bgs_cpu_timer(pid_t pid, pid_t tid, int signal, int value, int64_t period_ns, void **timer);
void bgs_cpu_timer_delete(void *timer);
/* Blocks `signal` in the calling thread and opens a descriptor for it. */
int bgs_signalfd(int signal);
/* Reads the values of the timers that have fired; returns how many were written to `values`. */
int bgs_signalfd_read(int fd, int *values, int capacity);
int bgs_cpu_timer_signal(void);

/* ---- sockets ---- */
int bgs_packet_pair(int fds[2]);
/* Makes the kernel return EPERM to a sender of descriptors to this end; since Linux 6.16. */
void bgs_refuse_descriptors(int fd);
ssize_t bgs_send(int fd, const void *bytes, size_t count, int wait);
/* Receives one packet. Returns its length, 0 at the end, or -EMSGSIZE if it is longer than
 * `capacity`. The kernel closes descriptors in the packet. */
ssize_t bgs_receive(int fd, void *bytes, size_t capacity, int wait);
int bgs_peer(int fd, uid_t *uid, pid_t *pid);

/* ---- limits of this process; soft and hard ---- */
#define BGS_LIMIT_CORE 0
#define BGS_LIMIT_DESCRIPTORS 1
#define BGS_LIMIT_PROCESSES 2
#define BGS_LIMIT_CPU 3
#define BGS_LIMIT_ADDRESS_SPACE 4
int bgs_limit(int which, uint64_t value);
/* Sets the file size limit of a process and its future children. Returns 0 or -errno. */
int bgs_limit_file_size(int pid, uint64_t bytes);

/* ---- files ---- */
/* A pipe with a non-blocking reading end. */
int bgs_pipe(int fds[2]);
int bgs_memory_file(const char *name);
// A memory file whose content may be mapped as code.
int bgs_library_file(const char *name);
int bgs_seal(int fd);
/* Waits for the lock at most wait_ms. Returns the descriptor or a negative error number. */
int bgs_lock_file(const char *path, int64_t wait_ms);
/* Opens a path below a folder for reading; it cannot lead out of the folder. Never blocks on a
 * FIFO. */
int bgs_open_beneath(int folder, const char *path);
/* Opens a path, absolute or below a folder; -ELOOP if any part of it is a link. */
int bgs_open_without_links(int folder, const char *path, int flags);
/* Whether the file of a descriptor lies on ext2, ext3 or ext4, which one number denotes: 1 or 0. */
int bgs_is_on_ext(int file);
/* Whether a program has file capabilities. It follows links. */
int bgs_has_capabilities(const char *path);
/* Takes them away. Returns 0, also if there are none, or a negative errno. */
int bgs_remove_capabilities(const char *path);
/* Whether any memory of this machine is in swap. */
int bgs_uses_swap(void);

#endif
