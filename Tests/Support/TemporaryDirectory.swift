// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A folder of its own for one test, removed with all that is in it when the last reference goes.
package final class TemporaryDirectory: Sendable {
    /// Absolute, without a trailing slash, and short enough for the name of a Unix socket.
    package let path: String

    package init(in folder: String = "/tmp") throws(SystemCallError) {
        var template = Array("\(folder)/bghost-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw SystemCallError(call: "mkdtemp", code: errno)
        }
        let bytes = template.dropLast().map(UInt8.init(bitPattern:))
        path = String(decoding: bytes, as: UTF8.self)
    }

    deinit { Self.removeTree(path) }

    /// The path of an entry that may or may not exist.
    package func file(_ name: String) -> String { path + "/" + name }

    /// Writes a whole file, replacing what was there, and returns its path.
    @discardableResult
    package func write(_ bytes: some Collection<UInt8>, to name: String) throws(SystemCallError)
        -> String
    {
        let path = file(name)
        try File.write(bytes, to: path)
        return path
    }

    /// Writes a whole text file, replacing what was there, and returns its path.
    @discardableResult
    package func write(_ text: String, to name: String) throws(SystemCallError) -> String {
        try write(Array(text.utf8), to: name)
    }

    /// Writes a program that tests start, and returns its path.
    ///
    /// Another process writes it. The kernel starts no file that a process has open for writing, and a child
    /// that another test forks while this process writes has it open until it becomes its program.
    @discardableResult
    package func writeProgram(_ text: String, to name: String) throws -> String {
        let draft = try write(text, to: name + ".draft")
        let made = try Command.run(["install", "-m", "700", draft, file(name)])
        unlink(draft)
        guard made.exitCode == 0 else {
            throw SystemCallError(call: "install \(name): \(made.error)", code: EIO)
        }
        return file(name)
    }

    /// Writes a whole text file by way of another process, as an editor or a compiler does.
    ///
    /// The kernel tells watchers that a file is written when no process has it open any more, and a child that
    /// another test forks while this process writes has it open until it becomes its program.
    package func writeElsewhere(_ text: String, to name: String) throws {
        let words = ["sh", "-c", #"printf %s "$1" > "$2""#, "sh", text, file(name)]
        let made = try Command.run(words)
        guard made.exitCode == 0 else {
            throw SystemCallError(call: "write \(name): \(made.error)", code: EIO)
        }
    }

    /// Removes a tree without following symbolic links: a test may have put links out of it there.
    private static func removeTree(_ path: String) {
        for name in (try? File.list(path)) ?? [] {
            let child = path + "/" + name
            if unlink(child) != 0, errno == EISDIR { removeTree(child) }
        }
        rmdir(path)
    }
}
