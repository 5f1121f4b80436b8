/* SPDX-License-Identifier: Apache-2.0
 *
 * Paths on which no link is followed. */
#include "bghost_system.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* 1 if this is a link. */
static int is_link(int folder, const char *name) {
  struct stat status;
  return fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) == 0 && S_ISLNK(status.st_mode);
}

/* The next part of the path; takes `folder` over. */
static int open_part(int folder, const char *name, int flags) {
  int fd = openat(folder, name, flags | O_NOFOLLOW | O_CLOEXEC);
  int error = fd < 0 ? -errno : 0;
  /* With O_PATH a link is opened itself, and with O_DIRECTORY it is no folder. */
  if (fd >= 0 ? is_link(fd, "") : error == -ENOTDIR && is_link(folder, name)) error = -ELOOP;
  if (error < 0 && fd >= 0) close(fd);
  close(folder);
  return error < 0 ? error : fd;
}

/* The same as openat2 with RESOLVE_NO_SYMLINKS, where a kernel or a container does not have that. */
static int open_parts(int start, const char *path, int flags) {
  char name[NAME_MAX + 1];
  int  fd = openat(start, *path == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return -errno;
  for (;;) {
    path += strspn(path, "/");
    size_t length = strcspn(path, "/");
    if (length == 0) return open_part(fd, ".", flags);
    if (length > NAME_MAX) {
      close(fd);
      return -ENAMETOOLONG;
    }
    memcpy(name, path, length);
    name[length] = 0;
    path += length;
    if (*path == 0) return open_part(fd, name, flags);
    fd = open_part(fd, name, O_PATH | O_DIRECTORY);
    if (fd < 0) return fd;
  }
}

int bgs_open_without_links(int folder, const char *path, int flags) {
  struct open_how how = {.flags = (uint64_t)(unsigned)flags | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS};
  int fd = (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
  if (fd >= 0) return fd;
  return errno == ENOSYS || errno == EPERM ? open_parts(folder, path, flags) : -errno;
}
