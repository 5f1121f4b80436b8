/* SPDX-License-Identifier: Apache-2.0 */
#include "bghost_facts.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

_Static_assert(BGS_PRIORITY == EPOLLPRI, "readiness");

int bgs_pressure_trigger(const char *path, const char *trigger) {
  int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return -errno;
  /* The kernel requires the terminating NUL. */
  if (write(fd, trigger, strlen(trigger) + 1) < 0) {
    int error = errno;
    close(fd);
    return -error;
  }
  return fd;
}
