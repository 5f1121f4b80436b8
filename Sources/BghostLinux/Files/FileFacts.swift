// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The attributes of a file, read without opening it.
package struct FileFacts: Equatable, Sendable {
    /// The type of a file.
    package enum Kind: Equatable, Sendable {
        case file
        case folder
        case socket
        case link
        case other
    }

    package var kind: Kind
    /// The user id of the owner.
    package var owner: UInt32
    /// The group id.
    package var group: UInt32
    /// The nine permission bits and the set-uid, set-gid and sticky bits.
    package var permissions: UInt32

    /// - Parameter followsLinks: whether to read the target of a symbolic link instead of the link.
    package init(of path: String, followsLinks: Bool) throws(SystemError) {
        var info = stat()
        let result = followsLinks ? stat(path, &info) : lstat(path, &info)
        guard result == 0 else { throw SystemError("stat", path, code: errno) }
        kind =
            switch info.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .folder
            case S_IFSOCK: .socket
            case S_IFLNK: .link
            default: .other
            }
        owner = info.st_uid
        group = info.st_gid
        permissions = info.st_mode & 0o7777
    }
}
