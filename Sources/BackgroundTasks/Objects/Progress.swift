// SPDX-License-Identifier: Apache-2.0

/// How far something is, as it stood when it was asked for.
public struct Progress: Hashable, Sendable {
    /// How much is done.
    public let completedUnitCount: Int64
    /// How much there is; below 0 is unknown.
    public let totalUnitCount: Int64

    init(completed: Int64, total: Int64) {
        completedUnitCount = completed
        totalUnitCount = total
    }

    /// From 0 to 1; 0 while the total is unknown.
    public var fractionCompleted: Double {
        totalUnitCount > 0 ? min(1, Double(completedUnitCount) / Double(totalUnitCount)) : 0
    }

    /// Whether the total is unknown.
    public var isIndeterminate: Bool { totalUnitCount < 0 }
}
