// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A folder with all that is in it.
package enum FileTree {
    /// The deepest folder that is entered.
    private static let depthMax = 64

    /// Removes a folder without following links, which a plugin may have created.
    ///
    /// What cannot be removed stays. It blocks the thread.
    package static func remove(_ path: String) {
        empty(path)
        rmdir(path)
    }

    /// Removes what is in a folder, without following links, and keeps the folder.
    ///
    /// What cannot be removed stays. It blocks the thread.
    package static func empty(_ path: String) {
        let folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        if folder >= 0 { empty(owning: folder, depth: 0) }
    }

    private static func empty(owning folder: Int32, depth: Int) {
        // Otherwise nothing could be removed from a folder that its owner may not write.
        fchmod(folder, 0o700)
        // The stream owns its descriptor.
        guard let stream = fdopendir(folder) else {
            close(folder)
            return
        }
        defer { closedir(stream) }
        while let entry = readdir(stream) {
            // A name is bytes, and not always text: as text it could be another name.
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                bytes.prefix { $0 != 0 }.map { CChar(bitPattern: $0) } + [0]
            }
            guard strcmp(name, ".") != 0, strcmp(name, "..") != 0 else { continue }
            guard unlinkat(folder, name, 0) != 0, errno == EISDIR else { continue }
            if depth + 1 < depthMax {
                let inner = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                if inner >= 0 { empty(owning: inner, depth: depth + 1) }
            }
            unlinkat(folder, name, AT_REMOVEDIR)
        }
    }
}
