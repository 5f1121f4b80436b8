/* SPDX-License-Identifier: Apache-2.0
 *
 * Namespaces and mounts. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bghost_sandbox.h"

#define OPEN_TREE 428
#define MOVE_MOUNT 429
#define MOUNT_SETATTR 442
#define TREE_CLONE 1u
#define RECURSIVE 0x8000u
#define EMPTY_PATH 0x1000u
#define MOVE_FROM_EMPTY_PATH 4u
#define MOVE_TO_EMPTY_PATH 0x40u
#define ATTRIBUTE_ID_MAP 0x100000u

int bgs_unshare(int what) { return unshare(what) < 0 ? -errno : 0; }

int bgs_join_network(int fd) { return setns(fd, CLONE_NEWNET) < 0 ? -errno : 0; }

static int write_all(const char *path, const char *text) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return -errno;
  int error = write(fd, text, strlen(text)) < 0 ? -errno : 0;
  close(fd);
  return error;
}

int bgs_keep_user(uid_t user, gid_t group) {
  char line[64];
  /* Without this, the kernel does not let an unprivileged process map groups: the process could
   * otherwise drop a group that denies it access. */
  int error = write_all("/proc/self/setgroups", "deny");
  if (error < 0) return error;
  snprintf(line, sizeof line, "%u %u 1", user, user);
  error = write_all("/proc/self/uid_map", line);
  if (error < 0) return error;
  snprintf(line, sizeof line, "%u %u 1", group, group);
  return write_all("/proc/self/gid_map", line);
}

/* Waits until the parent closes the other end or dies. It shares the parent's memory including
 * errno, so it makes no other calls, and none that could fail. */
static int wait_for_end(void *argument) {
  const int *ends = argument;
  char       nothing;
  close(ends[1]);
  (void)!read(ends[0], &nothing, 1);
  _exit(0);
}

static int map_owners(pid_t child, uint32_t id) {
  char path[64], lines[128];
  snprintf(lines, sizeof lines, "0 %u 1\n1 1 %u\n%u %u %u\n", id, id - 1, id + 1, id + 1,
           0xFFFFFFFEu - id);
  snprintf(path, sizeof path, "/proc/%d/uid_map", (int)child);
  int error = write_all(path, lines);
  if (error < 0) return error;
  snprintf(path, sizeof path, "/proc/%d/gid_map", (int)child);
  error = write_all(path, lines);
  if (error < 0) return error;
  snprintf(path, sizeof path, "/proc/%d/ns/user", (int)child);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  return fd < 0 ? -errno : fd;
}

int bgs_owner_map(uint32_t id) {
  static const size_t stack_bytes = 4096 * 4;
  char stack[4096 * 4] __attribute__((aligned(16)));
  int ends[2];
  if (id < 2 || id > 0xFFFFFFF0u) return -EINVAL;
  if (pipe2(ends, O_CLOEXEC) < 0) return -errno;
  /* CLONE_VM avoids copying a large daemon's memory map. Without a signal at its end only __WCLONE waits for it, so
   * that who looks for orphans can neither take it for one nor collect it. */
  pid_t child = clone(wait_for_end, stack + stack_bytes, CLONE_VM | CLONE_NEWUSER, ends);
  int result = child < 0 ? -errno : map_owners(child, id);
  if (child > 0) {
    kill(child, SIGKILL);
    while (waitpid(child, NULL, __WCLONE) < 0 && errno == EINTR) continue;
  }
  close(ends[0]);
  close(ends[1]);
  return result;
}

int bgs_mounts_private(void) {
  return mount("", "/", "", MS_REC | MS_PRIVATE, "") < 0 ? -errno : 0;
}

int bgs_mount_memory(const char *where, uint64_t bytes, int holds_code) {
  char options[96];
  snprintf(options, sizeof options, "mode=0755,size=%llu,nr_inodes=4096",
           (unsigned long long)bytes);
  unsigned long flags = MS_NOSUID | MS_NODEV | (holds_code ? 0 : MS_NOEXEC);
  return mount("tmpfs", where, "tmpfs", flags, options) < 0 ? -errno : 0;
}

int bgs_mount_processes(const char *where) {
  return mount("proc", where, "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, "hidepid=2,subset=pid") < 0
             ? -errno
             : 0;
}

int bgs_tree_copy(const char *path) {
  long fd = syscall(OPEN_TREE, AT_FDCWD, path, TREE_CLONE | RECURSIVE | (unsigned)O_CLOEXEC);
  return fd < 0 ? -errno : (int)fd;
}

int bgs_tree_copy_of(int place) {
  unsigned flags = TREE_CLONE | RECURSIVE | EMPTY_PATH | (unsigned)O_CLOEXEC;
  long     fd = syscall(OPEN_TREE, place, "", flags);
  return fd < 0 ? -errno : (int)fd;
}

static int set_attributes(int tree, uint64_t attributes, uint64_t owners) {
  uint64_t change[4] = { attributes, 0, 0, owners };
  return syscall(MOUNT_SETATTR, tree, "", EMPTY_PATH | RECURSIVE, change, sizeof change) < 0 ? -errno
                                                                                           : 0;
}

int bgs_tree_restrict(int tree, uint64_t attributes) { return set_attributes(tree, attributes, 0); }

int bgs_tree_map_owners(int tree, int owners) {
  return set_attributes(tree, ATTRIBUTE_ID_MAP, (uint64_t)owners);
}

int bgs_tree_attach(int tree, const char *where) {
  return syscall(MOVE_MOUNT, tree, "", AT_FDCWD, where, MOVE_FROM_EMPTY_PATH) < 0 ? -errno : 0;
}

int bgs_tree_attach_at(int tree, int place) {
  unsigned flags = MOVE_FROM_EMPTY_PATH | MOVE_TO_EMPTY_PATH;
  return syscall(MOVE_MOUNT, tree, "", place, "", flags) < 0 ? -errno : 0;
}

int bgs_enter_root(const char *where) {
  if (chdir(where) < 0) return -errno;
  /* Both roots are stacked on the same folder, so none is needed for the old one, which is then
   * detached. */
  if (syscall(SYS_pivot_root, ".", ".") < 0) return -errno;
  if (umount2(".", MNT_DETACH) < 0) return -errno;
  return chdir("/") < 0 ? -errno : 0;
}

int bgs_unmount(const char *where) { return umount2(where, MNT_DETACH) < 0 ? -errno : 0; }
