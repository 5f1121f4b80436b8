// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

extension TaskDefinition {
    package var toleranceNanoseconds: Int64 { Int64(clamping: tolerance.clampedNanoseconds) }

    /// Whether bghost submits requests of it by itself, which have no parameters of their own.
    package var isComplete: Bool { submitAtStart || schedule != nil }
}
