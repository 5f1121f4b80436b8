// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Whole files, read and written at once.
package enum File {
    /// All bytes of a file.
    package static func read(_ path: String) throws(SystemCallError) -> [UInt8] {
        let fd = open(path, O_RDONLY | O_CLOEXEC)
        guard fd >= 0 else { throw SystemCallError(call: "open \(path)", code: errno) }
        defer { close(fd) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = Glibc.read(fd, &buffer, buffer.count)
            guard count >= 0 else { throw SystemCallError(call: "read \(path)", code: errno) }
            guard count > 0 else { return bytes }
            bytes += buffer[..<count]
        }
    }

    /// The names of what lies in a folder, in no order.
    package static func list(_ folder: String) throws(SystemCallError) -> [String] {
        guard let stream = opendir(folder) else {
            throw SystemCallError(call: "opendir \(folder)", code: errno)
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

    /// The permission bits of a file.
    package static func mode(_ path: String) throws(SystemCallError) -> UInt32 {
        try status(path).st_mode & 0o7777
    }

    /// The number of a file in its file system.
    package static func inode(_ path: String) throws(SystemCallError) -> UInt64 {
        UInt64(try status(path).st_ino)
    }

    private static func status(_ path: String) throws(SystemCallError) -> stat {
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw SystemCallError(call: "stat \(path)", code: errno)
        }
        return status
    }

    /// Writes a whole file, replacing what was there.
    package static func write(_ bytes: some Collection<UInt8>, to path: String)
        throws(SystemCallError)
    {
        let fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard fd >= 0 else { throw SystemCallError(call: "open \(path)", code: errno) }
        defer { close(fd) }
        let bytes = Array(bytes)
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes {
                Glibc.write(fd, $0.baseAddress, $0.count)
            }
            guard count > 0 else { throw SystemCallError(call: "write \(path)", code: errno) }
            written += count
        }
    }
}
