// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostLinux
internal import BghostPlugin
internal import BghostTrust
internal import Synchronization

/// Caches the digests of the workers' libraries; each version of a file is hashed once.
///
/// Do not use it on the reactor's thread: the first request for a file reads the whole file.
package final class LibraryDigests: Sendable {
    private struct Known {
        let file: FileIdentity
        let digest: String
        /// The earliest time of the next digest.
        let next: MonotonicInstant
    }

    /// Larger files are not hashed, because that would take too long.
    private static let bytesMax: UInt64 = 256 << 20

    private let known = Mutex<[String: Known]>([:])

    package init() {}

    /// The SHA-256 of a file in hexadecimal digits, or "" if it is not available.
    ///
    /// It is also "" if the file changed soon after its last digest: to hash it again would take
    /// more than a twentieth of one processor.
    package func digest(of path: String) -> String {
        guard let file = FileIdentity(path: path), file.sizeBytes <= Self.bytesMax else {
            return ""
        }
        let begin = Monotonic.now
        if let known = known.withLock({ $0[path] }) {
            if known.file == file { return known.digest }
            guard begin >= known.next else { return "" }
        }
        let digest = LibraryDigest.sha256(path: path) ?? ""
        let end = Monotonic.now
        let rest = end.since(begin).multipliedClamped(by: InspectionBudget.share)
        known.withLock { known in
            // The manifest names few libraries, but a manifest whose paths keep changing must not
            // fill the memory.
            if known.count >= 1024 { known = [:] }
            known[path] = Known(file: file, digest: digest, next: end + rest)
        }
        return digest
    }
}
