// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostDispatch
internal import BghostLinux
internal import Glibc

/// A program that gets a message on its standard input, such as `sendmail -t`.
///
/// It runs as the daemon's user, like the programs of probes, without the daemon's environment and descriptors
/// and without a shell. It must deliver before it exits: what it has started is killed with it.
struct AlertProgram: Sendable {
    /// The most bytes of input, which fit into a pipe, so that writing them never waits.
    private static let inputBytesMax = 60 << 10
    /// The most bytes of output that are kept for the error.
    private static let outputBytesMax = 512

    let arguments: [String]
    let input: String
    /// How long it may take, nanoseconds.
    var timeout: UInt64 = 30_000_000_000

    func run(_ spawner: Spawner) async -> Result<String, AlertFailure> {
        guard let path = arguments.first else {
            return .failure(AlertFailure("it names no program"))
        }
        let output: Int32
        let spawned: Result<Spawner.Spawned, SystemError>
        do throws(SystemError) {
            let pipes = try Pipes(input)
            output = pipes.output.reading
            let order = Spawner.Order(
                path: path,
                arguments: arguments,
                environment: ["PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin", "LANG=C.UTF-8"],
                descriptors: [pipes.input, pipes.output.writing, pipes.output.writing]
            )
            spawned = await withCheckedContinuation { continuation in
                spawner.spawn(order) { continuation.resume(returning: $0) }
            }
            close(pipes.input)
            close(pipes.output.writing)
        } catch {
            return .failure(AlertFailure(error.description))
        }
        switch spawned {
        case .failure(let error):
            close(output)
            return .failure(AlertFailure(error.description))
        case .success(let spawned):
            let deadline = Monotonic.now + timeout
            return await withCheckedContinuation { continuation in
                // A thread of its own, since it waits for the program.
                let thread = WorkThread()
                thread.perform {
                    let result = wait(spawned, output, until: deadline)
                    spawner.collect(spawned.pid, adoptsOrphans: false)
                    continuation.resume(returning: result)
                }
                thread.end()
            }
        }
    }

    /// The descriptors of the program.
    private struct Pipes {
        /// Has the whole input, and its end.
        let input: Int32
        let output: (reading: Int32, writing: Int32)

        init(_ text: String) throws(SystemError) {
            let source = try Pipe.make()
            let bytes = Array(text.utf8.prefix(inputBytesMax))
            // A user with very many pipes gets small ones; a write that does not fit must not wait.
            _ = fcntl(source.writing, F_SETFL, O_NONBLOCK)
            let written = write(source.writing, bytes, bytes.count)
            let code = written < 0 ? errno : EAGAIN
            close(source.writing)
            guard written == bytes.count else {
                close(source.reading)
                throw SystemError("write the message into a pipe", code: code)
            }
            do throws(SystemError) {
                output = try Pipe.make()
            } catch {
                close(source.reading)
                throw error
            }
            // A program may not expect that its input does not wait.
            _ = fcntl(source.reading, F_SETFL, fcntl(source.reading, F_GETFL) & ~O_NONBLOCK)
            input = source.reading
        }
    }

    /// Waits for the end of the program, and kills what is left of it.
    private func wait(
        _ spawned: Spawner.Spawned,
        _ output: Int32,
        until deadline: MonotonicInstant
    ) -> Result<String, AlertFailure> {
        let process = ChildProcess(spawned)
        var text: [UInt8] = []
        var isOpen = true
        var isLate = false
        defer { close(output) }
        while process.exit == nil {
            let left = deadline.since(Monotonic.now) / 1_000_000
            if left == 0, !isLate {
                isLate = true
                process.kill()
            }
            var waiting = [
                pollfd(fd: process.pidfd, events: Int16(POLLIN), revents: 0),
                pollfd(fd: isOpen ? output : -1, events: Int16(POLLIN), revents: 0),
            ]
            // A killed process needs a moment to end.
            _ = poll(&waiting, 2, isLate ? 100 : Int32(clamping: left + 1))
            if waiting[1].revents != 0 { isOpen = Self.read(output, &text) }
        }
        // What it wrote last.
        if isOpen { _ = Self.read(output, &text) }
        let exit = process.exit
        process.giveUp()
        guard !isLate else {
            return .failure(
                AlertFailure(
                    "it did not end within \(DurationText.of(nanoseconds: timeout)) and was killed"
                )
            )
        }
        let said = Self.line(text)
        guard let exit, exit.exited, exit.code == 0 else {
            let end = exit.map { $0.exited ? "exit \($0.code)" : "signal \($0.code)" } ?? "no exit"
            return .failure(AlertFailure(said.isEmpty ? end : "\(end): \(said)"))
        }
        return .success("exit 0")
    }

    /// Reads once.
    ///
    /// - Returns: whether the output is still open.
    private static func read(_ fd: Int32, _ text: inout [UInt8]) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = Glibc.read(fd, &buffer, buffer.count)
        guard count > 0 else { return count < 0 && (errno == EAGAIN || errno == EINTR) }
        text += buffer.prefix(min(count, outputBytesMax - text.count))
        return true
    }

    private static func line(_ text: [UInt8]) -> String {
        PrintableText.escaped(
            String(decoding: text.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        )
    }
}
