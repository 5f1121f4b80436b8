// SPDX-License-Identifier: Apache-2.0

/// How far a transfer has come, and what must still be the same for it to go on from there.
package struct TransferPoint: Equatable, Sendable {
    /// What the bytes that are there are bytes of.
    package var validator: Validator?
    /// The length of the whole, if the server has said it.
    package var total: Int64?
    /// Bytes that are surely on this machine's disk, or surely at the server.
    package var bytes: Int64
    /// The boot of the machine during which `bytes` was written: within one and the same, a file is
    /// as long as what was written to it, while a power cut may take back all but `bytes`.
    package var boot: String
    /// What the server says that the whole must hash to.
    package var digest: ContentDigest?
    /// Where a resumable upload goes on.
    package var uploadURL: String?
    /// What was settled on with the server.
    package var dialect: UploadDialect?
    /// What the file that is being sent looked like.
    package var source: FileStamp?

    /// The beginning.
    package init(boot: String = "") {
        bytes = 0
        self.boot = boot
    }
}

/// The ways to send a file that servers speak.
package enum UploadDialect: String, Equatable, Sendable, CaseIterable {
    case whole, tus, ietf
}

/// What changes when somebody writes to a file or puts another in its place.
package struct FileStamp: Hashable, Sendable {
    package var size: Int64
    /// When it was written to last.
    package var seconds: Int64
    package var nanoseconds: Int64
    package var inode: UInt64

    package init(size: Int64, seconds: Int64, nanoseconds: Int64, inode: UInt64) {
        self.size = size
        self.seconds = seconds
        self.nanoseconds = nanoseconds
        self.inode = inode
    }
}
