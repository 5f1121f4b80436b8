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

    func remove() { FileTree.remove(path) }
}
