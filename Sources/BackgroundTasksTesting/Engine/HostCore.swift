// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel
internal import BghostPolicy
internal import CBghost
internal import FoundationEssentials
internal import Synchronization

/// The engine behind a lock, for calls of plugins and tests from any thread.
final class HostCore: HostCalls {
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

    // MARK: Calls of plugins

    var time: (unix: Int64, monotonic: Int64) {
        let now = read { $0.now }
        return (now.unix, Int64(clamping: now.monotonic))
    }

    func complete(_ run: bg_run, _ end: RunEndCall) -> bg_status {
        change { $0.complete(run, end) }
    }

    func cancelled(_ run: bg_run) -> bg_status {
        read { engine in
            guard let run = engine.runs[run] else { return BG_E_STALE }
            return bg_status(bitPattern: run.machine.stopReason?.rawValue ?? 0)
        }
    }

    func setState(_ run: bg_run, _ state: UnsafeMutableRawPointer?) -> bg_status {
        let bits = UInt(bitPattern: state)
        return read { engine in
            guard engine.runs[run] != nil else { return BG_E_STALE }
            engine.runs[run]?.state = bits
            return BG_OK
        }
    }

    func progress(_ run: bg_run, _ progress: ProgressCall) -> bg_status {
        read { engine in
            guard let run = engine.runs[run] else { return BG_E_STALE }
            engine.history[run.place].record.progress = RunProgress(
                done: progress.done,
                total: progress.total,
                phase: progress.phase
            )
            return BG_OK
        }
    }

    func log(_ line: LogCall) -> bg_status {
        read { engine in
            let place = engine.runs[line.run]?.place
            engine.logs.append(
                TestHost.LogLine(line, task: place.map { engine.history[$0].record.task })
            )
            return BG_OK
        }
    }

    func submit(_ request: SubmitCall) -> bg_status { change { $0.submit(request) } }

    func identity(of run: bg_run) -> (status: bg_status, identity: bg_run_identity) {
        read { $0.identity(of: run) }
    }

    func cancelPending(_ identifier: String) -> bg_status {
        change { $0.cancelPending(identifier) }
    }

    func cancelAllPending() -> bg_status {
        change { $0.cancelAllPending() }
        return BG_OK
    }

    func pending() -> (status: bg_status, requests: [bg_pending]) {
        (BG_OK, read { $0.pendingOfPlugin() })
    }

    func refreshStatus() -> (status: bg_status, refresh: bg_refresh) {
        (BG_OK, read { $0.refreshOfPlugin() })
    }

    func missed(_ run: bg_run) -> (status: bg_status, missed: bg_missed) {
        read { $0.missed(by: run) }
    }

    func beginFetch(_ fetch: FetchCall) -> bg_status {
        let (host, port) = Self.target(fetch.url)
        guard let host else { return BG_E_ARG }
        return change { $0.begin(fetch, host: host, port: port) }
    }

    func cancelFetch(_ number: bg_fetch) -> bg_status { change { $0.cancelFetch(number) } }

    func sleep(_ sleep: SleepCall) -> bg_status { change { $0.begin(sleep) } }

    func wake(_ number: bg_sleep) -> bg_status { change { $0.wake(number) } }

    func beginTransfer(_ transfer: TransferCall) -> (status: bg_status, id: String) {
        let (host, port) = Self.target(transfer.url)
        return change { $0.begin(transfer, host: host, port: port) }
    }

    func waitForTransfer(_ wait: TransferWaitCall) -> bg_status { change { $0.wait(wait) } }

    func cancelTransfer(_ id: String) -> bg_status { change { $0.cancelTransfer(id) } }

    func transfers(of session: String, after: String?) -> [String] {
        read { $0.listed(of: session, after: after) }
    }

    func acknowledgeTransfer(_ id: String) -> bg_status { change { $0.acknowledge(id) } }

    func keepEnds(_ run: bg_run, _ ids: [String]) -> bg_status { change { $0.keep(run, ids) } }

    func claimEnds(
        _ run: bg_run,
        of session: String,
        bytesMax: Int
    ) -> (status: bg_status, json: String) {
        change { $0.claim(run, of: session, bytesMax: bytesMax) }
    }

    func post(_ notification: NotificationCall) -> bg_status { change { $0.post(notification) } }

    func withdraw(_ id: String) -> bg_status { change { $0.withdrawNotification(id) } }

    func pendingNotifications() -> String { read { $0.pendingNotifications() } }

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
    private static func target(_ address: String) -> (host: String?, port: UInt16) {
        let url = URL(string: address)
        let isSecure = url?.scheme == "https"
        guard isSecure || url?.scheme == "http" else { return (nil, 0) }
        return (url?.host(), UInt16(exactly: url?.port ?? (isSecure ? 443 : 80)) ?? 0)
    }
}
