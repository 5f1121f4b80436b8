/* SPDX-License-Identifier: Apache-2.0 */
#include "bghost_system.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

int bgs_packet_pair(int fds[2]) {
  return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0 ? -errno : 0;
}

ssize_t bgs_send(int fd, const void *bytes, size_t count, int wait) {
  ssize_t sent;
  do {
    sent = send(fd, bytes, count, MSG_NOSIGNAL | (wait ? 0 : MSG_DONTWAIT));
  } while (sent < 0 && errno == EINTR);
  return sent < 0 ? -errno : sent;
}

void bgs_refuse_descriptors(int fd) {
  /* SO_PASSRIGHTS, which the headers do not define yet. */
  const int off = 0;
  setsockopt(fd, SOL_SOCKET, 83, &off, sizeof off);
}

ssize_t bgs_receive(int fd, void *bytes, size_t capacity, int wait) {
  int flags = MSG_TRUNC | (wait ? 0 : MSG_DONTWAIT);
  ssize_t count;
  /* recv() accepts no ancillary data: the kernel closes descriptors that a peer sends. */
  do {
    count = recv(fd, bytes, capacity, flags);
  } while (count < 0 && errno == EINTR);
  if (count < 0) return -errno;
  return (size_t)count > capacity ? -EMSGSIZE : count;
}

int bgs_peer(int fd, uid_t *uid, pid_t *pid) {
  struct ucred peer;
  socklen_t length = sizeof peer;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0) return -errno;
  *uid = peer.uid;
  *pid = peer.pid;
  return 0;
}

int bgs_memory_file(const char *name) {
  int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  return fd < 0 ? -errno : fd;
}

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010u
#endif

int bgs_library_file(const char *name) {
  // MFD_EXEC: on some systems memory files are otherwise not executable. Older kernels reject the
  // flag.
  int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_EXEC);
  if (fd < 0 && errno == EINVAL) fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  return fd < 0 ? -errno : fd;
}

int bgs_seal(int fd) {
  return fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) < 0
             ? -errno
             : 0;
}

int bgs_open_beneath(int folder, const char *path) {
  struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK,
                         .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
  int fd = (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
  return fd < 0 ? -errno : fd;
}
