// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import Testing

/// A library that kills a program before one of the calls with which it changes files or waits for the disk.
///
/// What a program wrote before the call is in its files, so this is what a kill or a crash leaves there.
struct KillingLibrary {
    private static let source = """
        #include <dlfcn.h>
        #include <signal.h>
        #include <stdlib.h>
        #include <sys/types.h>
        #include <unistd.h>

        static void step(void) {
            static _Atomic int calls;
            const char *at = getenv("KILLED_AT");
            if (at && ++calls == atoi(at)) kill(getpid(), SIGKILL);
        }

        #define CALL(type, name, parameters, arguments)                       \\
            type name parameters {                                            \\
                step();                                                       \\
                return ((type (*) parameters)dlsym(RTLD_NEXT, #name)) arguments; \\
            }

        CALL(int, fsync, (int fd), (fd))
        CALL(int, fdatasync, (int fd), (fd))
        CALL(int, unlink, (const char *path), (path))
        CALL(int, ftruncate64, (int fd, off64_t size), (fd, size))
        CALL(ssize_t, pwrite, (int fd, const void *bytes, size_t count, off_t at), (fd, bytes, count, at))
        CALL(ssize_t, pwrite64, (int fd, const void *bytes, size_t count, off64_t at), (fd, bytes, count, at))
        """

    private let path: String

    init(in folder: TemporaryDirectory) throws {
        path = folder.file("killing.so")
        try folder.write(Self.source, to: "killing.c")
        let made = try Command.run([
            Toolchain.c, "-shared", "-fPIC", "-D_GNU_SOURCE", folder.file("killing.c"), "-o", path,
        ])
        try #require(made.exitCode == 0, "\(made)")
    }

    /// Runs a program until its nth call, or to its end if it makes fewer.
    func run(_ arguments: [String], until call: Int) throws -> Command.Result {
        try Command.run(["env", "LD_PRELOAD=\(path)", "KILLED_AT=\(call)"] + arguments)
    }
}
