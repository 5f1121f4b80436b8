/* SPDX-License-Identifier: Apache-2.0 */
#include "bghost_sandbox.h"

#include <errno.h>
#include <grp.h>
#include <linux/filter.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SET_MODE_FILTER 1
#define LANDLOCK_CREATE 444
#define LANDLOCK_ADD 445
#define LANDLOCK_RESTRICT 446
#define PATH_BENEATH 1
#define SET_MDWE 65
#define GET_MDWE 66
#define MDWE_REFUSE_EXEC_GAIN 1

int bgs_filter_install(const struct bgs_filter *program, size_t count) {
  /* The same layout as sock_filter; this type exists so that Swift can see it. */
  struct sock_fprog filter = { (unsigned short)count, (struct sock_filter *)(uintptr_t)program };
  _Static_assert(sizeof(struct bgs_filter) == sizeof(struct sock_filter), "a sock_filter");
  if (count > BPF_MAXINSNS) return -E2BIG;
  return syscall(SYS_seccomp, SET_MODE_FILTER, 0, &filter) < 0 ? -errno : 0;
}

int bgs_landlock_version(void) {
  long version = syscall(LANDLOCK_CREATE, NULL, 0, 1u);
  return version < 0 ? -errno : (int)version;
}

int bgs_landlock_create(uint64_t files, uint64_t network, uint64_t scopes) {
  uint64_t handled[3] = { files, network, scopes };
  /* A kernel that does not know the later fields accepts only the shorter structure. */
  size_t size = scopes ? 24 : network ? 16 : 8;
  long rules = syscall(LANDLOCK_CREATE, handled, size, 0u);
  return rules < 0 ? -errno : (int)rules;
}

int bgs_landlock_allow(int rules, int path, uint64_t rights) {
  struct {
    uint64_t rights;
    int32_t  path;
  } __attribute__((packed)) rule = { rights, path };
  return syscall(LANDLOCK_ADD, rules, PATH_BENEATH, &rule, 0u) < 0 ? -errno : 0;
}

int bgs_landlock_restrict(int rules) {
  return syscall(LANDLOCK_RESTRICT, rules, 0u) < 0 ? -errno : 0;
}

int bgs_become_user(uint32_t id) {
  if (setgroups(0, NULL) < 0 || setresgid(id, id, id) < 0 || setresuid(id, id, id) < 0)
    return -errno;
  /* Verify that the change cannot be undone. */
  return setresuid(0, 0, 0) == 0 || setresgid(0, 0, 0) == 0 ? -EPERM : 0;
}

int bgs_drop_capabilities(void) {
  struct {
    uint32_t version;
    int      pid;
  } header = { 0x20080522, 0 };
  uint32_t none[6] = { 0 }, left[6] = { 0 };
  /* The loop ends at the first capability that the kernel does not know. Without CAP_SETPCAP the
   * kernel refuses the first one; then there are no capabilities to drop, and no_new_privs keeps
   * programs from adding any. */
  for (unsigned long capability = 0; capability < 64; capability++)
    if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) < 0) break;
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  if (syscall(SYS_capset, &header, none) < 0) return -errno;
  if (syscall(SYS_capget, &header, left) < 0) return -errno;
  for (int i = 0; i < 6; i++)
    if (left[i]) return -EPERM;
  return 0;
}

int bgs_no_new_privileges(void) {
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ? -errno : 0;
}

int bgs_forbids_writable_code(void) { return prctl(GET_MDWE, 0, 0, 0, 0) >= 0; }

int bgs_no_writable_code(void) {
  return prctl(SET_MDWE, MDWE_REFUSE_EXEC_GAIN, 0, 0, 0) < 0 ? -errno : 0;
}

int bgs_not_dumpable(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 ? -errno : 0; }

int bgs_traceable_by(pid_t tracer) {
  if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0) return -errno;
  /* Only Yama knows this call, and only Yama restricts what it allows. */
  prctl(PR_SET_PTRACER, (unsigned long)tracer, 0, 0, 0);
  return 0;
}
