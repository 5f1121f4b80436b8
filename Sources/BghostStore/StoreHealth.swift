// SPDX-License-Identifier: Apache-2.0

internal import BghostModel
internal import BghostNotify
internal import BghostPolicy

/// What happens to a transaction that the store cannot keep now, for lack of room or because
/// another program holds the file.
package enum CommitFailurePolicy: Sendable {
    /// It is refused: the caller gets an error, and nothing has happened.
    ///
    /// For a change that takes effect only once it is kept, such as a submission.
    case refuse
    /// It waits in memory, in order, and is retried until it is kept.
    ///
    /// For a change that has already taken effect, such as the end of a run.
    case retry
}

/// The health of a store.
package struct StoreHealth: Equatable, Sendable {
    /// Since when transactions cannot be kept, and why.
    package struct Failure: Equatable, Sendable {
        /// Unix nanoseconds, from the machine's clock.
        package var since: Int64
        package var error: StoreError
        /// Whether only a restart can help: the content of the disk is unknown, so nothing is
        /// retried.
        package var isFinal: Bool

        init(since: Int64, error: StoreError, isFinal: Bool) {
            self.since = since
            self.error = error
            self.isFinal = isFinal
        }
    }

    /// `nil` as long as commits are kept.
    package var failure: Failure?
    /// How many transactions wait to be written or retried.
    package var waiting: Int
    /// Whether so many transactions wait that the host must not start anything that adds to them.
    package var isPressed: Bool

    package init(failure: Failure? = nil, waiting: Int = 0, isPressed: Bool = false) {
        self.failure = failure
        self.waiting = waiting
        self.isPressed = isPressed
    }
}

extension StoreChange {
    /// The approximate memory use, bytes; computed in constant time.
    var approximateBytes: Int {
        switch self {
        case .accepted(let request, _), .redriven(let request), .moved(let request):
            request.approximateBytes
        case .runStarted(let record): record.approximateBytes
        case .runEnded(let record, let next):
            switch next {
            case .consumed: record.approximateBytes
            case .again(let request), .dead(let request, _):
                record.approximateBytes + request.approximateBytes
            }
        case .notification(.kept(let row)):
            1024 + row.content.body.utf8.count + row.content.userInfo.utf8.count
        case .remembered: 2048
        case .startSkipped: 768
        case .audited(let entry): 768 + entry.detail.utf8.count
        case .manifest(let text): 512 + text.utf8.count
        case .paused, .alert: 2048
        case .checkpointSaved(let checkpoint):
            Checkpoint.overheadBytes + checkpoint.bytes.count
        case .checkpointDeleted, .closed, .discarded, .runtimeConsumed, .notification(.removed),
            .switched,
            .quarantined:
            512
        }
    }
}

extension Request {
    fileprivate var approximateBytes: Int { 512 + parameters.utf8.count }
}

extension RunRecord {
    fileprivate var approximateBytes: Int { 768 + message.utf8.count + result.utf8.count }
}
