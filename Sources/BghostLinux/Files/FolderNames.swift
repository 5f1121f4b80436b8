// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Lists folders.
package enum FolderNames {
    /// The names in a folder without `.` and `..`, in the order in which the file system has them.
    ///
    /// The cost is O(names); a thread that enforces limits must not call it.
    ///
    /// - Throws: `SystemError` if the folder cannot be read; its code is `ENOENT` if there is none.
    package static func of(_ folder: String) throws(SystemError) -> [String] {
        guard let stream = opendir(folder) else {
            throw SystemError("read the folder", folder, code: errno)
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}
