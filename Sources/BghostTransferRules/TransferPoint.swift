// SPDX-License-Identifier: Apache-2.0

/// The position of a transfer, and what must be unchanged for it to continue from there.
package struct TransferPoint: Equatable, Sendable {
    /// The version of the file that the present bytes belong to.
    package var validator: Validator?
    /// The length of the whole file, bytes, if the server has sent it.
    package var total: Int64?
    /// The bytes that are certainly on this machine's disk, or at the server.
    package var bytes: Int64
    /// The id of the machine's boot during which `bytes` was recorded.
    ///
    /// During the same boot, the file has all bytes that were written to it; after a power failure, only
    /// `bytes` are certain.
    package var boot: String
    /// The hash of the whole file, as sent by the server.
    package var digest: ContentDigest?
    /// The URL at which a resumable upload continues.
    package var uploadURL: String?
    /// The upload protocol that was negotiated with the server.
    package var dialect: UploadDialect?
    /// The stamp of the source file of an upload.
    package var source: FileStamp?

    /// The start of a transfer.
    package init(boot: String = "") {
        bytes = 0
        self.boot = boot
    }
}

/// The upload protocols.
package enum UploadDialect: String, Equatable, Sendable, CaseIterable {
    case whole, tus, ietf
}

/// The properties of a file that change when it is written or replaced.
package struct FileStamp: Hashable, Sendable {
    package var size: Int64
    /// The time of its last modification.
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
