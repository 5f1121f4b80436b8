// SPDX-License-Identifier: Apache-2.0

internal import BghostLinux
internal import BghostPlugin
internal import CBghostSystem
internal import Glibc

/// The state of this process that plugin code may change, at one moment.
struct ProcessPicture: Sendable {
    /// Values by their names.
    var facts: [String: String] = [:]

    /// The differences, in words.
    func changes(to later: ProcessPicture) -> [String] {
        Set(facts.keys).union(later.facts.keys).sorted().compactMap { key in
            let (before, after) = (facts[key], later.facts[key])
            guard before != after else { return nil }
            return "\(key) was \(before ?? "unset") and is \(after ?? "unset")"
        }
    }

    /// The signal handlers of the process, and the blocked signals of the calling thread.
    static func signals() -> ProcessPicture {
        var facts: [String: String] = [:]
        for number in Int32(1)...64 {
            var handler: UInt64 = 0
            guard bgs_signal_handler(number, &handler) == 0 else { continue }
            facts[factOfHandler(number)] =
                switch handler {
                case 0: "the default"
                case 1: "ignored"
                default: "a function at 0x\(String(handler, radix: 16))"
                }
        }
        facts["the mask of blocked signals"] = "0x" + String(bgs_signal_mask(), radix: 16)
        facts[signalStack] = "0x" + String(bgs_signal_stack(), radix: 16)
        facts["the timer of alarm() or setitimer()"] = bgs_timer_armed() != 0 ? "armed" : "off"
        return ProcessPicture(facts: facts)
    }

    /// The name of the fact about the calling thread's stack for signal handlers.
    static let signalStack = "the stack for signal handlers"
    /// The name of the fact about a signal's handler.
    static func factOfHandler(_ signal: Int32) -> String { "the handler of \(name(of: signal))" }

    private static func name(of signal: Int32) -> String {
        bgs_signal_name(signal).map { "SIG" + String(cString: $0) } ?? "signal \(signal)"
    }

    /// State of the whole process.
    static func state() -> ProcessPicture {
        var facts: [String: String] = [:]
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        facts["the working folder"] = getcwd(&path, path.count).map { String(cString: $0) }
        let mask = umask(0)
        umask(mask)
        facts["the umask"] = "0" + String(mask, radix: 8)
        facts["the locale"] = setlocale(LC_ALL, nil).map { String(cString: $0) }
        facts["the user"] = "\(getuid()) \(geteuid()) \(getgid()) \(getegid())"
        facts["the rounding of floating point"] = String(bgs_rounding())
        facts["the process's priority"] = String(bgs_priority())
        facts["whether it may be traced (PR_SET_DUMPABLE)"] = String(bgs_dumpable())
        for resource in 0..<bgs_limit_count() {
            facts["resource limit \(resource)"] = String(bgs_limit_of(resource))
        }
        for fd in Int32(0)...2 {
            facts["where descriptor \(fd) leads"] = link("/proc/self/fd/\(fd)")
        }
        facts["the process's name"] = SmallFile.text("/proc/self/comm")
        for variable in OwnProcess.environment {
            let parts = variable.split(
                separator: "=",
                maxSplits: 1,
                omittingEmptySubsequences: false
            )
            facts["the variable \(parts[0])"] = parts.count > 1 ? "\"\(parts[1])\"" : "\"\""
        }
        return ProcessPicture(facts: facts)
    }

    /// The open descriptors, with the files that they refer to.
    static func descriptors() -> [Int32: String] {
        var found: [Int32: String] = [:]
        guard let folder = opendir("/proc/self/fd") else { return found }
        defer { closedir(folder) }
        let own = dirfd(folder)
        while let name = nextName(folder) {
            guard let fd = Int32(name), fd != own else { continue }
            found[fd] = link("/proc/self/fd/\(fd)") ?? "?"
        }
        return found
    }

    /// The names of the threads that belong neither to the checker nor to the runtime, by their
    /// ids.
    static func foreignThreads() -> [Int32: String] {
        var found: [Int32: String] = [:]
        guard let folder = opendir("/proc/self/task") else { return found }
        defer { closedir(folder) }
        let own = ThreadPool.threads.union(Line.threads).union([getpid()])
        while let name = nextName(folder) {
            guard let thread = Int32(name), !own.contains(thread),
                let text = SmallFile.text("/proc/self/task/\(thread)/comm")
            else { continue }
            found[thread] = text
        }
        return found
    }

    /// The child processes of this process.
    static func children() -> [Int32] { childPIDs(of: getpid()) }

    private static func nextName(_ folder: OpaquePointer) -> String? {
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { return name }
        }
        return nil
    }

    private static func link(_ path: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = readlink(path, &buffer, buffer.count)
        return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
    }
}

/// Reads small files of /proc.
enum SmallFile {
    /// The text of a file without its final newline; `nil` if it cannot be read.
    static func text(_ path: String) -> String? {
        let fd = open(path, O_RDONLY | O_CLOEXEC)
        guard fd >= 0 else { return nil }
        defer { close(fd) }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = read(fd, &buffer, buffer.count)
        guard count >= 0 else { return nil }
        return String(decoding: buffer[..<count].prefix { $0 != 10 }, as: UTF8.self)
    }
}
