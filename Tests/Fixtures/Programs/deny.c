/* SPDX-License-Identifier: Apache-2.0
 * deny WHAT... -- PROGRAM ARGUMENT...: starts a program on what looks like an older kernel or a stricter
 * container, by a filter of system calls. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NUMBER (offsetof(struct seccomp_data, nr))
#define FIRST (offsetof(struct seccomp_data, args[0]))
#define REFUSE(error) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define LOAD(where) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, where)
#define UNLESS(value) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1)

static int install(struct sock_filter *filter, size_t count) {
  struct sock_fprog program = { (unsigned short)count, filter };
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int deny(const char *what) {
  struct sock_filter landlock[] = { LOAD(NUMBER), UNLESS(444), REFUSE(EOPNOTSUPP), ALLOW };
  struct sock_filter namespaces[] = { LOAD(NUMBER), UNLESS(SYS_unshare), REFUSE(EPERM), ALLOW };
  struct sock_filter mdwe[] = {
    /* Setting it and asking for it. */
    LOAD(NUMBER), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 4), LOAD(FIRST),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 65, 1, 0), UNLESS(66), REFUSE(EINVAL), ALLOW,
  };
  if (strcmp(what, "landlock") == 0) return install(landlock, 4);
  if (strcmp(what, "namespaces") == 0) return install(namespaces, 4);
  if (strcmp(what, "mdwe") == 0) return install(mdwe, 7);
  errno = EINVAL;
  return -1;
}

int main(int count, char **words) {
  int index = 1;
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return 71;
  for (; index < count && strcmp(words[index], "--") != 0; index++) {
    if (deny(words[index]) != 0) {
      perror(words[index]);
      return 71;
    }
  }
  if (index + 1 >= count) return 64;
  execv(words[index + 1], words + index + 1);
  perror(words[index + 1]);
  return 71;
}
