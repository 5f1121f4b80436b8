// SPDX-License-Identifier: Apache-2.0

import BghostLinux
import Glibc
import Testing

/// A program that runs as a child of the test until this goes.
final class Program {
    let child: ChildProcess
    private let input: Int32
    private let output: Int32

    /// - Parameter extra: descriptors that it gets as 3 and on.
    init(_ arguments: [String], extra: [Int32] = []) throws {
        let input = try Pipe.make()
        let output = try Pipe.make()
        // The program's descriptors may block; only the host's must not.
        _ = fcntl(input.reading, F_SETFL, 0)
        defer {
            close(input.reading)
            close(output.writing)
        }
        let order = Spawner.Order(
            path: arguments[0],
            arguments: arguments,
            environment: ["PATH=/usr/bin:/bin"],
            descriptors: [input.reading, output.writing, 2] + extra
        )
        child = ChildProcess(try Spawner.spawnHere(order))
        self.input = input.writing
        self.output = output.reading
    }

    convenience init(shell script: String, extra: [Int32] = []) throws {
        try self.init(["/bin/sh", "-c", script], extra: extra)
    }

    /// Waits until it has ended.
    func end() throws -> ProcessExit {
        Self.wait(for: child.pidfd)
        return try #require(child.exit)
    }

    /// Gives it a line on stdin.
    func say(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        #expect(write(input, bytes, bytes.count) == bytes.count)
    }

    /// Waits for its next line on stdout; what it wrote last if that is the end.
    func line() -> String {
        var bytes: [UInt8] = []
        while let byte = Self.next(output), byte != UInt8(ascii: "\n") { bytes.append(byte) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Waits until no process holds its stdout: the program and all that it started have ended.
    func waitUntilAllAreGone() {
        while Self.next(output) != nil {}
    }

    /// The next byte; `nil` at the end.
    static func next(_ fd: Int32) -> UInt8? {
        wait(for: fd)
        var byte: UInt8 = 0
        return read(fd, &byte, 1) == 1 ? byte : nil
    }

    /// Waits until a descriptor can be read.
    static func wait(for fd: Int32) {
        var waiting = pollfd(fd: fd, events: Int16(POLLIN), revents: 0)
        while poll(&waiting, 1, -1) < 0, errno == EINTR {}
    }

    deinit {
        child.kill()
        Self.wait(for: child.pidfd)
        child.collectHere()
        close(input)
        close(output)
    }
}
