/* SPDX-License-Identifier: Apache-2.0 */
#include "bghost_facts.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <unistd.h>

_Static_assert(BGS_NETLINK_ROUTE == NETLINK_ROUTE, "protocol");
_Static_assert(BGS_NETLINK_UEVENT == NETLINK_KOBJECT_UEVENT, "protocol");
_Static_assert(BGS_ROUTE_GROUPS == (RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV4_ROUTE |
                                    RTMGRP_IPV6_IFADDR | RTMGRP_IPV6_ROUTE),
               "groups");

int bgs_netlink_open(int protocol, unsigned groups) {
  int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);
  if (fd < 0) return -errno;
  struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = groups};
  if (bind(fd, (struct sockaddr *)&address, sizeof address) < 0) {
    int error = errno;
    close(fd);
    return -error;
  }
  return fd;
}

int bgs_netlink_send(int fd, const void *bytes, size_t count) {
  struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
  ssize_t sent;
  do {
    sent = sendto(fd, bytes, count, 0, (struct sockaddr *)&kernel, sizeof kernel);
  } while (sent < 0 && errno == EINTR);
  if (sent < 0) return -errno;
  return (size_t)sent == count ? 0 : -EMSGSIZE;
}

ssize_t bgs_netlink_receive(int fd, void *bytes, size_t capacity) {
  struct sockaddr_nl sender = {0};
  struct iovec part = {bytes, capacity};
  struct msghdr message = {.msg_name = &sender, .msg_namelen = sizeof sender, .msg_iov = &part,
                           .msg_iovlen = 1};
  ssize_t count;
  do {
    count = recvmsg(fd, &message, MSG_TRUNC | MSG_DONTWAIT);
  } while (count < 0 && errno == EINTR);
  if (count < 0) return -errno;
  /* Any process may send to a netlink socket; only the kernel has port 0. */
  if (message.msg_namelen != sizeof sender || sender.nl_pid != 0) return -EPERM;
  return (size_t)count > capacity ? -EMSGSIZE : count;
}
