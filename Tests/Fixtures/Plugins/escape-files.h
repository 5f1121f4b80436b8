/* SPDX-License-Identifier: Apache-2.0
 * Ways to files that are not the plugin's. Each answers 0 or an errno, and leaves nothing behind. */
#ifndef ESCAPE_FILES_H
#define ESCAPE_FILES_H

#include <dirent.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/xattr.h>

#include "misbehave.h"

static int result(long answer) { return answer < 0 ? errno : 0; }

static int opened(int fd) {
  if (fd < 0) return errno;
  close(fd);
  return 0;
}

static int read_file(const char *path, long number) {
  (void)number;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return errno;
  char byte;
  int  error = result(read(fd, &byte, 1));
  close(fd);
  return error;
}

static int list_folder(const char *path, long number) {
  (void)number;
  DIR *folder = opendir(path);
  if (folder == 0) return errno;
  closedir(folder);
  return 0;
}

static int write_file(const char *path, long number) {
  (void)number;
  int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return errno;
  int error = result(write(fd, "x", 1));
  close(fd);
  return error;
}

/* From the folder that it may use upwards. */
static int climb(const char *path, long number) {
  (void)number;
  char up[4096];
  snprintf(up, sizeof up, "../../../../../../../../../..%s", path);
  int folder = open(getenv("HOME"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return errno;
  int error = opened(openat(folder, up, O_RDONLY | O_CLOEXEC));
  close(folder);
  return error;
}

static int of_process(long number, const char *name, int flags) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%ld/%s", number, name);
  return opened(open(path, flags | O_CLOEXEC));
}

static int process_memory(const char *path, long number) {
  (void)path;
  return of_process(number, "mem", O_RDWR);
}

static int process_environment(const char *path, long number) {
  (void)path;
  return of_process(number, "environ", O_RDONLY);
}

static int process_descriptors(const char *path, long number) {
  (void)path;
  return of_process(number, "fd", O_RDONLY | O_DIRECTORY);
}

static int own_program(const char *path, long number) {
  (void)path, (void)number;
  return opened(open("/proc/self/exe", O_WRONLY | O_CLOEXEC));
}

static int change_mode(const char *path, long number) {
  (void)number;
  return result(chmod(path, 0644));
}

/* A place in its own folder, which it may write. */
static const char *own_place(void) {
  static char path[4096];
  snprintf(path, sizeof path, "%s/set-id", getenv("HOME"));
  return path;
}

/* 0 only if the file has one of the bits; "without" is no errno of any of these calls. */
static int has_set_id(const char *path) {
  struct stat status;
  if (stat(path, &status) < 0) return errno;
  return status.st_mode & 06000 ? 0 : EXFULL;
}

static int set_id_of(int (*change)(const char *path, int fd), const char *path) {
  int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return errno;
  int error = change(path, fd);
  if (!error) error = has_set_id(path);
  close(fd);
  unlink(path);
  return error;
}

static int by_chmod(const char *path, int fd) { return (void)fd, result(chmod(path, 04755)); }
static int by_fchmod(const char *path, int fd) { return (void)path, result(fchmod(fd, 02755)); }
static int by_fchmodat(const char *path, int fd) {
  return (void)fd, result(fchmodat(AT_FDCWD, path, 06755, 0));
}
static int by_fchmodat2(const char *path, int fd) {
  return (void)fd, result(syscall(452, AT_FDCWD, path, 04755, 0));
}

#define SET_ID(name)                                                                               \
  static int set_id_##name(const char *path, long number) {                                        \
    (void)path, (void)number;                                                                      \
    return set_id_of(by_##name, own_place());                                                      \
  }
SET_ID(chmod)
SET_ID(fchmod)
SET_ID(fchmodat)
SET_ID(fchmodat2)

static int made_with_set_id(int fd) {
  if (fd < 0) return errno;
  int error = has_set_id(own_place());
  close(fd);
  unlink(own_place());
  return error;
}

static int set_id_creat(const char *path, long number) {
  (void)path, (void)number;
  return made_with_set_id(creat(own_place(), 06700));
}

static int set_id_open(const char *path, long number) {
  (void)path, (void)number;
  return made_with_set_id((int)syscall(SYS_openat, AT_FDCWD, own_place(), O_WRONLY | O_CREAT, 04700));
}

static int set_id_unnamed(const char *path, long number) {
  struct stat status;
  (void)path, (void)number;
  int fd = open(getenv("HOME"), O_TMPFILE | O_WRONLY | O_CLOEXEC, 04700);
  if (fd < 0) return errno;
  int error = fstat(fd, &status) < 0 ? errno : status.st_mode & 06000 ? 0 : EXFULL;
  close(fd);
  return error;
}

static int set_id_in_memory(const char *path, long number) {
  struct open_how how = { O_WRONLY | O_CREAT, 04700, 0 };
  (void)path, (void)number;
  return made_with_set_id((int)syscall(SYS_openat2, AT_FDCWD, own_place(), &how, sizeof how));
}

/* The kernel takes the bit away from a new folder, so that it is made is all that there is to see. */
static int set_id_folder(const char *path, long number) {
  (void)path, (void)number;
  int error = result(mkdir(own_place(), 02755));
  rmdir(own_place());
  return error;
}

static int made_node(mode_t type) {
  if (mknod(own_place(), type | 04700, 0) < 0) return errno;
  int error = has_set_id(own_place());
  unlink(own_place());
  return error;
}

static int set_id_node(const char *path, long number) { return (void)path, (void)number, made_node(S_IFREG); }
static int set_id_fifo(const char *path, long number) { return (void)path, (void)number, made_node(S_IFIFO); }

/* A file by its handle could be one that no path of the sandbox leads to: it is the call that counts. */
static int file_handle(const char *path, long number) {
  (void)path, (void)number;
  int error = opened((int)syscall(SYS_open_by_handle_at, AT_FDCWD, (void *)0, O_RDONLY));
  return error == EFAULT ? 0 : error;
}

/* A lease holds up others that open the file. */
static int lease(const char *path, long number) {
  (void)path, (void)number;
  int fd = open(own_place(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return errno;
  int error = result(fcntl(fd, F_SETLEASE, F_WRLCK));
  close(fd);
  unlink(own_place());
  return error;
}

static int by_capability(const char *path, int fd) {
  /* vfs_cap_data of version 2: CAP_SETUID, effective at once */
  static const uint32_t data[5] = { 0x02000001, 1 << 7, 0, 0, 0 };
  (void)fd;
  return result(setxattr(path, "security.capability", data, sizeof data, 0));
}

static int set_capability(const char *path, long number) {
  (void)path, (void)number;
  int fd = open(own_place(), O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
  if (fd < 0) return errno;
  int error = by_capability(own_place(), fd);
  close(fd);
  unlink(own_place());
  return error;
}

static int preallocate(const char *path, long number) {
  (void)path, (void)number;
  int fd = open(own_place(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return errno;
  int error = result(fallocate(fd, 0, 0, 1 << 20));
  close(fd);
  unlink(own_place());
  return error;
}

static int change_attribute(const char *path, long number) {
  (void)number;
  return result(setxattr(path, "user.escape", "x", 1, 0));
}

static int cut_off(const char *path, long number) {
  struct stat status;
  (void)number;
  /* Where it ends already, so that nothing is lost if nothing stops it. */
  return result(truncate(path, stat(path, &status) == 0 ? status.st_size : 0));
}

static int change_times(const char *path, long number) {
  (void)number;
  return result(utimensat(AT_FDCWD, path, 0, 0));
}

static int mount_memory(const char *path, long number) {
  (void)number;
  if (mount("none", path, "tmpfs", 0, "size=4096") < 0) return errno;
  umount(path);
  return 0;
}

static int change_root(const char *path, long number) {
  (void)path, (void)number;
  return result(chroot("/"));
}

#endif
