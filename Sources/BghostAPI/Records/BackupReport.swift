// SPDX-License-Identifier: Apache-2.0

/// What a backup contains.
package struct BackupReport: Equatable, Sendable {
    /// The size of its files without holes, bytes.
    package var bytes: UInt64
    /// The number of files in data directories that cannot be copied, such as sockets.
    package var omitted: Int

    package init(bytes: UInt64, omitted: Int = 0) {
        self.bytes = bytes
        self.omitted = omitted
    }
}
