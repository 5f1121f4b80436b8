// SPDX-License-Identifier: Apache-2.0

package import BghostModel

/// The outcome of a run without its reason: few enough values for a label.
package enum OutcomeClass: String, CaseIterable, Sendable {
    case succeeded
    case failed
    case cancelled
    case killed
    case crashed
    case lost
    case abandoned

    package init(_ outcome: Outcome) {
        self =
            switch outcome {
            case .succeeded: .succeeded
            case .failed: .failed
            case .cancelledClean: .cancelled
            case .killed: .killed
            case .crashed: .crashed
            case .lost: .lost
            case .abandoned: .abandoned
            }
    }

    /// Whether the run failed through the fault of its handler.
    ///
    /// A run that was cancelled in time or lost says nothing about its handler.
    package var isFailure: Bool {
        switch self {
        case .failed, .killed, .crashed, .abandoned: true
        case .succeeded, .cancelled, .lost: false
        }
    }

    var index: Int {
        switch self {
        case .succeeded: 0
        case .failed: 1
        case .cancelled: 2
        case .killed: 3
        case .crashed: 4
        case .lost: 5
        case .abandoned: 6
        }
    }
}

extension KillReason {
    /// The values of ``label``.
    static let labels: [String] = [
        KillReason.graceExceeded, .memory, .cpu, .processes, .output, .data, .startTimeout,
        .protocolFault(0),
    ].map(\.label)

    /// Its value as a label; protocol faults of all numbers are one.
    var label: String {
        switch self {
        case .graceExceeded: "grace_exceeded"
        case .memory: "memory"
        case .cpu: "cpu"
        case .processes: "processes"
        case .output: "output"
        case .data: "data"
        case .startTimeout: "start_timeout"
        case .protocolFault: "protocol_fault"
        }
    }
}
