/* SPDX-License-Identifier: Apache-2.0
 *
 * System calls and macros that Swift cannot see. No policy: each function does one thing and answers
 * as the kernel does, except that errors are negative errno values and never set errno alone. */
#ifndef BGHOST_SYSTEM_H
#define BGHOST_SYSTEM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

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

int bgs_epoll_create(void);
int bgs_epoll_add(int epoll, int fd, uint32_t events, uint64_t token);
int bgs_epoll_modify(int epoll, int fd, uint32_t events, uint64_t token);
int bgs_epoll_remove(int epoll, int fd);
/* Waits at most timeout_ns, for ever if it is negative. Returns how many are ready; 0 also after a
 * signal. */
int bgs_epoll_wait(int epoll, struct bgs_ready *ready, int capacity, int64_t timeout_ns);

int bgs_eventfd(void);
int bgs_eventfd_signal(int fd);
int bgs_eventfd_drain(int fd);
/* A descriptor that is readable once somebody has set the wall clock; arm it again then. */
int bgs_clock_watch(void);
int bgs_clock_watch_arm(int fd);
/* 1 if somebody keeps the wall clock right, 0 if nobody does, a negative errno if the kernel does not
 * tell. */
int bgs_clock_is_kept(void);

/* ---- time ---- */
uint64_t bgs_monotonic_ns(void);
int64_t bgs_realtime_ns(void);
/* Lets timers of the calling thread fire without the default slack of 50 us. */
void bgs_timer_slack_min(void);

/* ---- processes ---- */
struct bgs_spawn {
  const char *path;
  char *const *argv;
  char *const *envp;
  const int *fds; /* becomes 0, 1, 2 ... in the child; none may be below n_fds */
  int n_fds;
};
/* Starts a program as the leader of a process group of its own, with default signal handlers and
 * nothing blocked. Blocks until the child has called exec. Returns the pid. */
pid_t bgs_spawn_process(const struct bgs_spawn *what);
int bgs_pidfd_open(pid_t pid);
int bgs_pidfd_signal(int pidfd, int signal);

struct bgs_exit {
  int32_t exited;  /* 1: `code` is an exit code; 0: it is a signal */
  int32_t code;
  int64_t cpu_ns;
  int64_t peak_bytes; /* at least bgs_own_peak_bytes() of its parent when that started it */
};
/* How a process ended: 1 it has, 0 it is still alive. It stays to be collected. */
int bgs_exit_of(int pidfd, struct bgs_exit *out);
/* The most memory that this process has had. */
int64_t bgs_own_peak_bytes(void);
/* Collects a child that has ended, without waiting: 1 collected, 0 still alive. */
int bgs_collect(pid_t pid);
/* Dies by SIGKILL when the thread that spawned this process ends. */
int bgs_die_with_parent(void);
int bgs_become_subreaper(void);
int bgs_close_from(int first);
/* SCHED_FIFO 1 for a thread of this process or for another process: needs CAP_SYS_NICE. */
int bgs_realtime(pid_t id);
/* Undoes it for the calling thread. */
int bgs_not_realtime(void);
void bgs_name_thread(const char *name);
pid_t bgs_thread_id(void);

/* ---- processor time of another process ---- */
int bgs_cpu_ns(pid_t pid, int64_t *out);
/* A timer that signals the thread `tid` of this process each time `pid` has used `period_ns` more. */
int bgs_cpu_timer(pid_t pid, pid_t tid, int signal, int value, int64_t period_ns, void **timer);
void bgs_cpu_timer_delete(void *timer);
/* Blocks `signal` in the calling thread and opens a descriptor for it. */
int bgs_signalfd(int signal);
/* The values of the timers that have fired: how many were written to `values`. */
int bgs_signalfd_read(int fd, int *values, int capacity);
int bgs_cpu_timer_signal(void);

/* ---- sockets ---- */
int bgs_packet_pair(int fds[2]);
/* Has the kernel answer whoever sends descriptors to this end with EPERM; since Linux 6.16. */
void bgs_refuse_descriptors(int fd);
ssize_t bgs_send(int fd, const void *bytes, size_t count, int wait);
ssize_t bgs_send_descriptor(int fd, const void *bytes, size_t count, int descriptor);
/* One packet. A longer one than `capacity` answers -EMSGSIZE. Descriptors that come along are
 * refused unless `descriptor` is given. 0 is the end. */
ssize_t bgs_receive(int fd, void *bytes, size_t capacity, int wait, int *descriptor);
int bgs_peer(int fd, uid_t *uid, pid_t *pid);

/* ---- limits of this process; soft and hard ---- */
#define BGS_LIMIT_CORE 0
#define BGS_LIMIT_DESCRIPTORS 1
#define BGS_LIMIT_PROCESSES 2
#define BGS_LIMIT_CPU 3
#define BGS_LIMIT_ADDRESS_SPACE 4
int bgs_limit(int which, uint64_t value);
/* How large the files of a process and of what it starts may become. Returns 0 or -errno. */
int bgs_limit_file_size(int pid, uint64_t bytes);

/* ---- files ---- */
/* A pipe; its reading end does not wait. */
int bgs_pipe(int fds[2]);
int bgs_memory_file(const char *name);
// The same for one whose content may be mapped as code.
int bgs_library_file(const char *name);
int bgs_seal(int fd);
int bgs_lock_file(const char *path);
/* Opens a path for reading; nothing in it can lead out of the folder. Never blocks on a FIFO. */
int bgs_open_beneath(int folder, const char *path);

#endif
