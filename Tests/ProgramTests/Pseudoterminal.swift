// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import Glibc

/// A program on a terminal of its own, whose output the test reads and whose keys it presses.
final class Pseudoterminal {
    private let leader: Int32
    private let pid: pid_t
    private(set) var output: [UInt8] = []
    private var isCollected = false

    /// Starts a program on a terminal of a size.
    init(command: [String], columns: UInt16, rows: UInt16, environment: [String] = []) throws {
        // Swift does not import `posix_openpt` and its relatives, nor the requests that they make.
        let (unlock, number): (UInt, UInt) = (0x4004_5431, 0x8004_5430)
        leader = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var (locked, terminal): (Int32, UInt32) = (0, 0)
        guard leader >= 0, ioctl(leader, unlock, &locked) == 0,
            ioctl(leader, number, &terminal) == 0
        else { throw SystemCallError(call: "open a terminal", code: errno) }
        let name = "/dev/pts/\(terminal)"
        var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(leader, UInt(TIOCSWINSZ), &size)
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // The first terminal that a session opens controls it, so Ctrl-C reaches the program.
        posix_spawn_file_actions_addopen(&actions, 0, name, O_RDWR, 0)
        posix_spawn_file_actions_adddup2(&actions, 0, 1)
        posix_spawn_file_actions_adddup2(&actions, 0, 2)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // POSIX_SPAWN_SETSID
        posix_spawnattr_setflags(&attributes, 0x80)
        var argv = command.map { strdup($0) } + [nil]
        defer { argv.forEach { free($0) } }
        let usual = ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/nonexistent", "LANG=C.UTF-8"]
        var envp = (usual + environment).map { strdup($0) } + [nil]
        defer { envp.forEach { free($0) } }
        var started: pid_t = 0
        let code = posix_spawnp(&started, command[0], &actions, &attributes, &argv, &envp)
        guard code == 0 else { throw SystemCallError(call: "start \(command[0])", code: code) }
        pid = started
    }

    deinit {
        if !isCollected {
            kill(pid, SIGKILL)
            waitpid(pid, nil, 0)
        }
        close(leader)
    }

    func press(_ keys: String) {
        let bytes = Array(keys.utf8)
        _ = write(leader, bytes, bytes.count)
    }

    /// Reads until the output since a place contains a text.
    ///
    /// - Returns: the place after all output so far; `nil` if it was silent for two minutes, or ended.
    func read(until text: String, from place: Int = 0) -> Int? {
        while true {
            if String(decoding: output[place...], as: UTF8.self).contains(text) {
                return output.count
            }
            guard readMore() else { return nil }
        }
    }

    private func readMore() -> Bool {
        var ready = pollfd(fd: leader, events: Int16(POLLIN), revents: 0)
        guard poll(&ready, 1, 120_000) == 1 else { return false }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let count = Glibc.read(leader, &buffer, buffer.count)
        guard count > 0 else { return false }
        output += buffer[..<count]
        return true
    }

    /// Reads the rest, and waits for the end.
    ///
    /// - Returns: the exit status, or minus the signal that ended it.
    func end() -> Int32 {
        while readMore() {}
        var status: Int32 = 0
        waitpid(pid, &status, 0)
        isCollected = true
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F)
    }

    var text: String { String(decoding: output, as: UTF8.self) }
}
