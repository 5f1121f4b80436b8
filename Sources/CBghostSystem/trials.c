/* SPDX-License-Identifier: Apache-2.0
 *
 * Acts that a confined process must not be able to do. Each returns 0 if it succeeded, and undoes
 * it. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bghost_sandbox.h"

static int opened(int fd) {
  if (fd < 0) return errno;
  close(fd);
  return 0;
}

static int memory_of_parent(void) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/environ", (int)getppid());
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return errno;
  char byte;
  int  error = read(fd, &byte, 1) < 0 ? errno : 0;
  close(fd);
  return error;
}

static int child(void) {
  pid_t pid = fork();
  if (pid < 0) return errno;
  if (pid == 0) _exit(0);
  waitpid(pid, NULL, 0);
  return 0;
}

int bgs_writable_code(void) {
  void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page != MAP_FAILED) {
    munmap(page, 4096);
    return 0;
  }
  page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return errno;
  int error = mprotect(page, 4096, PROT_READ | PROT_EXEC) < 0 ? errno : 0;
  munmap(page, 4096);
  return error;
}

int bgs_trial(int which, const char **name) {
  static const char *const names[] = {
    "read /etc/passwd", "write below /var", "read the daemon's environment", "signal the daemon",
    "open a Unix socket", "open an internet socket", "start a process", "new namespaces",
    "mount a file system", "writable code", "unnamed memory files", "become root",
  };
  if (which < 0 || (size_t)which >= sizeof names / sizeof *names) return -1;
  *name = names[which];
  switch (which) {
    case 0: return opened(open("/etc/passwd", O_RDONLY | O_CLOEXEC));
    case 1: return opened(open("/var/tmp", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600));
    case 2: return memory_of_parent();
    case 3: return kill(getppid(), 0) < 0 ? errno : 0;
    case 4: return opened(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    case 5: return opened(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    case 6: return child();
    case 7: return unshare(CLONE_NEWUSER) < 0 ? errno : 0;
    case 8: return mount("none", "/tmp", "tmpfs", 0, "") < 0 ? errno : (umount("/tmp"), 0);
    case 9: return bgs_writable_code();
    case 10: return opened((int)syscall(SYS_memfd_create, "trial", 1u));
    default: return setresuid(0, 0, 0) < 0 ? errno : 0;
  }
}
