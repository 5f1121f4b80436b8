// SPDX-License-Identifier: Apache-2.0

import BghostBase
internal import BghostLinux
internal import Glibc

/// The server among the floors, for as long as this object lives, and a folder for what comes from it.
final class FileServer {
    let port: Int
    /// In memory, unless it is to be on a disk.
    let folder: String
    private let child: Spawner.Spawned
    private let holder: Int32

    init(_ subject: Subject) throws {
        let isOnDisk = subject.words.contains("disk")
        var space = statvfs()
        let hasMemory =
            statvfs("/dev/shm", &space) == 0
            && UInt64(space.f_bavail) * UInt64(space.f_frsize) > 3 << 30
        let place = isOnDisk || !hasMemory ? subject.files : "/dev/shm"
        var template = Array("\(place)/bghost-bench.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw BenchFailure(description: "cannot make a folder in \(place)")
        }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        // Connections and files of a thousand transfers.
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        let (reading, writing) = try Pipe.make()
        let (lifeline, holder) = try Pipe.make()
        defer {
            close(reading)
            close(writing)
            close(lifeline)
        }
        self.holder = holder
        let floors = subject.files + "/floors"
        child = try subject.start(floors, [floors, "serve"], [lifeline, writing, 2])
        var text = [UInt8](repeating: 0, count: 32)
        var wanted = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
        let count = poll(&wanted, 1, 10_000) == 1 ? read(reading, &text, text.count) : 0
        let digits = String(decoding: text.prefix(max(0, count)), as: UTF8.self)
        guard let port = Int(digits.prefix { $0.isNumber }) else {
            throw BenchFailure(description: "the server says no port")
        }
        self.port = port
    }

    deinit {
        close(holder)
        waitpid(child.pid, nil, 0)
        close(child.pidfd)
        let rm = Spawner.Order(
            path: "/bin/rm",
            arguments: ["rm", "-rf", folder],
            environment: [],
            descriptors: []
        )
        guard let rm = try? Spawner.spawnHere(rm) else { return }
        waitpid(rm.pid, nil, 0)
        close(rm.pidfd)
    }

    func url(_ path: String) -> String { "http://127.0.0.1:\(port)/\(path)" }

    /// A file of so many MiB, with something in it.
    func makeFile(_ mebibytes: Int) throws -> String {
        let path = folder + "/source"
        let fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard fd >= 0 else { throw BenchFailure(description: "cannot write \(path)") }
        defer { close(fd) }
        let piece = (0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        for _ in 0..<mebibytes {
            guard write(fd, piece, piece.count) == piece.count else {
                throw BenchFailure(description: "there is no room for \(path)")
            }
        }
        return path
    }

    /// Fails unless a file is as long as it should be.
    func check(_ name: String, bytes: Int) throws {
        var status = stat()
        guard stat(folder + "/" + name, &status) == 0, Int(status.st_size) == bytes else {
            throw BenchFailure(description: "\(name) did not come whole")
        }
    }
}

/// What passes while something is done.
struct Stopwatch {
    private let start = Monotonic.now
    private let used: Double
    private let who: __rusage_who_t

    /// - Parameter ofChildren: whether the processor time of processes that have ended counts, and not
    ///   this one's.
    init(ofChildren: Bool = false) {
        who = __rusage_who_t((ofChildren ? RUSAGE_CHILDREN : RUSAGE_SELF).rawValue)
        used = Self.processor(who)
    }

    var seconds: Double { Double(Monotonic.now.since(start)) / 1e9 }

    /// Of the processors, seconds.
    var processor: Double { Self.processor(who) - used }

    private static func processor(_ who: __rusage_who_t) -> Double {
        var usage = rusage()
        getrusage(who, &usage)
        let seconds = usage.ru_utime.tv_sec + usage.ru_stime.tv_sec
        return Double(seconds) + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
    }
}
