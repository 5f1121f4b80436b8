// SPDX-License-Identifier: Apache-2.0

internal import BghostModel
internal import BghostPolicy

// The memory of what a recording has not written yet: what submitters and handlers make long, and a fixed part for
// all else. Texts that several decisions share are counted for each of them.

/// The fixed part of an event, a change or a decision, bytes.
private let fixedBytes = 512

extension SchedulerInput {
    /// About how much memory the event takes, bytes.
    var heldBytes: Int {
        switch self {
        case .restoredRequest(let request): request.heldBytes
        case .restoredRun(let run, let request): run.heldBytes + request.heldBytes
        case .accept(let submission, _, _):
            fixedBytes + submission.parameters.utf8.count + submission.task.utf8.count
        case .runEnded(_, let finish): finish.record.heldBytes
        case .withdrawAll(let tasks): tasks.reduce(fixedBytes) { $0 + 16 + $1.utf8.count }
        case .redriven(let requests): requests.reduce(fixedBytes) { $0 + $1.heldBytes }
        default: fixedBytes
        }
    }
}

extension SchedulerEffect {
    /// About how much memory the decision takes, bytes.
    var heldBytes: Int {
        switch self {
        case .commit(let changes): changes.reduce(fixedBytes) { $0 + $1.heldBytes }
        case .commitEnd(let changes, let run):
            changes.reduce(fixedBytes) { $0 + $1.heldBytes } + run.heldBytes
        case .startRun(let start):
            start.changes.reduce(fixedBytes) { $0 + $1.heldBytes } + start.record.heldBytes
                + start.parameters.utf8.count
        default: fixedBytes
        }
    }
}

extension StoreChange {
    fileprivate var heldBytes: Int {
        switch self {
        case .accepted(let request, _), .redriven(let request), .moved(let request):
            request.heldBytes
        case .runStarted(let run), .runEnded(let run, _): run.heldBytes
        default: fixedBytes
        }
    }
}

extension Request {
    fileprivate var heldBytes: Int { fixedBytes + parameters.utf8.count + task.utf8.count }
}

extension RunRecord {
    fileprivate var heldBytes: Int { fixedBytes + message.utf8.count + result.utf8.count }
}
