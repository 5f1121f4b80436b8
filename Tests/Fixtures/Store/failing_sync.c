// SPDX-License-Identifier: Apache-2.0
//
// Loaded before the C library: once the file named by SYNC_WORKS is gone, nothing reaches the disk.
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static int sync_with(const char *name, int fd) {
    const char *works = getenv("SYNC_WORKS");
    if (works && access(works, F_OK) != 0) {
        errno = EIO;
        return -1;
    }
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
    return real(fd);
}

int fsync(int fd) { return sync_with("fsync", fd); }
int fdatasync(int fd) { return sync_with("fdatasync", fd); }
