// SPDX-License-Identifier: Apache-2.0

internal import CBghostSystem

/// The limit of bytes and time for one inspection of a plugin's files.
///
/// The files are untrusted, and their headers determine how much there is to read. One budget
/// covers all files of one inspection. Only the thread that created it may use it.
package final class ImageBudget {
    /// For tables and names, bytes; the content itself is only hashed, with its own limit.
    static let bytesMax: UInt64 = 64 << 20
    /// Nanoseconds; the largest libraries of a Swift toolchain take a few milliseconds.
    static let timeMax: UInt64 = 5_000_000_000

    private var bytesLeft: UInt64
    private let deadline: UInt64

    /// - Parameters:
    ///   - bytes: the most bytes to read.
    ///   - time: the time limit from now, monotonic nanoseconds.
    package init(bytes: UInt64 = bytesMax, time: UInt64 = timeMax) {
        bytesLeft = bytes
        deadline = Self.now.addingReportingOverflow(time).partialValue
    }

    /// Whether the budget is used up.
    package var isSpent: Bool { !spend(0) }

    /// Subtracts bytes that are about to be read.
    ///
    /// - Returns: `false` if the budget does not cover them.
    func spend(_ count: UInt64) -> Bool {
        guard count <= bytesLeft, Self.now < deadline else { return false }
        bytesLeft -= count
        return true
    }

    private static var now: UInt64 { bgs_monotonic_ns() }
}
