// SPDX-License-Identifier: Apache-2.0

import BghostBase
internal import BghostLinux
internal import Glibc

/// The usual sandbox of programs, where it is installed.
enum Bubblewrap {
    static let path: String? = ["/usr/bin/bwrap", "/usr/local/bin/bwrap"].first { (path: String) in
        access(path, X_OK) == 0
    }
}

extension Subject {
    /// From the start of bwrap to the end of the empty program in it.
    func bubblewrap() throws {
        guard let path = Bubblewrap.path else {
            throw BenchFailure(description: "bwrap is not installed")
        }
        let order = Spawner.Order(
            path: path,
            arguments: [
                "bwrap", "--unshare-user", "--unshare-ipc", "--unshare-net", "--unshare-uts",
                "--ro-bind", "/usr", "/usr", "--symlink", "usr/lib", "/lib", "--symlink",
                "usr/lib64", "/lib64", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp",
                "/usr/bin/true",
            ],
            environment: [],
            descriptors: [0, 1, 2]
        )
        var samples = Samples(reserving: count)
        for _ in 0..<count {
            let before = Monotonic.now
            let child = try Spawner.spawnHere(order)
            var status: Int32 = 0
            waitpid(child.pid, &status, 0)
            samples.add(Monotonic.now.since(before))
            close(child.pidfd)
            guard status == 0 else { throw BenchFailure(description: "bwrap failed: \(status)") }
        }
        samples.report()
    }
}
