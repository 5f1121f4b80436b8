// SPDX-License-Identifier: Apache-2.0

/// Where a transfer stands.
package enum TransferState: String, Equatable, Sendable, CaseIterable {
    /// It is being written down.
    case queued
    /// It waits for what it requires, or for a connection.
    case waiting
    case active
    /// Somebody told it to wait.
    case paused
    /// It waits until it is tried again.
    case retrying
    case done, failed, cancelled

    /// Whether nothing follows any more.
    package var isTerminal: Bool {
        switch self {
        case .done, .failed, .cancelled: true
        case .queued, .waiting, .active, .paused, .retrying: false
        }
    }
}

/// What the server said at the end of a transfer.
package struct TransferAnswer: Equatable, Sendable {
    /// 0 if there was none.
    package var status: Int
    /// Names are in lower case.
    package var headers: [TransferHeader]
    /// The beginning of the body of an upload's answer, or of one that reports an error.
    package var body: [UInt8]
    /// How long the file is that arrived or was sent.
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

    /// The most bytes of `body` that are kept: thousands of ends may wait to be dealt with.
    package static let bodyBytesMax = 16 << 10
    /// The most bytes of `headers`; those that do not fit are left out.
    package static let headerBytesMax = 8 << 10
}

/// How a transfer stands, apart from what it is.
package struct TransferStatus: Equatable, Sendable {
    package var state: TransferState
    /// Attempts in a row that brought nothing.
    package var failures: Int
    /// How often it had to begin anew because what came was wrong.
    package var restarts: Int
    /// Whether nobody waits for it: its end is then told to its session.
    package var isDetached: Bool
    /// The last fault, of an attempt or of the whole.
    package var fault: TransferFault?
    package var answer: TransferAnswer?
    /// Unix nanoseconds; `nil` before its end.
    package var endedAt: Int64?

    /// The beginning.
    package init(state: TransferState = .queued, isDetached: Bool = true) {
        self.state = state
        failures = 0
        restarts = 0
        self.isDetached = isDetached
    }
}

/// All that is known of a transfer.
package struct TransferRecord: Equatable, Sendable {
    package var request: TransferRequest
    /// What makes two requests of a session the same one.
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
}
