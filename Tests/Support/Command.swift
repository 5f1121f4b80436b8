// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A program that is run to its end, with its output collected.
package struct Command: Sendable {
    /// How it ended.
    package struct Result: Sendable {
        /// The exit status; `nil` if a signal ended it.
        package var exitCode: Int32?
        /// The signal that ended it; `nil` if it exited.
        package var signal: Int32?
        package var output: String
        package var error: String
    }

    /// Runs a program to its end.
    ///
    /// It is looked up on `PATH` unless its name has a slash. Its stdin is empty. Blocks the thread.
    package static func run(_ arguments: [String]) throws(SystemCallError) -> Result {
        let program = arguments.first ?? ""
        // Files and not pipes: nothing has to be read while the program runs.
        let folder = try TemporaryDirectory()
        let flags = O_WRONLY | O_CREAT
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, folder.file("out"), flags, 0o600)
        posix_spawn_file_actions_addopen(&actions, 2, folder.file("err"), flags, 0o600)
        var argv = arguments.map { strdup($0) } + [nil]
        defer { argv.forEach { free($0) } }
        var pid: pid_t = 0
        let code = posix_spawnp(&pid, program, &actions, nil, &argv, environ)
        guard code == 0 else { throw SystemCallError(call: "run \(program)", code: code) }
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0 {
            guard errno == EINTR else {
                throw SystemCallError(call: "wait \(program)", code: errno)
            }
        }
        let signal = status & 0x7F
        return Result(
            exitCode: signal == 0 ? (status >> 8) & 0xFF : nil,
            signal: signal == 0 ? nil : signal,
            output: String(decoding: try File.read(folder.file("out")), as: UTF8.self),
            error: String(decoding: try File.read(folder.file("err")), as: UTF8.self)
        )
    }

    /// Runs a program that takes its time, on a thread of its own: of Swift's pool there may be two.
    package static func runApart(_ arguments: [String]) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            let job = Unmanaged.passRetained(
                Apart {
                    continuation.resume(with: Swift.Result { try run(arguments) })
                }
            )
            var thread = pthread_t()
            let code = pthread_create(
                &thread,
                nil,
                { held in
                    guard let held else { return nil }
                    Unmanaged<Apart>.fromOpaque(held).takeRetainedValue().body()
                    return nil
                },
                job.toOpaque()
            )
            guard code == 0 else {
                job.release()
                let error = SystemCallError(call: "pthread_create", code: code)
                return continuation.resume(throwing: error)
            }
            pthread_detach(thread)
        }
    }

    private final class Apart: Sendable {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}
