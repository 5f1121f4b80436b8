// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The output of a pipe, of which only the beginning is kept.
struct ChildOutput {
    let descriptor: Int32
    private let bytesMax: Int
    private(set) var bytes: [UInt8] = []
    private(set) var isAtEnd = false

    /// Takes ownership of a non-blocking descriptor.
    init(_ descriptor: Int32, bytesMax: Int) {
        self.descriptor = descriptor
        self.bytesMax = bytesMax
    }

    /// Reads the available output, at most one megabyte, so that a flood does not keep the reader
    /// from checking the time.
    mutating func read() {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        for _ in 0..<16 {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count > 0 {
                bytes += buffer[..<min(count, bytesMax - bytes.count)]
            } else if count == 0 {
                isAtEnd = true
                return
            } else if errno != EINTR {
                return
            }
        }
    }

    func close() { Glibc.close(descriptor) }
}
