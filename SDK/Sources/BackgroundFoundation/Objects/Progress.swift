// SPDX-License-Identifier: Apache-2.0

/// A snapshot of the progress of work.
public struct Progress: Hashable, Sendable {
    /// The completed units.
    public let completedUnitCount: Int64
    /// The total units; negative if unknown.
    public let totalUnitCount: Int64

    init(completed: Int64, total: Int64) {
        completedUnitCount = completed
        totalUnitCount = total
    }

    /// From 0 to 1; 0 if the total is unknown.
    public var fractionCompleted: Double {
        totalUnitCount > 0 ? min(1, Double(completedUnitCount) / Double(totalUnitCount)) : 0
    }

    /// Whether the total is unknown.
    public var isIndeterminate: Bool { totalUnitCount < 0 }
}
