/* SPDX-License-Identifier: Apache-2.0
 *
 * Facts of the machine from the kernel: netlink sockets and pressure triggers. Errors are negative
 * errno values, as in bghost_system.h. */
#ifndef BGHOST_FACTS_H
#define BGHOST_FACTS_H

#include <stddef.h>
#include <sys/types.h>

/* ---- netlink ---- */
#define BGS_NETLINK_ROUTE 0
#define BGS_NETLINK_UEVENT 15
/* Groups of BGS_NETLINK_ROUTE: links, addresses and routes, both families. */
#define BGS_ROUTE_GROUPS 0x551u
/* The multicast group of BGS_NETLINK_UEVENT that the kernel itself sends to. */
#define BGS_UEVENT_GROUPS 1u

/* Opens a non-blocking socket that receives these multicast groups. */
int bgs_netlink_open(int protocol, unsigned groups);
/* Sends a request to the kernel. */
int bgs_netlink_send(int fd, const void *bytes, size_t count);
/* Receives one message from the kernel. Returns -EPERM for a message from another process,
 * -EMSGSIZE if it is longer than `capacity`, -ENOBUFS if messages were dropped because they were
 * not read in time. */
ssize_t bgs_netlink_receive(int fd, void *bytes, size_t capacity);

/* ---- pressure ---- */
/* The epoll event of a pressure trigger (EPOLLPRI). */
#define BGS_PRIORITY 0x002u
/* Opens a file of /proc/pressure and sets a trigger such as "some 1000000 10000000" (microseconds
 * of stall, then of the window). The trigger lasts until the descriptor is closed. */
int bgs_pressure_trigger(const char *path, const char *trigger);

#endif
