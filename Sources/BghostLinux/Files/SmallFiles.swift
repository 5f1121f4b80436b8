// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Reads the first bytes of a small file; `nil` if it cannot be read.
package func readFile(_ path: String, bytesMax: Int) -> [UInt8]? {
    let fd = open(path, O_RDONLY | O_CLOEXEC)
    guard fd >= 0 else { return nil }
    defer { close(fd) }
    return readAll(fd, bytesMax: bytesMax)
}

private func readAll(_ fd: Int32, bytesMax: Int) -> [UInt8]? {
    // Read in pieces: a buffer for the largest file would have to be cleared even for the smallest.
    // For the manifest alone that was an eighth of all pages that the daemon's start touched.
    withUnsafeTemporaryAllocation(byteCount: min(bytesMax, 16 << 10), alignment: 1) { piece in
        var bytes: [UInt8] = []
        while bytes.count < bytesMax {
            let count = read(fd, piece.baseAddress, min(piece.count, bytesMax - bytes.count))
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            if count == 0 { break }
            bytes.append(contentsOf: piece[..<count])
        }
        return bytes
    }
}

/// Writes a text into an existing file in one call, as the kernel's control files require.
@discardableResult
func writeFile(_ path: String, _ text: String) -> Bool {
    let fd = open(path, O_WRONLY | O_CLOEXEC)
    guard fd >= 0 else { return false }
    defer { close(fd) }
    var text = text
    return text.withUTF8 { write(fd, $0.baseAddress, $0.count) == $0.count }
}

/// Reads whole configuration files.
package enum SmallFile {
    /// Reads the first `bytesMax` bytes of a regular file.
    ///
    /// It never waits, as opening a FIFO would.
    package static func read(_ path: String, bytesMax: Int) -> Result<[UInt8], SystemError> {
        let fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard fd >= 0 else { return .failure(SystemError("read", path, code: errno)) }
        defer { close(fd) }
        var status = stat()
        guard fstat(fd, &status) == 0 else {
            return .failure(SystemError("read", path, code: errno))
        }
        guard status.st_mode & S_IFMT != S_IFDIR else {
            return .failure(SystemError("read", path, code: EISDIR))
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            return .failure(SystemError("read", path, code: EINVAL))
        }
        guard let bytes = readAll(fd, bytesMax: bytesMax) else {
            return .failure(SystemError("read", path, code: errno))
        }
        return .success(bytes)
    }
}
