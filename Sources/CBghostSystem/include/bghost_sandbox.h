/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernel's means to confine a process. No policy: each function does one thing. Errors are
 * negative errno values. The constants are defined here, since the system's headers may be older
 * than its kernel. */
#ifndef BGHOST_SANDBOX_H
#define BGHOST_SANDBOX_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- system calls ---- */
/* The number of a system call on this machine; -1 if the machine has no such call. */
int bgs_call_number(const char *name);
/* The AUDIT_ARCH_* value of this machine, and the first number of another ABI, such as x32. */
uint32_t bgs_call_architecture(void);
uint32_t bgs_foreign_calls_from(void);

struct bgs_filter {
  uint16_t code;
  uint8_t if_true;
  uint8_t if_false;
  uint32_t operand;
};
/* Installs a seccomp filter for the calling thread and the threads and processes that it
 * creates. */
int bgs_filter_install(const struct bgs_filter *program, size_t count);

/* ---- Landlock ---- */
#define BGS_LANDLOCK_TCP 3u
/* Abstract sockets and signals. */
#define BGS_LANDLOCK_SCOPES 3u
/* The kernel's Landlock version, 1 or more, or an error. */
int bgs_landlock_version(void);
/* Creates a ruleset that handles these rights; the kernel denies each of them where no rule permits
 * it. */
int bgs_landlock_create(uint64_t files, uint64_t network, uint64_t scopes);
/* `path` is a descriptor, which need not permit to read. */
int bgs_landlock_allow(int rules, int path, uint64_t rights);
int bgs_landlock_restrict(int rules);

/* ---- namespaces and mounts ---- */
#define BGS_NEW_MOUNTS 0x00020000
#define BGS_NEW_NAMES 0x04000000
#define BGS_NEW_IPC 0x08000000
#define BGS_NEW_USERS 0x10000000
#define BGS_NEW_NETWORK 0x40000000
int bgs_unshare(int what);
/* Moves the calling thread into a network namespace. A descriptor of anything else is an error. */
int bgs_join_network(int fd);
/* In a new user namespace, maps only this process's own user and group. */
int bgs_keep_user(uid_t user, gid_t group);
/* Creates a namespace that maps file owners, as a descriptor: root's files belong to `id` in it. It
 * forks and needs root. */
int bgs_owner_map(uint32_t id);

/* Separates this process's mounts from those of other processes. */
int bgs_mounts_private(void);
/* Mounts a tmpfs with a size limit; `holds_code` permits executable files in it. */
int bgs_mount_memory(const char *where, uint64_t bytes, int holds_code);
/* Mounts a /proc that shows only processes of the caller's own user. */
int bgs_mount_processes(const char *where);
/* Copies the file tree at `path`; the copy is not attached yet. */
int bgs_tree_copy(const char *path);
/* The same of what a descriptor names. */
int bgs_tree_copy_of(int place);
#define BGS_TREE_READ_ONLY 1u
#define BGS_TREE_NO_SETUID 2u
#define BGS_TREE_NO_DEVICES 4u
#define BGS_TREE_NO_CODE 8u
int bgs_tree_restrict(int tree, uint64_t attributes);
int bgs_tree_map_owners(int tree, int owners);
int bgs_tree_attach(int tree, const char *where);
/* The same at what a descriptor names, so that no path is followed. */
int bgs_tree_attach_at(int tree, int place);
/* Makes a mount point the root and detaches the old root. */
int bgs_enter_root(const char *where);
int bgs_unmount(const char *where);

/* ---- the process itself ---- */
/* Changes to the user and group with this number, irreversibly. */
int bgs_become_user(uint32_t id);
/* Drops all capabilities, including those that executing a program could add. */
int bgs_drop_capabilities(void);
int bgs_no_new_privileges(void);
/* Makes the kernel refuse to make writable memory executable (Linux 6.3). */
int bgs_no_writable_code(void);
/* 1 if the kernel supports that rule. */
int bgs_forbids_writable_code(void);
/* 0 if writable memory can be made executable, otherwise the errno that prevented it. */
int bgs_writable_code(void);
/* Prevents core files, and access to this process's memory by other processes of its user. */
int bgs_not_dumpable(void);
/* Allows the opposite to the processes of this user, and with Yama to `tracer` and its descendants only. */
int bgs_traceable_by(pid_t tracer);

/* Attempts the forbidden act number `which`, counted from 0. Returns 0 if it succeeded, otherwise
 * the errno that prevented it; -1 after the last act. */
int bgs_trial(int which, const char **name);

#endif
