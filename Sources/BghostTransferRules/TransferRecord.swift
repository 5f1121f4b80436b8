// SPDX-License-Identifier: Apache-2.0

/// The state of a transfer.
package enum TransferState: String, Equatable, Sendable, CaseIterable {
    /// It is being stored.
    case queued
    /// It waits for its requirements or for a connection.
    case waiting
    case active
    /// The operator or the plugin has paused it.
    case paused
    /// It waits for its next attempt.
    case retrying
    case done, failed, cancelled

    /// Whether the state is final.
    package var isTerminal: Bool {
        switch self {
        case .done, .failed, .cancelled: true
        case .queued, .waiting, .active, .paused, .retrying: false
        }
    }
}

/// The server's last response in a transfer.
package struct TransferAnswer: Equatable, Sendable {
    /// The HTTP status; 0 if there was no response.
    package var status: Int
    /// Names are in lower case.
    package var headers: [TransferHeader]
    /// The start of the body, for an upload or an error.
    package var body: [UInt8]
    /// The length of the file that was received or sent, bytes.
    package var bytes: Int64

    package init(
        status: Int = 0,
        headers: [TransferHeader] = [],
        body: [UInt8] = [],
        bytes: Int64 = 0
    ) {
        self.status = status
        self.body = Array(body.prefix(Self.bodyBytesMax))
        self.bytes = bytes
        var room = Self.headerBytesMax
        self.headers = headers.filter { header in
            let count = header.name.utf8.count + header.value.utf8.count
            guard count <= room else { return false }
            room -= count
            return true
        }
    }

    /// What its headers and its body take in memory, bytes.
    package var memoryBytes: Int {
        headers.reduce(body.count) { $0 + $1.name.utf8.count + $1.value.utf8.count }
    }

    /// The answer with as much of its headers, and then of its body, as fits in some memory.
    ///
    /// - Parameter bytes: the size of that memory, bytes.
    package func fitted(in bytes: Int) -> TransferAnswer {
        guard memoryBytes > bytes else { return self }
        var answer = self
        var room = max(0, bytes)
        answer.headers = headers.filter { header in
            let count = header.name.utf8.count + header.value.utf8.count
            guard count <= room else { return false }
            room -= count
            return true
        }
        answer.body = Array(body.prefix(room))
        return answer
    }

    /// The most bytes of `body` that are kept: thousands of ends may wait for acknowledgement.
    package static let bodyBytesMax = 16 << 10
    /// The most bytes of `headers`; headers beyond it are omitted.
    static let headerBytesMax = 8 << 10
}

/// The time between two attempts of a transfer.
package struct RetryPause: Equatable, Sendable {
    /// When it is over, Unix nanoseconds.
    package var until: Int64
    /// How long it was when it began, nanoseconds: a clock that was set back makes it no longer.
    package var length: Int64

    package init(until: Int64, length: Int64) {
        self.until = until
        self.length = length
    }
}

/// The changing part of a transfer's record.
package struct TransferStatus: Equatable, Sendable {
    package var state: TransferState
    /// Failed attempts in a row without progress.
    package var failures: Int
    /// The number of attempts that started from the beginning because of wrong data.
    package var restarts: Int
    /// Whether no caller waits for it, so that its end is reported to its session.
    package var isDetached: Bool
    /// The last fault, of an attempt or of the whole transfer.
    package var fault: TransferFault?
    package var answer: TransferAnswer?
    /// Unix nanoseconds; `nil` before the end.
    package var endedAt: Int64?
    /// The pause before its next attempt; `nil` if it waits for none.
    package var pause: RetryPause?
    /// When its time is over, Unix nanoseconds; `nil` in a record of a bghost that did not store it.
    package var expiresAt: Int64?
    /// Whether its end waits until a run of the plugin creates the session, because the wake's run did not
    /// acknowledge it.
    package var isKept = false

    /// The status of a new transfer.
    package init(state: TransferState = .queued, isDetached: Bool = true) {
        self.state = state
        failures = 0
        restarts = 0
        self.isDetached = isDetached
    }
}

/// The stored record of a transfer.
package struct TransferRecord: Equatable, Sendable {
    package var request: TransferRequest
    /// The key that duplicate requests of a session share.
    package var key: String
    package var point: TransferPoint
    package var status: TransferStatus

    package init(
        request: TransferRequest,
        key: String,
        point: TransferPoint,
        status: TransferStatus
    ) {
        self.request = request
        self.key = key
        self.point = point
        self.status = status
    }

    /// Whether no wake reports its end, so that the end waits for a run that claims it.
    package var isQuiet: Bool { !request.notifiesSession || status.isKept }

    /// The memory of its end, bytes.
    package var endBytes: Int {
        var bytes =
            request.body.count + request.continuation.count + (status.answer?.body.count ?? 0)
        bytes += request.url.utf8.count + request.file.utf8.count + request.label.utf8.count
        for header in request.headers + (status.answer?.headers ?? []) {
            bytes += header.name.utf8.count + header.value.utf8.count
        }
        return bytes
    }
}
