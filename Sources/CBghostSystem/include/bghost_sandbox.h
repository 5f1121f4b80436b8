/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernel's means of confining a process. No policy: each function does one thing. Errors are
 * negative errno values. Constants are our own: the system's headers may be older than its kernel. */
#ifndef BGHOST_SANDBOX_H
#define BGHOST_SANDBOX_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- system calls ---- */
/* The number of a system call on this machine; -1 if it has none of that name. */
int bgs_call_number(const char *name);
/* AUDIT_ARCH_* of this machine, and the first number that belongs to another ABI of it. */
uint32_t bgs_call_architecture(void);
uint32_t bgs_foreign_calls_from(void);

struct bgs_filter {
  uint16_t code;
  uint8_t if_true;
  uint8_t if_false;
  uint32_t operand;
};
/* Installs a seccomp filter for the calling thread and all that comes of it. */
int bgs_filter_install(const struct bgs_filter *program, size_t count);

/* ---- Landlock ---- */
#define BGS_LANDLOCK_TCP 3u
/* Abstract sockets and signals. */
#define BGS_LANDLOCK_SCOPES 3u
/* The version that the kernel speaks, 1 or more. */
int bgs_landlock_version(void);
/* A set of rules that handles these rights; what no rule allows of them will be denied. */
int bgs_landlock_create(uint64_t files, uint64_t network, uint64_t scopes);
/* Names a path for a rule, without the right to read it. */
int bgs_landlock_path(const char *path);
int bgs_landlock_allow(int rules, int path, uint64_t rights);
int bgs_landlock_restrict(int rules);

/* ---- namespaces and mounts ---- */
#define BGS_NEW_MOUNTS 0x00020000
#define BGS_NEW_NAMES 0x04000000
#define BGS_NEW_IPC 0x08000000
#define BGS_NEW_USERS 0x10000000
#define BGS_NEW_NETWORK 0x40000000
int bgs_unshare(int what);
/* In a new user namespace: this process keeps its user and group, and knows no others. */
int bgs_keep_user(uid_t user, gid_t group);
/* A namespace for the owners of files, as a descriptor: what belongs to root belongs to `id` in it.
 * Forks; needs root. */
int bgs_owner_map(uint32_t id);

/* Cuts this process's mounts off from everybody else's. */
int bgs_mounts_private(void);
/* A tmpfs of so many bytes, in which code may lie or not. */
int bgs_mount_memory(const char *where, uint64_t bytes, int holds_code);
/* A view of /proc that shows the caller's own user's processes only. */
int bgs_mount_processes(const char *where);
/* A copy of the tree at `path`, not yet attached anywhere. */
int bgs_tree_copy(const char *path);
#define BGS_TREE_READ_ONLY 1u
#define BGS_TREE_NO_SETUID 2u
#define BGS_TREE_NO_DEVICES 4u
#define BGS_TREE_NO_CODE 8u
int bgs_tree_restrict(int tree, uint64_t attributes);
int bgs_tree_map_owners(int tree, int owners);
int bgs_tree_attach(int tree, const char *where);
/* Makes a mount point the root, and lets go of everything that was mounted before. */
int bgs_enter_root(const char *where);
int bgs_unmount(const char *where);

/* ---- the process itself ---- */
/* Becomes a user and group of this number, without a way back. */
int bgs_become_user(uint32_t id);
/* Gives up all capabilities, those that a program could bring included. */
int bgs_drop_capabilities(void);
int bgs_no_new_privileges(void);
/* Nothing that was writable becomes code, by the kernel's own rule (Linux 6.3). */
int bgs_no_writable_code(void);
/* 1 if the kernel has that rule. */
int bgs_forbids_writable_code(void);
/* 0 if writable memory can become code after all, else the errno that says no. */
int bgs_writable_code(void);
/* No core file, and no other process of its user may look into it. */
int bgs_not_dumpable(void);

/* Tries the forbidden act number `which`, from 0: 0 if nothing stopped it, else the errno; -1 behind the
 * last one. */
int bgs_trial(int which, const char **name);

#endif
