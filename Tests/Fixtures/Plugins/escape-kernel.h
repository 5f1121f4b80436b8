/* SPDX-License-Identifier: Apache-2.0
 * Ways to other processes, to the network and into rarely used parts of the kernel. */
#ifndef ESCAPE_KERNEL_H
#define ESCAPE_KERNEL_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "escape-files.h"

#define ACT(function) static int function(const char *path, long number)
#define IGNORED (void)path, (void)number

/* ---- sockets: the number is a port ---- */
ACT(unix_socket) {
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  (void)number;
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return errno;
  snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
  int error = result(connect(fd, (struct sockaddr *)&address, sizeof address));
  close(fd);
  return error;
}

/* Asks the daemon at the path how it is: ECONNRESET if it answers nothing. */
ACT(ask_socket) {
  static const char  question[] = "GET /v1/status HTTP/1.1\r\nHost: x\r\n\r\n";
  struct sockaddr_un address = { .sun_family = AF_UNIX };
  char               answer[16];
  (void)number;
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return errno;
  snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
  if (connect(fd, (struct sockaddr *)&address, sizeof address) != 0) return errno;
  send(fd, question, sizeof question - 1, MSG_NOSIGNAL);
  ssize_t count = recv(fd, answer, sizeof answer, 0);
  close(fd);
  return count > 0 ? 0 : ECONNRESET;
}

static int asked_by(const char *path, int is_orphan) {
  int ends[2], error = ECHILD;
  if (pipe2(ends, O_CLOEXEC) != 0) return errno;
  pid_t child = fork();
  if (child == 0) {
    pid_t parent = getpid();
    if (is_orphan) {
      setsid();
      if (fork() != 0) _exit(0);
      while (getppid() == parent) sched_yield();
    }
    error = ask_socket(path, 0);
    _exit(write(ends[1], &error, sizeof error) != sizeof error);
  }
  close(ends[1]);
  if (child > 0 && read(ends[0], &error, sizeof error) != sizeof error) error = EIO;
  close(ends[0]);
  return error;
}

/* The same by a child process, and by one whose parent has ended. */
ACT(ask_from_child) { (void)number; return asked_by(path, 0); }
ACT(ask_from_orphan) { (void)number; return asked_by(path, 1); }

static int sock(int family, int type, int protocol) {
  return opened(socket(family, type | SOCK_CLOEXEC, protocol));
}

ACT(unix_datagram) { IGNORED; return sock(AF_UNIX, SOCK_DGRAM, 0); }
ACT(udp) { IGNORED; return sock(AF_INET, SOCK_DGRAM, 0); }
ACT(raw) { IGNORED; return sock(AF_INET, SOCK_RAW, 1); }
ACT(packet) { IGNORED; return sock(17, SOCK_RAW, 0); }
ACT(netlink) { IGNORED; return sock(16, SOCK_RAW, 0); }
ACT(vsock) { IGNORED; return sock(40, SOCK_STREAM, 0); }

ACT(socket_pair) {
  int ends[2];
  IGNORED;
  if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) < 0) return errno;
  close(ends[0]);
  close(ends[1]);
  return 0;
}

ACT(tcp) {
  struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t)number) };
  (void)path;
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return errno;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int error = result(connect(fd, (struct sockaddr *)&address, sizeof address));
  close(fd);
  return error;
}

/* ---- processes: the number is one ---- */
ACT(trace) {
  (void)path;
  if (ptrace(PTRACE_SEIZE, number, 0, 0) < 0) return errno;
  ptrace(PTRACE_DETACH, number, 0, 0);
  return 0;
}

ACT(read_memory) {
  char         byte;
  struct iovec here = { &byte, 1 }, there = { (void *)(uintptr_t)&read_memory, 1 };
  (void)path;
  int error = result(process_vm_readv((pid_t)number, &here, 1, &there, 1, 0));
  /* It may, and has nothing there. */
  return error == EFAULT ? 0 : error;
}

ACT(signal_process) { (void)path; return result(kill((pid_t)number, 0)); }
ACT(signal_thread) { (void)path; return result(syscall(SYS_tgkill, number, number, 0)); }

ACT(take_descriptor) {
  (void)path;
  int process = (int)syscall(SYS_pidfd_open, number, 0);
  if (process < 0) return errno;
  int error = opened((int)syscall(SYS_pidfd_getfd, process, 0, 0));
  close(process);
  return error;
}

ACT(limit_process) {
  struct rlimit limit;
  (void)path;
  return result(prlimit((pid_t)number, RLIMIT_NOFILE, 0, &limit));
}

ACT(slow_process) { (void)path; return result(setpriority(PRIO_PROCESS, (id_t)number, 0)); }

ACT(owned_by_process) {
  int ends[2];
  (void)path;
  if (pipe(ends) < 0) return errno;
  int error = result(fcntl(ends[0], F_SETOWN, (int)number));
  close(ends[0]);
  close(ends[1]);
  return error;
}

static int waited(pid_t child) {
  int status = 0;
  if (child < 0) return errno;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

ACT(start_process) {
  IGNORED;
  pid_t child = fork();
  if (child == 0) _exit(0);
  return waited(child);
}

ACT(sibling) {
  IGNORED;
  pid_t child = (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
  if (child == 0) _exit(0);
  return child < 0 ? errno : 0;
}

ACT(start_program) {
  (void)number;
  pid_t child = fork();
  if (child == 0) {
    execl(path, path, (char *)0);
    _exit(errno);
  }
  return waited(child);
}

/* A program is a file that the dynamic loader, which any program needs, can map as code. */
ACT(load_program) {
  (void)number;
  pid_t child = fork();
  if (child == 0) {
#ifdef __x86_64__
    const char *loader = "/lib64/ld-linux-x86-64.so.2";
#else
    const char *loader = "/lib/ld-linux-aarch64.so.1";
#endif
    execl(loader, loader, path, (char *)0);
    _exit(errno);
  }
  return waited(child);
}

ACT(become_program) {
  char *const none[] = { 0 };
  (void)path, (void)number;
  /* Not there: it is the call that counts. */
  int error = result(execve("/nonexistent", none, none));
  return error == ENOENT ? 0 : error;
}

/* ---- parts of the kernel ---- */
ACT(namespaces) { IGNORED; return result(unshare(CLONE_NEWUTS)); }
ACT(user_namespace) {
  IGNORED;
  pid_t child = (pid_t)syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
  if (child == 0) _exit(0);
  return waited(child);
}
/* Open files of a table that is not the first thread's are not seen in /proc/PID/fd. */
static void *unshare_table(void *error) {
  *(int *)error = result(syscall(SYS_close_range, ~0u - 1, ~0u, 2u));
  return error;
}
ACT(unshared_table) {
  IGNORED;
  pthread_t thread;
  int       refusal = 0, error = pthread_create(&thread, 0, unshare_table, &refusal);
  if (error) return error;
  pthread_join(thread, 0);
  return refusal;
}
ACT(thread_of_own_table) {
  IGNORED;
  /* The kernel refuses a thread without CLONE_VM after the filter has answered, so none is made. */
  int error = result(syscall(SYS_clone, CLONE_THREAD | CLONE_SIGHAND, 0, 0, 0, 0));
  return error == EINVAL ? 0 : error;
}
ACT(enter_namespace) {
  IGNORED;
  int fd = open("/proc/self/ns/uts", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return errno;
  int error = result(setns(fd, 0));
  close(fd);
  return error;
}
ACT(memory_file) { IGNORED; return opened((int)syscall(SYS_memfd_create, "escape", 1u)); }
ACT(shared_memory) {
  IGNORED;
  int id = shmget(IPC_PRIVATE, 4096, 0600);
  if (id < 0) return errno;
  shmctl(id, IPC_RMID, 0);
  return 0;
}
ACT(shared_pages) {
  IGNORED;
  void *page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return errno;
  munmap(page, 4096);
  return 0;
}
ACT(shared_device) {
  IGNORED;
  int fd = open("/dev/zero", O_RDWR | O_CLOEXEC);
  if (fd < 0) return errno;
  void *page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  int   error = page == MAP_FAILED ? errno : 0;
  if (!error) munmap(page, 4096);
  close(fd);
  return error;
}
/* Neither the size of a process nor a control group shows pages of the machine's pool; here it has none. */
ACT(huge_pages) {
  IGNORED;
  void *page = mmap(0, 2 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
  if (page == MAP_FAILED) return errno == ENOMEM ? 0 : errno;
  munmap(page, 2 << 20);
  return 0;
}
ACT(secret_memory) { IGNORED; return opened((int)syscall(447, O_CLOEXEC)); }
ACT(semaphores) {
  IGNORED;
  int id = semget(IPC_PRIVATE, 1, 0600);
  if (id < 0) return errno;
  semctl(id, 0, IPC_RMID);
  return 0;
}
ACT(messages) {
  IGNORED;
  int id = msgget(IPC_PRIVATE, 0600);
  if (id < 0) return errno;
  msgctl(id, IPC_RMID, 0);
  return 0;
}
ACT(message_queue) {
  IGNORED;
  int error = opened((int)syscall(SYS_mq_open, "bghost-escape", O_RDWR | O_CREAT | O_CLOEXEC, 0600, 0));
  if (!error) syscall(SYS_mq_unlink, "bghost-escape");
  return error;
}
/* The kernel's memory behind a pipe: 64 KiB, unless it is made larger or is lent pages. */
static int with_pipe(int (*act)(int end)) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) < 0) return errno;
  int error = act(ends[1]);
  close(ends[0]);
  close(ends[1]);
  return error;
}
static int enlarge(int end) { return result(fcntl(end, F_SETPIPE_SZ, 1 << 20)); }
static int lend(int end) {
  static char  page[4096];
  struct iovec part = { page, sizeof page };
  return vmsplice(end, &part, 1, 0) < 0 ? errno : 0;
}
ACT(pipe_size) { IGNORED; return with_pipe(enlarge); }
ACT(lent_pages) { IGNORED; return with_pipe(lend); }
ACT(own_memory) { IGNORED; return opened(open("/proc/self/mem", O_RDWR | O_CLOEXEC)); }
ACT(terminal) { IGNORED; return opened(open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)); }
ACT(add_key) { IGNORED; return result(syscall(SYS_add_key, "user", "escape", "x", 1, -2)); }
ACT(performance) {
  char attributes[64] = { 0 };
  IGNORED;
  return opened((int)syscall(SYS_perf_event_open, attributes, 0, -1, -1, 0));
}
ACT(watch_mounts) { IGNORED; return opened((int)syscall(SYS_fanotify_init, 0, O_RDONLY)); }
ACT(io_uring) {
  char parameters[256] = { 0 };
  IGNORED;
  return opened((int)syscall(425, 1, parameters));
}
ACT(bpf) {
  char attributes[64] = { 2, 0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 1 };
  IGNORED;
  return opened((int)syscall(SYS_bpf, 0, attributes, 48));
}
ACT(page_faults) { IGNORED; return opened((int)syscall(SYS_userfaultfd, O_CLOEXEC | 1)); }
ACT(keyring) { IGNORED; return result(syscall(SYS_keyctl, 0, -3, 1)); }
ACT(persona) { IGNORED; return result(syscall(SYS_personality, 0xffffffffu)); }
ACT(host_name) { IGNORED; return result(sethostname("escape", 0)); }
ACT(become_root) { IGNORED; return result(setresuid(0, 0, 0)); }
ACT(writable_code) {
  IGNORED;
  void *page = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return errno;
  munmap(page, 4096);
  return 0;
}
ACT(code_of_data) {
  IGNORED;
  void *page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return errno;
  int error = result(mprotect(page, 4096, PROT_READ | PROT_EXEC));
  munmap(page, 4096);
  return error;
}
ACT(code_of_file) {
  (void)number;
  int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return errno;
  int error = result(ftruncate(fd, 4096));
  if (!error) {
    void *page = mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
    if (page == MAP_FAILED) error = errno;
    else munmap(page, 4096);
  }
  close(fd);
  unlink(path);
  return error;
}
ACT(call_of_32_bits) {
  long answer = -ENOSYS;
  IGNORED;
#if defined(__x86_64__)
  __asm__ volatile("int $0x80" : "=a"(answer) : "a"(20L) : "memory", "r8", "r9", "r10", "r11");
#endif
  return answer < 0 ? (int)-answer : 0;
}
ACT(call_of_x32) { IGNORED; return result(syscall(0x40000000 + 39)); }

/* ---- what every plugin may ---- */
ACT(own_signal) { IGNORED; return result(kill(getpid(), 0)); }
static void *nothing(void *argument) { return argument; }
ACT(own_thread) {
  pthread_t thread;
  IGNORED;
  int error = pthread_create(&thread, 0, nothing, 0);
  if (error == 0) pthread_join(thread, 0);
  return error;
}

#endif
