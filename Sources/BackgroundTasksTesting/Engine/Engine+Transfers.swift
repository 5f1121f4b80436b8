// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostFacts
internal import BghostModel
internal import BghostPlugin
internal import BghostWire
internal import CBghost

/// A transfer that is in progress, or has ended and is not acknowledged.
struct OpenTransfer: Sendable {
    /// How it ended.
    struct End: Sendable {
        /// "done", "failed" or "cancelled".
        var state: String
        var status = 0
        var headers: [(name: String, value: String)] = []
        /// The body of the response to an upload.
        var body = ""
        var file = ""
        var bytes = 0
        var fault: (code: String, message: String)?
    }

    let id: String
    let number: UInt64
    let call: TransferBegin
    /// The wall-clock time before which it does not start, Unix nanoseconds.
    let earliest: Int64
    let deadline: MonotonicInstant
    var isAsked = false
    var end: End?
    var waiters: [OpenCall] = []
    /// How often a wake for it failed.
    var wakes = 0
    /// Whether no run has taken its end, which waits for its session.
    var isKept = false
    /// The run that has claimed its end; `nil` if there is none.
    var claimedBy: UInt64?

    /// Whether a wake tells of its end.
    var notifiesSession: Bool { call.flags & UInt32(BG_TRANSFER_NO_WAKE) == 0 && !isKept }
}

/// Transfers, which the test answers and which outlive their runs.
extension Engine {
    mutating func begin(_ call: TransferBegin, host: String?, port: UInt16) -> HostAnswer {
        guard Self.isSession(call.session), let host, !call.isUpload || !call.file.isEmpty else {
            return HostAnswer(status: BG_E_ARG)
        }
        guard subject.mayReach(host.lowercased(), port),
            !call.isUpload || subject.mayRead(call.file)
        else { return HostAnswer(status: BG_E_PERM) }
        let same = transfers.values.first { $0.end == nil && $0.call.isSame(as: call) }
        if let same { return HostAnswer(status: BG_OK, body: .transfer(id: same.id)) }
        lastTransfer += 1
        let digits = "\(lastTransfer)"
        let id = "T" + String(repeating: "0", count: 25 - digits.utf8.count) + digits
        let timeout: Duration =
            call.totalTimeoutMilliseconds == 0
            ? .seconds(7 * 86_400)
            : .milliseconds(min(call.totalTimeoutMilliseconds, 365 * 86_400_000))
        transfers[id] = OpenTransfer(
            id: id,
            number: lastTransfer,
            call: call,
            earliest: min(call.earliestUnixMilliseconds, Int64.max / 1_000_000) * 1_000_000,
            deadline: now.monotonic + timeout.clampedNanoseconds
        )
        return HostAnswer(status: BG_OK, body: .transfer(id: id))
    }

    private static func isSession(_ name: String) -> Bool {
        (1...128).contains(name.utf8.count)
            && name.unicodeScalars.allSatisfy { scalar in
                scalar.isASCII
                    && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil
                        || "._-".unicodeScalars.contains(scalar))
            }
    }

    /// Lets a run in progress wait for the end of a transfer.
    mutating func wait(_ call: OpenCall, for id: String) {
        guard let transfer = transfers[id] else {
            return actions.append(.answer(call, HostAnswer(status: BG_E_ABSENT)))
        }
        // A run that is being cancelled does not wait.
        guard runs[call.run]?.machine.stopReason == nil else {
            return actions.append(.answer(call, .cancelled))
        }
        guard transfer.end != nil else {
            transfers[id]?.waiters.append(call)
            return
        }
        guard transfer.claimedBy == nil else {
            return actions.append(.answer(call, HostAnswer(status: BG_E_ABSENT)))
        }
        transfers[id] = nil
        actions.append(.answer(call, .ended(json(transfer))))
    }

    mutating func cancelTransfer(_ id: String) -> Int32 {
        end(id, OpenTransfer.End(state: "cancelled")) ? BG_OK : BG_E_ABSENT
    }

    mutating func acknowledge(_ id: String) -> Int32 {
        guard transfers[id]?.end != nil else { return BG_E_ABSENT }
        transfers[id] = nil
        return BG_OK
    }

    /// The transfers of a session as JSON: as many as fit, but at least one.
    ///
    /// - Parameters:
    ///   - after: the id of the transfer before the first; "" for all.
    ///   - bytesMax: the longest array; 0 for any length.
    func listed(of session: String, after: String, bytesMax: Int) -> String {
        let first = transfers[after]?.number ?? 0
        var list = "["
        for transfer in ordered where transfer.call.session == session && transfer.number > first {
            let next = (list.utf8.count > 1 ? "," : "") + json(transfer)
            let isLong = list.utf8.count + next.utf8.count >= bytesMax
            // The length of the first is notified, although it does not fit.
            guard bytesMax == 0 || !isLong || list.utf8.count == 1 else { break }
            list += next
            if bytesMax > 0, isLong { break }
        }
        return list + "]"
    }

    var ordered: [OpenTransfer] { transfers.values.sorted { $0.number < $1.number } }

    // MARK: Ends

    /// Ends a transfer, and tells the waiting runs, or if there are none its session.
    ///
    /// - Returns: `false` if it has already ended or is unknown.
    @discardableResult
    mutating func end(_ id: String, _ end: OpenTransfer.End) -> Bool {
        guard var transfer = transfers[id], transfer.end == nil else { return false }
        transfer.end = end
        let waiters = transfer.waiters
        transfer.waiters = []
        transfers[id] = waiters.isEmpty ? transfer : nil
        let text = json(transfer)
        for waiter in waiters { actions.append(.answer(waiter, .ended(text))) }
        wake(transfer.call.session)
        return true
    }

    /// Ends all waits of a run without ending the transfers.
    mutating func detach(_ run: UInt64) {
        for transfer in ordered where transfer.waiters.contains(where: { $0.run == run }) {
            for waiter in transfer.waiters where waiter.run == run {
                actions.append(.answer(waiter, .cancelled))
            }
            transfers[transfer.id]?.waiters.removeAll { $0.run == run }
        }
    }

    /// Schedules the wake of a session once all its transfers have ended.
    mutating func wake(_ session: String) {
        let all = ordered.filter { $0.call.session == session }
        let notified = all.filter(\.notifiesSession)
        guard !notified.isEmpty, all.allSatisfy({ $0.end != nil }), wakes[session] == nil else {
            return
        }
        let wait: UInt64 = notified.contains { $0.wakes > 0 } ? Self.wakeDelay : 0
        wakes[session] = now.monotonic + wait
    }

    /// The delay after a failed wake: one minute.
    private static var wakeDelay: UInt64 { 60_000_000_000 }

    /// Starts the run that tells a session of its transfers.
    mutating func beginWake(_ session: String) {
        wakes[session] = nil
        let notified = ordered.filter { transfer in
            transfer.call.session == session && transfer.end != nil && transfer.notifiesSession
        }
        guard let task = subject.wakeTask(of: session), !notified.isEmpty,
            !runs.values.contains(where: { $0.wake == session })
        else { return }
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("session", session)
            writer.member("transfers", raw: "[" + notified.map(json).joined(separator: ",") + "]")
            writer.member("more", false)
        }
        pendingWake = (session, notified.map(\.id))
        defer { pendingWake = nil }
        do throws(SubmitError) {
            let submission = Submission(
                task: task,
                parameters: writer.text,
                ignoresRequirements: true
            )
            try submit(submission, isManual: true)
        } catch {
            wakes[session] = now.monotonic + Self.wakeDelay
        }
    }

    /// What follows the end of a run that notified a session.
    mutating func wakeEnded(
        _ session: String,
        _ notified: [String],
        _ unclaimed: Set<String>,
        _ outcome: Outcome
    ) {
        for id in notified {
            if outcome == .succeeded, unclaimed.contains(id) {
                transfers[id]?.isKept = true
            } else if outcome == .succeeded {
                transfers[id] = nil
            } else {
                transfers[id]?.wakes += 1
            }
        }
        wake(session)
    }

    // MARK: Questions to the test

    /// Returns the first startable transfer that the test was not asked about, and marks it.
    mutating func nextTransferToAsk() -> OpenTransfer? {
        guard let transfer = ordered.first(where: { !$0.isAsked && isCarried($0) }) else {
            return nil
        }
        transfers[transfer.id]?.isAsked = true
        return transfer
    }

    /// Whether the transfer can run now.
    func isCarried(_ transfer: OpenTransfer) -> Bool {
        guard transfer.end == nil, transfer.earliest <= now.unix else { return false }
        guard transfer.call.flags & UInt32(BG_TRANSFER_DISCRETIONARY) != 0 else { return true }
        return SessionDefinition.discretionary.each.allSatisfy { facts[$0].value == .holds }
    }

    // MARK: JSON

    /// The JSON object that bghost.h describes.
    func json(_ transfer: OpenTransfer) -> String {
        let end = transfer.end
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("id", transfer.id)
            writer.member("session", transfer.call.session)
            writer.member("url", transfer.call.url)
            writer.member("label", transfer.call.label)
            writer.member("continuation", transfer.call.continuation)
            writer.member("upload", transfer.call.isUpload)
            writer.member("state", end?.state ?? (isCarried(transfer) ? "active" : "waiting"))
            writer.member("status", end?.status ?? 0)
            writer.member("headers") { writer in
                writer.array { writer in
                    for field in end?.headers ?? [] {
                        writer.array { writer in
                            writer.value(field.name.lowercased())
                            writer.value(field.value)
                        }
                    }
                }
            }
            writer.member("body", end?.body ?? "")
            writer.member("file", transfer.call.isUpload ? transfer.call.file : end?.file ?? "")
            writer.member("bytes", end?.bytes ?? 0)
            writer.member("total", end?.bytes ?? -1)
            if transfer.isKept { writer.member("kept", true) }
            if let fault = end?.fault {
                writer.member("fault") { writer in
                    writer.object { writer in
                        writer.member("code", fault.code)
                        writer.member("message", fault.message)
                    }
                }
            } else {
                writer.member("fault", raw: "null")
            }
        }
        return writer.text
    }
}

extension TransferBegin {
    var isUpload: Bool { flags & UInt32(BG_TRANSFER_UPLOAD) != 0 }

    /// Whether both transfer the same, regardless of the label and the continuation.
    fileprivate func isSame(as other: TransferBegin) -> Bool {
        session == other.session && url == other.url && method == other.method
            && headers == other.headers && body == other.body && file == other.file
            && isUpload == other.isUpload
    }
}
