// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostBase
internal import BghostDispatch
internal import BghostHost
internal import BghostLinux
internal import BghostModel
internal import BghostPolicy
internal import BghostServices
internal import Glibc

/// Writes a decision journal on a thread of its own.
///
/// A failed write ends the journal and is logged; the daemon continues.
final class DecisionFile: DecisionRecorder {
    private let thread = WorkThread()
    private let fd: Int32
    private let path: String
    private let log: HostLog

    /// Creates the file, with read permission for its owner only: it contains the parameters of requests.
    init(_ path: String, log: HostLog) throws(CommandFailure) {
        self.path = path
        self.log = log
        fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard fd >= 0 else {
            throw CommandFailure(
                .taken,
                "cannot make \(path): \(String(cString: strerror(errno)))",
                fix: "name a new file with --record"
            )
        }
    }

    deinit { close(fd) }

    func begin(_ settings: Scheduler.Settings) {
        let header = DecisionJournal.header(settings, version: BghostVersion.text)
        write { try DecisionJournal.encode(header) }
    }

    func add(_ inputs: [SchedulerInput.Entry], _ effects: [SchedulerEffect]) {
        guard !inputs.isEmpty || !effects.isEmpty else { return }
        write {
            try DecisionJournal.encode(
                DecisionJournal.Line(inputs: inputs, effects: effects.map(\.fingerprint))
            )
        }
    }

    /// Waits until all lines are written.
    func finish() async {
        await withCheckedContinuation { continuation in
            thread.perform { continuation.resume() }
        }
        thread.end()
    }

    private func write(_ line: @escaping @Sendable () throws -> [UInt8]) {
        thread.perform { [self] in
            do {
                var rest = try line()[...]
                while !rest.isEmpty {
                    let count = rest.withUnsafeBytes {
                        Glibc.write(fd, $0.baseAddress, $0.count)
                    }
                    guard count > 0 || errno == EINTR else {
                        throw SystemError("write", path, code: errno)
                    }
                    rest = rest.dropFirst(max(0, count))
                }
            } catch {
                log.write(.error, "journal.failed", "\(path) is not whole: \(error)")
            }
        }
    }
}
