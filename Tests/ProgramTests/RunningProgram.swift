// SPDX-License-Identifier: Apache-2.0

import BghostLinux
import BghostTestSupport
import CBghostSystem
import Glibc

/// A program that runs beside the test, with its stderr as lines to wait for.
final class RunningProgram {
    let pid: pid_t
    private let error: Int32
    private var rest: [UInt8] = []
    private(set) var lines: [String] = []
    private var isCollected = false

    /// Starts a build product.
    convenience init(_ name: String, _ arguments: [String], environment: [String] = []) throws {
        try self.init(command: [Artifact.path(name)] + arguments, environment: environment)
    }

    /// Starts a program, which is looked up on the path unless its name has a slash.
    init(command: [String], environment: [String] = []) throws {
        // A program that another test starts at this moment must not hold the writing end open.
        let pipe = try Pipe.make()
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, pipe.writing, 2)
        let path = command.first ?? ""
        var argv = command.map { strdup($0) } + [nil]
        defer { argv.forEach { free($0) } }
        let usual = ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/nonexistent"]
        var envp = (usual + environment).map { strdup($0) } + [nil]
        defer { envp.forEach { free($0) } }
        var started: pid_t = 0
        let code = posix_spawnp(&started, path, &actions, nil, &argv, &envp)
        close(pipe.writing)
        guard code == 0 else {
            close(pipe.reading)
            throw SystemCallError(call: "start \(path)", code: code)
        }
        pid = started
        error = pipe.reading
    }

    deinit {
        if !isCollected {
            kill(pid, SIGKILL)
            waitpid(pid, nil, 0)
        }
        close(error)
    }

    /// Reads stderr until a line contains the text.
    ///
    /// - Parameter seconds: the longest silence. By default it only ends a test that would hang, also on a
    ///   machine with every processor busy.
    /// - Returns: the line, or `nil` if the program closed its stderr or was silent for so long first.
    func line(containing text: String, within seconds: Int32 = 120) -> String? {
        var index = 0
        while true {
            while index < lines.count {
                if lines[index].contains(text) { return lines[index] }
                index += 1
            }
            guard readMore(within: seconds) else { return nil }
        }
    }

    /// Reads stderr until so many lines contain the text.
    ///
    /// - Returns: whether there were as many before it closed its stderr or was silent for two minutes.
    func has(_ count: Int, linesContaining text: String) -> Bool {
        while lines.count(where: { $0.contains(text) }) < count {
            guard readMore() else { return false }
        }
        return true
    }

    /// - Parameter seconds: a line that does not come within this time never will.
    private func readMore(within seconds: Int32 = 120) -> Bool {
        var wanted = pollfd(fd: error, events: Int16(POLLIN), revents: 0)
        var ready = poll(&wanted, 1, seconds * 1000)
        while ready < 0, errno == EINTR { ready = poll(&wanted, 1, seconds * 1000) }
        guard ready == 1 else { return false }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let count = read(error, &buffer, buffer.count)
        guard count > 0 else { return false }
        rest += buffer[..<count]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            lines.append(String(decoding: rest[..<end], as: UTF8.self))
            rest.removeFirst(end + 1)
        }
        return true
    }

    /// Reads what it has written so far, and waits for nothing.
    func readAll() {
        while readMore(within: 0) {}
    }

    func signal(_ number: Int32) {
        kill(pid, number)
    }

    /// Waits for the end.
    ///
    /// - Returns: the exit code, or minus the signal.
    func end() -> Int32 {
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        isCollected = true
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F)
    }
}

/// How long the threads of a process have waited for a processor so far, all together.
///
/// A bound on what a daemon does in time holds for the time in which the machine lets it run.
func processorWait(of pid: pid_t) throws -> Duration {
    var waited: Int64 = 0
    for thread in try File.list("/proc/\(pid)/task") {
        // A thread that has ended meanwhile has no such file.
        let account = (try? File.read("/proc/\(pid)/task/\(thread)/schedstat")) ?? []
        let numbers = String(decoding: account, as: UTF8.self).split(separator: " ")
        if numbers.count > 1, let wait = Int64(numbers[1]) { waited += wait }
    }
    return .nanoseconds(waited)
}

/// The children of a process and theirs.
func descendants(of pid: pid_t) -> [pid_t] {
    var found: [pid_t] = []
    var open = [pid]
    while let next = open.popLast() {
        for thread in (try? File.list("/proc/\(next)/task")) ?? [] {
            let path = "/proc/\(next)/task/\(thread)/children"
            guard let bytes = try? File.read(path) else { continue }
            let children = String(decoding: bytes, as: UTF8.self).split(separator: " ")
                .compactMap { pid_t($0) }
            found += children
            open += children
        }
    }
    return found
}

/// Processes that must end, also if their parent ends first and another process reaps them later.
final class EndingProcesses {
    private let handles: [Int32]

    init(_ processes: [pid_t]) { handles = processes.map { bgs_pidfd_open($0) }.filter { $0 >= 0 } }

    deinit { for handle in handles { close(handle) } }

    var isEmpty: Bool { handles.isEmpty }

    /// Waits until all have ended; a busy machine may take a while.
    ///
    /// - Returns: whether they have.
    func haveEnded() -> Bool {
        handles.allSatisfy { handle in
            var wanted = pollfd(fd: handle, events: Int16(POLLIN), revents: 0)
            return poll(&wanted, 1, 120_000) == 1
        }
    }
}
