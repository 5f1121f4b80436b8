/* SPDX-License-Identifier: Apache-2.0
 * stuck-fs FOLDER: a file system in user space with one file, `file`, whose readers are never answered:
 * they sleep where no signal reaches them. So do those who look for `door`. Says "mounted", and "read" or "looked
 * up" for each of them. It is to be
 * killed: its end is that of the connection, and they are let go. The test that starts it unmounts the folder. */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { FILE_NODE = 2 };

static int device;

static void answer(uint64_t id, int error, const void *body, size_t size) {
  struct fuse_out_header head = { (uint32_t)(sizeof head + size), -error, id };
  struct iovec           parts[2] = { { &head, sizeof head }, { (void *)(uintptr_t)body, size } };
  /* The reader may be gone. */
  ssize_t written = writev(device, parts, size > 0 ? 2 : 1);
  (void)written;
}

static struct fuse_attr attributes(uint64_t node) {
  struct fuse_attr attr = { .ino = node, .nlink = 1, .blksize = 4096 };
  attr.mode = node == FUSE_ROOT_ID ? S_IFDIR | 0755 : S_IFREG | 0644;
  attr.size = node == FUSE_ROOT_ID ? 0 : 4096;
  return attr;
}

static void serve(const struct fuse_in_header *in, const char *body) {
  switch (in->opcode) {
  case FUSE_INIT: {
    struct fuse_init_out out = { .major = FUSE_KERNEL_VERSION,
                                 .minor = 31,
                                 .max_write = 4096,
                                 .time_gran = 1 };
    return answer(in->unique, 0, &out, sizeof out);
  }
  case FUSE_GETATTR: {
    struct fuse_attr_out out = { .attr_valid = 60, .attr = attributes(in->nodeid) };
    return answer(in->unique, 0, &out, sizeof out);
  }
  case FUSE_LOOKUP: {
    if (strcmp(body, "door") == 0) {
      fputs("looked up\n", stderr);
      return;
    }
    if (strcmp(body, "file") != 0) return answer(in->unique, ENOENT, 0, 0);
    struct fuse_entry_out out = { .nodeid = FILE_NODE,
                                  .entry_valid = 60,
                                  .attr_valid = 60,
                                  .attr = attributes(FILE_NODE) };
    return answer(in->unique, 0, &out, sizeof out);
  }
  case FUSE_OPEN:
  case FUSE_OPENDIR: {
    struct fuse_open_out out = { .fh = 1, .open_flags = FOPEN_DIRECT_IO };
    return answer(in->unique, 0, &out, sizeof out);
  }
  case FUSE_READ: fputs("read\n", stderr); return;
  case FUSE_INTERRUPT:
  case FUSE_FORGET:
  case FUSE_BATCH_FORGET: return;
  case FUSE_RELEASE:
  case FUSE_RELEASEDIR:
  case FUSE_FLUSH: return answer(in->unique, 0, 0, 0);
  default: return answer(in->unique, ENOSYS, 0, 0);
  }
}

int main(int count, char **words) {
  static char buffer[128 << 10];
  char        options[128];
  if (count != 2) return 64;
  device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
  if (device < 0) return perror("/dev/fuse"), 77;
  snprintf(options, sizeof options, "fd=%d,rootmode=40755,user_id=0,group_id=0,allow_other", device);
  if (mount("stuck", words[1], "fuse", MS_NOSUID | MS_NODEV, options) < 0) return perror("mount"), 77;
  fputs("mounted\n", stderr);
  for (;;) {
    ssize_t size = read(device, buffer, sizeof buffer);
    if (size < (ssize_t)sizeof(struct fuse_in_header)) continue;
    serve((const struct fuse_in_header *)(void *)buffer, buffer + sizeof(struct fuse_in_header));
  }
}
