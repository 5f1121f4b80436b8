// SPDX-License-Identifier: Apache-2.0

/// Which system calls a worker may make, by name: everything else is refused.
package struct SystemCallPolicy: Equatable, Sendable {
    /// Whether it may open network sockets.
    package var opensSockets: Bool
    /// Whether it may have processes of its own.
    package var startsProcesses: Bool
    /// Whether it may change modes, owners, times and attributes of files, and cut off what it has
    /// not opened.
    ///
    /// Landlock does not look at these, so only where it sees no files of others.
    package var changesAttributes = true
    /// Whether memory that was writable may become code, and code writable.
    ///
    /// Newer kernels have a rule of their own against that, which this stands in for.
    package var writesCode = true

    package init(opensSockets: Bool = false, startsProcesses: Bool = false) {
        self.opensSockets = opensSockets
        self.startsProcesses = startsProcesses
    }

    /// What is answered to a call, as numbers of `errno`, which are the same on every architecture
    /// that bghost runs on.
    enum Refusal {
        static let notPermitted: UInt16 = 1
        /// "This kernel is too old": the C library then goes another way.
        static let notImplemented: UInt16 = 38
    }

    /// The rules, by name of the call.
    package var rules: [String: SystemCallRule] {
        var rules: [String: SystemCallRule] = [:]
        func allow(_ names: [String]) { for name in names { rules[name] = .allow } }
        allow(Self.files)
        allow(Self.memory)
        allow(Self.threads)
        allow(Self.time)
        allow(Self.waiting)
        allow(Self.openSockets)
        allow(Self.selfKnowledge)
        if changesAttributes { allow(Self.attributes) }
        if opensSockets {
            allow(Self.newSockets)
            // A socket of the machine itself would lead to every daemon that listens on one.
            rules["socket"] = .when([.equals(0, [2, 10])])
        }
        rules["ioctl"] = .when([.equals(1, Self.requests)])
        rules["fcntl"] = .when([.equals(1, Self.descriptorControls)])
        rules["prctl"] = .when([.equals(0, Self.controls)])
        // One may set limits of another process of the same user.
        rules["prlimit64"] = .when([.equals(0, [0])])
        // glibc asks for clone3 first, whose flags no filter can see.
        rules["clone3"] = .refuse(Refusal.notImplemented)
        rules["memfd_create"] = .refuse(Refusal.notPermitted)
        if !writesCode {
            rules["mmap"] = .when([.lacksOne(2, Self.write | Self.execute)])
            // What becomes code later was something else before: libraries are mapped as what they are.
            rules["mprotect"] = .when([.lacks(2, Self.execute)])
            rules["pkey_mprotect"] = rules["mprotect"]
        }
        if startsProcesses {
            allow(Self.processes)
            rules["clone"] = .when([.lacks(0, Self.namespaces)])
            allow(["kill", "tkill", "tgkill"])
        } else {
            rules["clone"] = .when([.has(0, 0x10000), .lacks(0, Self.namespaces)])
            rules["kill"] = .when([.isOwnProcess(0)])
            rules["tgkill"] = .when([.isOwnProcess(0)])
        }
        return rules
    }

    /// CLONE_NEWTIME, NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET; CLONE_PTRACE; and
    /// CLONE_PARENT, which would make a child of the daemon.
    ///
    /// The first shares its bit with the signal at the end, which is never that large.
    private static let namespaces: UInt32 =
        0x0000_0080 | 0x0002_0000 | 0x0200_0000 | 0x0400_0000 | 0x0800_0000 | 0x1000_0000
        | 0x2000_0000 | 0x4000_0000 | 0x2000 | 0x8000

    /// PROT_WRITE.
    private static let write: UInt32 = 2
    /// PROT_EXEC.
    private static let execute: UInt32 = 4

    /// FIONBIO, FIONREAD, FIOCLEX, FIONCLEX, TCGETS, TIOCGWINSZ, TIOCGPGRP, FICLONE, FICLONERANGE,
    /// FIGETBSZ: none pushes anything into a terminal.
    private static let requests: [UInt32] = [
        0x5421, 0x541B, 0x5451, 0x5450, 0x5401, 0x5413, 0x540F, 0x4004_9409, 0x4020_940D, 2,
    ]

    /// F_DUPFD, GETFD, SETFD, GETFL, SETFL, GETLK, SETLK, SETLKW, OFD_GETLK, OFD_SETLK, OFD_SETLKW,
    /// DUPFD_CLOEXEC, GETPIPE_SZ, ADD_SEALS, GET_SEALS: not F_SETOWN, by which the kernel would send a
    /// signal to any process of the same user.
    private static let descriptorControls: [UInt32] = [
        0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1030, 1032, 1033, 1034,
    ]

    /// PR_GET_PDEATHSIG, GET_DUMPABLE, SET_NAME, GET_NAME, GET_SECCOMP, SET_TIMERSLACK, GET_TIMERSLACK,
    /// GET_NO_NEW_PRIVS, SET_VMA.
    private static let controls: [UInt32] = [2, 3, 15, 16, 21, 29, 30, 39, 0x5356_4D41]

    private static let files = [
        "read", "write", "readv", "writev", "pread64", "pwrite64", "preadv", "pwritev", "preadv2",
        "pwritev2", "lseek", "close", "close_range", "dup", "dup2", "dup3", "flock",
        "open", "openat", "openat2", "creat", "stat", "lstat", "fstat", "newfstatat", "statx",
        "statfs", "fstatfs", "access", "faccessat", "faccessat2", "readlink", "readlinkat",
        "getdents", "getdents64", "getcwd", "chdir", "fchdir", "umask", "mkdir", "mkdirat",
        "rmdir", "unlink", "unlinkat", "rename", "renameat", "renameat2", "link", "linkat",
        "symlink", "symlinkat", "ftruncate", "fallocate", "fsync", "fdatasync",
        "sync_file_range", "fadvise64", "readahead", "copy_file_range", "sendfile", "splice", "tee",
        "pipe", "pipe2", "getxattr", "lgetxattr", "fgetxattr", "listxattr", "llistxattr",
        "flistxattr", "inotify_init", "inotify_init1", "inotify_add_watch", "inotify_rm_watch",
    ]

    /// What no path rule is asked about, or, as `truncate` before Linux 6.2, was not always.
    private static let attributes = [
        "truncate",
        "chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "lchown", "fchown", "fchownat",
        "utime", "utimes", "futimesat", "utimensat", "setxattr", "lsetxattr", "fsetxattr",
        "removexattr", "lremovexattr", "fremovexattr",
    ]

    private static let memory = [
        "brk", "mmap", "munmap", "mremap", "mprotect", "madvise", "mincore", "msync", "mlock",
        "munlock", "mlock2", "mseal", "pkey_alloc", "pkey_free", "pkey_mprotect", "membarrier",
    ]

    private static let threads = [
        "futex", "futex_waitv", "futex_wake", "futex_wait", "futex_requeue", "set_robust_list",
        "get_robust_list", "set_tid_address", "rseq", "gettid", "sched_yield", "sched_getaffinity",
        "sched_getparam", "sched_getscheduler", "sched_get_priority_max", "sched_get_priority_min",
        "arch_prctl", "exit", "exit_group", "restart_syscall", "rt_sigaction", "rt_sigprocmask",
        "rt_sigreturn", "rt_sigpending", "rt_sigtimedwait", "rt_sigsuspend", "sigaltstack", "pause",
        "signalfd", "signalfd4", "getcpu",
    ]

    private static let time = [
        "clock_gettime", "clock_getres", "clock_nanosleep", "nanosleep", "gettimeofday", "time",
        "alarm", "getitimer", "setitimer", "timer_create", "timer_settime", "timer_gettime",
        "timer_getoverrun", "timer_delete", "timerfd_create", "timerfd_settime", "timerfd_gettime",
        "times",
    ]

    private static let waiting = [
        "poll", "ppoll", "select", "pselect6", "epoll_create", "epoll_create1", "epoll_ctl",
        "epoll_wait", "epoll_pwait", "epoll_pwait2", "eventfd", "eventfd2",
    ]

    /// On sockets that exist: those to the daemon.
    private static let openSockets = [
        "sendto", "recvfrom", "sendmsg", "recvmsg", "sendmmsg", "recvmmsg", "shutdown",
        "getsockname", "getpeername", "getsockopt", "setsockopt",
    ]

    private static let newSockets = ["connect", "bind", "listen", "accept", "accept4"]

    private static let selfKnowledge = [
        "getpid", "getppid", "getpgrp", "getpgid", "getsid", "getuid", "geteuid", "getgid",
        "getegid", "getresuid", "getresgid", "getgroups", "getrlimit", "setrlimit", "getrusage",
        "getpriority", "sysinfo", "uname", "getrandom", "capget", "wait4", "waitid",
    ]

    private static let processes = [
        "fork", "vfork", "execve", "execveat", "setsid", "setpgid", "pidfd_open",
        "pidfd_send_signal",
    ]
}

/// What becomes of one system call.
package enum SystemCallRule: Equatable, Sendable {
    case allow
    /// Refused with this `errno`.
    case refuse(UInt16)
    /// Allowed if all of these hold of its arguments, else not permitted.
    case when([ArgumentRule])
}

/// What must hold of one argument of a system call.
///
/// Only of its lower half, which is all that the kernel takes of these.
package enum ArgumentRule: Equatable, Sendable {
    case equals(Int, [UInt32])
    /// All these bits are set.
    case has(Int, UInt32)
    /// None of these bits is set.
    case lacks(Int, UInt32)
    /// Not all of these bits are set.
    case lacksOne(Int, UInt32)
    /// It is the number of the worker's own process.
    case isOwnProcess(Int)
}
