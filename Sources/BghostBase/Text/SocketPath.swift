// SPDX-License-Identifier: Apache-2.0

/// The length limits of a Unix socket's path.
package enum SocketPath {
    /// Linux permits 107 bytes, but SwiftNIO uses the limit that all systems share.
    package static let bytesMax = 103
    /// The daemon first binds the socket under another name in the folder, which may be longer than
    /// the final one.
    package static let folderBytesMax = bytesMax - 10

    /// Whether the daemon can bind a socket at a path.
    package static func fits(_ path: String) -> Bool {
        let folder = path.lastIndex(of: "/").map { path[..<$0].utf8.count } ?? 0
        return path.utf8.count <= bytesMax && folder <= folderBytesMax
    }
}
