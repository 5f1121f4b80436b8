// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Synchronization

/// The engine behind a lock, for calls of plugins and tests from any thread.
final class HostCore: Sendable {
    private let engine: Mutex<Engine>
    /// Signalled whenever the driver may have something to do.
    let events = EventCounter()

    init(_ engine: Engine) { self.engine = Mutex(engine) }

    /// Reads the engine, or changes it in a way that gives the driver nothing to do.
    func read<Answer: Sendable, Failure>(
        _ body: (inout Engine) throws(Failure) -> Answer
    ) throws(Failure) -> Answer {
        try engine.withLock { engine throws(Failure) in try body(&engine) }
    }

    /// Changes the engine in a way that may give the driver something to do.
    func change<Answer: Sendable, Failure>(
        _ body: (inout Engine) throws(Failure) -> Answer
    ) throws(Failure) -> Answer {
        defer { events.signal() }
        return try read(body)
    }

    func became(busy run: UInt64) { read { $0.runs[run]?.busy += 1 } }

    func became(idle run: UInt64) { change { $0.runs[run]?.busy -= 1 } }

    /// Ends a transfer with the test's answer, and writes the body of a download to a file.
    ///
    /// - Returns: `false` if the transfer has already ended.
    func end(_ id: String, _ end: FetchEnd, directory: String) -> Bool {
        guard let transfer = read({ $0.transfers[id] }), transfer.end == nil else { return false }
        var notified = OpenTransfer.End(end, isUpload: transfer.call.isUpload)
        if case .answered(let status, _, let body) = end, !transfer.call.isUpload,
            (200...299).contains(status)
        {
            let folder = URL(filePath: directory, directoryHint: .isDirectory)
                .appending(path: "transfers", directoryHint: .isDirectory)
            let file = folder.appending(path: id)
            do {
                try FileManager.default.createDirectory(
                    at: folder,
                    withIntermediateDirectories: true
                )
                try Data(body).write(to: file)
                notified.file = file.path
            } catch {
                notified.state = "failed"
                notified.fault = ("file", "cannot write `\(file.path)`: \(error)")
            }
        }
        return change { $0.end(id, notified) }
    }

    /// The host and port of a URL; no host if it is not an HTTP URL.
    static func target(_ address: String) -> (host: String?, port: UInt16) {
        let url = URL(string: address)
        let isSecure = url?.scheme == "https"
        guard isSecure || url?.scheme == "http" else { return (nil, 0) }
        return (url?.host(), UInt16(exactly: url?.port ?? (isSecure ? 443 : 80)) ?? 0)
    }
}
