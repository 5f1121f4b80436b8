// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Identifies a state directory to the fleet.
///
/// A daemon with the same directory is the successor of the last one, which has ended since it no longer
/// locks it, so it need not wait for the end of its lease.
package enum FleetInstance {
    private static let bytes = 16

    /// The id in a state directory, which is created if there is none.
    ///
    /// If it cannot be stored, the id is another one each time: the daemon then waits for the end of the last
    /// one's lease.
    package static func id(inStateDirectory directory: String) -> String {
        let path = directory + "/fleet-instance"
        if let id = read(path) { return id }
        var random = SystemRandomNumberGenerator()
        let id = (0..<bytes).map { _ in
            let byte = UInt8.random(in: 0...255, using: &random)
            return (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
        let fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard fd >= 0 else { return id }
        defer { close(fd) }
        // An id that is cut off is not read again.
        if write(fd, id, id.utf8.count) == id.utf8.count { fsync(fd) }
        return id
    }

    private static func read(_ path: String) -> String? {
        let fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard fd >= 0 else { return nil }
        defer { close(fd) }
        var buffer = [UInt8](repeating: 0, count: bytes * 2 + 1)
        let count = Glibc.read(fd, &buffer, buffer.count)
        guard count == bytes * 2 else { return nil }
        let text = buffer.prefix(count)
        let isHex = text.allSatisfy { byte in
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
        }
        return isHex ? String(decoding: text, as: UTF8.self) : nil
    }
}
