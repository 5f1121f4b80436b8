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
