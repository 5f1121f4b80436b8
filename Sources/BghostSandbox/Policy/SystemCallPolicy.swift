// SPDX-License-Identifier: Apache-2.0

/// The system calls that a worker may make, by name; all others are refused.
package struct SystemCallPolicy: Equatable, Sendable {
    /// Whether it may open network sockets.
    var opensSockets: Bool
    /// Whether it may start processes.
    var startsProcesses: Bool
    /// Whether it may change modes, owners, times and attributes of files, and truncate files by path.
    ///
    /// Landlock does not restrict these calls, so they are permitted only if the worker sees no other files.
    package var changesAttributes = true
    /// Whether writable memory may become executable, and the reverse.
    ///
    /// Newer kernels have a rule of their own against that, which this filter replaces on older ones.
    package var writesCode = true
    /// Whether it may have anonymous shared memory.
    ///
    /// The pages of such memory remain when a process unmaps them, so the resident size of a process does not
    /// include them; only a memory controller of the kernel counts them.
    package var sharesMemory = true

    package init(opensSockets: Bool = false, startsProcesses: Bool = false) {
        self.opensSockets = opensSockets
        self.startsProcesses = startsProcesses
    }

    /// The errors for refused calls, as `errno` values, which are the same on all supported architectures.
    enum Refusal {
        static let notPermitted: UInt16 = 1
        /// The C library interprets this as an old kernel, and uses another call.
        static let notImplemented: UInt16 = 38
        /// The C library interprets this as a limitation of the file system, and writes instead.
        static let notSupported: UInt16 = 95
    }

    /// The rules by the name of the call.
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
        if changesAttributes {
            allow(Self.attributes)
            refuseSetID(in: &rules, Self.modeChanges)
        }
        refuseSetID(in: &rules, Self.modesOfNewFiles)
        // Its mode and flags are in memory, which a filter cannot read.
        rules["openat2"] = .refuse(Refusal.notImplemented)
        // One call could fill the disk before the next check of the folder's size; with these flags it only
        // frees space.
        rules["fallocate"] = .when(
            [.equals(1, [Self.punchHole])],
            otherwise: Refusal.notSupported
        )
        if opensSockets {
            allow(Self.newSockets)
            // A Unix socket could connect to all daemons that listen on one.
            rules["socket"] = .when([.equals(0, [2, 10])])
        }
        rules["ioctl"] = .when([.equals(1, Self.requests)])
        rules["fcntl"] = .when([.equals(1, Self.descriptorControls)])
        rules["prctl"] = .when([.equals(0, Self.controls)])
        // The call can set limits of other processes of the same user.
        rules["prlimit64"] = .when([.equals(0, [0])])
        // glibc tries clone3 first, whose flags a filter cannot read.
        rules["clone3"] = .refuse(Refusal.notImplemented)
        rules["memfd_create"] = .refuse(Refusal.notPermitted)
        // Such pages are of a pool of the machine, and neither the resident size nor a controller counts them.
        var mapping: [ArgumentRule] = [.lacks(3, Self.mapHuge)]
        // MAP_SHARED is one bit of the type, which MAP_SHARED_VALIDATE also has.
        if !sharesMemory { mapping.append(.lacksOne(3, Self.mapShared | Self.mapAnonymous)) }
        if !writesCode { mapping.append(.lacksOne(2, Self.write | Self.execute)) }
        rules["mmap"] = .when(mapping)
        if !writesCode {
            // Libraries are mapped as code directly, so memory never has to become executable later.
            rules["mprotect"] = .when([.lacks(2, Self.execute)])
            rules["pkey_mprotect"] = rules["mprotect"]
        }
        // The daemon sees the table of descriptors of a process, which is that of its first thread: no other
        // thread may have one of its own.
        rules["close_range"] = .when([.lacks(2, Self.ownTable)])
        if startsProcesses {
            allow(Self.processes)
            rules["clone"] = .when([
                .lacks(0, Self.namespaces),
                .differs(0, Self.thread | Self.sharedTable, from: Self.thread),
            ])
            allow(["kill", "tkill", "tgkill"])
        } else {
            rules["clone"] = .when([
                .has(0, Self.thread | Self.sharedTable), .lacks(0, Self.namespaces),
            ])
            rules["kill"] = .when([.isOwnProcess(0)])
            rules["tgkill"] = .when([.isOwnProcess(0)])
        }
        return rules
    }

    /// Refuses set-user-ID and set-group-ID modes in these calls.
    ///
    /// Other users could execute such a program with the rights of its owner, the daemon's user.
    private func refuseSetID(in rules: inout [String: SystemCallRule], _ calls: [ModeCall]) {
        for call in calls {
            rules[call.name] = .when([
                call.flags.map {
                    .lacksWhere(call.mode, Self.setID, flags: $0, Self.makesFile)
                } ?? .lacks(call.mode, Self.setID)
            ])
        }
    }

    /// A call that sets the mode of a file.
    private struct ModeCall {
        let name: String
        /// The index of the mode argument.
        let mode: Int
        /// The index of the argument with the flags that determine whether the kernel uses the mode.
        var flags: Int?
    }

    private static let modesOfNewFiles = [
        ModeCall(name: "open", mode: 2, flags: 1), ModeCall(name: "openat", mode: 3, flags: 2),
        ModeCall(name: "creat", mode: 1), ModeCall(name: "mkdir", mode: 1),
        ModeCall(name: "mkdirat", mode: 2),
    ]

    private static let modeChanges = [
        ModeCall(name: "chmod", mode: 1), ModeCall(name: "fchmod", mode: 1),
        ModeCall(name: "fchmodat", mode: 2), ModeCall(name: "fchmodat2", mode: 2),
    ]

    /// S_ISUID and S_ISGID.
    private static let setID: UInt32 = 0o6000
    /// O_CREAT, and the bit that O_TMPFILE has in addition to O_DIRECTORY.
    private static let makesFile: UInt32 = 0o100 | 0o20_000_000
    /// FALLOC_FL_PUNCH_HOLE with FALLOC_FL_KEEP_SIZE, which the kernel requires.
    private static let punchHole: UInt32 = 3
    private static let mapShared: UInt32 = 1
    private static let mapAnonymous: UInt32 = 0x20
    /// MAP_HUGETLB.
    private static let mapHuge: UInt32 = 0x40000

    /// CLONE_THREAD.
    private static let thread: UInt32 = 0x10000
    /// CLONE_FILES, which every C library and Go's runtime set for a thread.
    private static let sharedTable: UInt32 = 0x400
    /// CLOSE_RANGE_UNSHARE.
    private static let ownTable: UInt32 = 2

    /// CLONE_NEWTIME, NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET; CLONE_PTRACE; and
    /// CLONE_PARENT, which would create a child of the daemon.
    ///
    /// CLONE_NEWTIME shares its bit with the exit signal, whose number is never that large.
    private static let namespaces: UInt32 =
        0x0000_0080 | 0x0002_0000 | 0x0200_0000 | 0x0400_0000 | 0x0800_0000 | 0x1000_0000
        | 0x2000_0000 | 0x4000_0000 | 0x2000 | 0x8000

    /// PROT_WRITE.
    private static let write: UInt32 = 2
    /// PROT_EXEC.
    private static let execute: UInt32 = 4

    /// FIONBIO, FIONREAD, FIOCLEX, FIONCLEX, TCGETS, TIOCGWINSZ, TIOCGPGRP, FICLONE, FICLONERANGE, FIGETBSZ:
    /// none of them can insert terminal input.
    private static let requests: [UInt32] = [
        0x5421, 0x541B, 0x5451, 0x5450, 0x5401, 0x5413, 0x540F, 0x4004_9409, 0x4020_940D, 2,
    ]

    /// F_DUPFD, GETFD, SETFD, GETFL, SETFL, GETLK, SETLK, SETLKW, OFD_GETLK, OFD_SETLK, OFD_SETLKW,
    /// DUPFD_CLOEXEC, GETPIPE_SZ, ADD_SEALS, GET_SEALS: not F_SETOWN, with which the kernel would send a
    /// signal to any process of the same user.
    private static let descriptorControls: [UInt32] = [
        0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1030, 1032, 1033, 1034,
    ]

    /// PR_GET_PDEATHSIG, GET_DUMPABLE, SET_NAME, GET_NAME, GET_SECCOMP, SET_TIMERSLACK, GET_TIMERSLACK,
    /// GET_NO_NEW_PRIVS, SET_VMA.
    private static let controls: [UInt32] = [2, 3, 15, 16, 21, 29, 30, 39, 0x5356_4D41]

    private static let files = [
        "read", "write", "readv", "writev", "pread64", "pwrite64", "preadv", "pwritev", "preadv2",
        "pwritev2", "lseek", "close", "dup", "dup2", "dup3", "flock",
        "stat", "lstat", "fstat", "newfstatat", "statx",
        "statfs", "fstatfs", "access", "faccessat", "faccessat2", "readlink", "readlinkat",
        "getdents", "getdents64", "getcwd", "chdir", "fchdir", "umask", "rmdir", "unlink",
        "unlinkat", "rename", "renameat", "renameat2", "link", "linkat",
        "symlink", "symlinkat", "ftruncate", "fsync", "fdatasync",
        "sync_file_range", "fadvise64", "readahead", "copy_file_range", "sendfile", "splice", "tee",
        "pipe", "pipe2", "getxattr", "lgetxattr", "fgetxattr", "listxattr", "llistxattr",
        "flistxattr", "inotify_init", "inotify_init1", "inotify_add_watch", "inotify_rm_watch",
    ]

    /// Calls that no Landlock rule covers, or, like `truncate` before Linux 6.2, did not always cover.
    private static let attributes = [
        "truncate",
        "chown", "lchown", "fchown", "fchownat",
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

    /// Calls on existing sockets, those to the daemon.
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

/// The rule for a system call.
package enum SystemCallRule: Equatable, Sendable {
    case allow
    /// Refuse the call with this `errno`.
    case refuse(UInt16)
    /// Permit the call if its arguments meet all conditions; otherwise refuse it with this `errno`.
    case when([ArgumentRule], otherwise: UInt16 = SystemCallPolicy.Refusal.notPermitted)
}

/// A condition on an argument of a system call.
///
/// It applies to the lower half, because the kernel uses only that of these arguments.
package enum ArgumentRule: Equatable, Sendable {
    case equals(Int, [UInt32])
    /// All these bits are set.
    case has(Int, UInt32)
    /// None of these bits is set.
    case lacks(Int, UInt32)
    /// None of these bits is set, unless the argument `flags` has none of the other bits.
    case lacksWhere(Int, UInt32, flags: Int, UInt32)
    /// Not all of these bits are set.
    case lacksOne(Int, UInt32)
    /// Of these bits, not exactly the ones of `from` are set.
    case differs(Int, UInt32, from: UInt32)
    /// It is the pid of the worker itself.
    case isOwnProcess(Int)
}
