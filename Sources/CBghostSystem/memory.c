/* SPDX-License-Identifier: Apache-2.0 */
#include "bghost_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Far below the capacity of a pipe, so that a write never has to wait for a reader. */
#define CHUNK 4096u

int bgs_probe_open(int fds[2]) { return pipe2(fds, O_CLOEXEC | O_NONBLOCK) == 0 ? 0 : -errno; }

/* The kernel reads the memory, so a bad address yields an error instead of a signal. A pipe is used
 * instead of process_vm_readv, which sandboxes and containers may forbid. */
int bgs_probe_copy(const int fds[2], void *to, const void *from, size_t count) {
  char       *target = to;
  const char *source = from;
  while (count > 0) {
    /* Not write(): AddressSanitizer would check the memory of the plugin before the kernel does. */
    ssize_t written = syscall(SYS_write, fds[1], source, count < CHUNK ? count : CHUNK);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return -errno;
    for (ssize_t left = written; left > 0;) {
      ssize_t got = read(fds[0], target, (size_t)left);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return -errno;
      if (got == 0) return -EPIPE;
      target += got;
      left -= got;
    }
    source += written;
    count -= (size_t)written;
  }
  return 0;
}
