// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A folder with all that is in it.
package enum FileTree {
    /// The deepest folder that is entered.
    private static let depthMax = 64

    /// Removes a folder without following links, which a plugin may have created.
    ///
    /// What cannot be removed stays. It blocks the thread.
    package static func remove(_ path: String) { remove(path, depth: 0) }

    private static func remove(_ path: String, depth: Int) {
        if depth < depthMax, let folder = opendir(path) {
            while let entry = readdir(folder) {
                let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                    String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
                }
                guard name != ".", name != ".." else { continue }
                let child = path + "/" + name
                if unlink(child) != 0, errno == EISDIR { remove(child, depth: depth + 1) }
            }
            closedir(folder)
        }
        rmdir(path)
    }
}
