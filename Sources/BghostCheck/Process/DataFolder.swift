// SPDX-License-Identifier: Apache-2.0

internal import BghostLinux
internal import Glibc

/// A temporary data directory for one check.
struct DataFolder {
    let path: String

    init() throws(SystemError) {
        var template = Array("/tmp/bghost-check-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw SystemError("make a data directory in", "/tmp", code: errno)
        }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    func remove() { Self.removeTree(path, depth: 0) }

    /// Removes a folder without following links, which the plugin may have created.
    private static func removeTree(_ path: String, depth: Int) {
        if depth < 64, let folder = opendir(path) {
            while let entry = readdir(folder) {
                let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                    String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
                }
                guard name != ".", name != ".." else { continue }
                let child = path + "/" + name
                if unlink(child) != 0, errno == EISDIR { removeTree(child, depth: depth + 1) }
            }
            closedir(folder)
        }
        rmdir(path)
    }
}
