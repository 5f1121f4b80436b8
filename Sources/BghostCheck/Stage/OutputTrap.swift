// SPDX-License-Identifier: Apache-2.0

internal import CBghostSystem
internal import Glibc

/// Captures the process's output on stdout and stderr.
struct OutputTrap {
    private let file: Int32
    private let streams: [Int32]

    init() {
        fflush(nil)
        file = bgs_memory_file("output")
        streams = [1, 2].map { fcntl($0, F_DUPFD_CLOEXEC, 3) }
        dup2(file, 1)
        dup2(file, 2)
    }

    /// Restores the streams and returns the beginning of the output, with its length in bytes.
    func text() -> (beginning: String, count: Int) {
        fflush(nil)
        for (index, stream) in streams.enumerated() {
            dup2(stream, Int32(index) + 1)
            close(stream)
        }
        let count = lseek(file, 0, SEEK_END)
        var buffer = [UInt8](repeating: 0, count: 200)
        let read = pread(file, &buffer, buffer.count, 0)
        return (String(decoding: buffer.prefix(max(0, read)), as: UTF8.self), max(0, count))
    }
}
