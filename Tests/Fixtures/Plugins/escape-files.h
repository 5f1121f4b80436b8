/* SPDX-License-Identifier: Apache-2.0
 * Ways to files that are not the plugin's. Each answers 0 or an errno, and leaves nothing behind. */
#ifndef ESCAPE_FILES_H
#define ESCAPE_FILES_H

#include <dirent.h>
#include <sys/mount.h>
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
