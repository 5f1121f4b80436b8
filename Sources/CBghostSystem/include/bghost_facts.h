/* SPDX-License-Identifier: Apache-2.0
 *
 * What the kernel tells of the machine: netlink sockets and pressure triggers. Errors are negative
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
/* The group of BGS_NETLINK_UEVENT in which the kernel itself speaks. */
#define BGS_UEVENT_GROUPS 1u

/* A socket that does not wait and hears these groups. */
int bgs_netlink_open(int protocol, unsigned groups);
/* Asks the kernel. */
int bgs_netlink_send(int fd, const void *bytes, size_t count);
/* One message from the kernel. What another process sent answers -EPERM, what is longer than
 * `capacity` -EMSGSIZE, what was lost because it was not read in time -ENOBUFS. */
ssize_t bgs_netlink_receive(int fd, void *bytes, size_t capacity);

/* ---- pressure ---- */
/* What a pressure trigger becomes ready for. */
#define BGS_PRIORITY 0x002u
/* Opens a file of /proc/pressure and sets a trigger such as "some 1000000 10000000" (microseconds of
 * stall within microseconds); it lasts until the descriptor is closed. */
int bgs_pressure_trigger(const char *path, const char *trigger);

#endif
