// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// An entry of the journal in its native protocol: fields with a name and a value.
package struct JournalRecord: Equatable, Sendable {
    /// The most bytes of an entry; systemd refuses larger datagrams than its socket's buffer.
    package static let bytesMax = 48 << 10

    package private(set) var bytes: [UInt8] = []

    package init() {}

    /// Adds a field.
    ///
    /// A value with a line break has its length in front, so that no value can begin another field.
    ///
    /// - Parameter name: capital letters, digits and `_`.
    package mutating func add(_ name: StaticString, _ value: String) {
        name.withUTF8Buffer { bytes += $0 }
        let value = Array(value.utf8)
        if value.contains(UInt8(ascii: "\n")) {
            bytes.append(UInt8(ascii: "\n"))
            withUnsafeBytes(of: UInt64(value.count).littleEndian) { bytes += $0 }
        } else {
            bytes.append(UInt8(ascii: "="))
        }
        bytes += value
        bytes.append(UInt8(ascii: "\n"))
    }

    /// Adds a field as the last one; a value that does not fit is cut, and ends with the number of lost bytes.
    package mutating func addCut(_ name: StaticString, _ value: String) {
        // The name, the length and the line breaks.
        let room = max(0, Self.bytesMax - bytes.count - name.utf8CodeUnitCount - 10)
        let length = value.utf8.count
        guard length > room else { return add(name, value) }
        // Room for the longest note.
        var kept = max(0, room - 40)
        let utf8 = value.utf8
        // A character is kept whole or not at all.
        while kept > 0, utf8[utf8.index(utf8.startIndex, offsetBy: kept)] & 0xC0 == 0x80 {
            kept -= 1
        }
        let text = String(decoding: utf8.prefix(kept), as: UTF8.self)
        add(name, text + "… (\(length - kept) more bytes)")
    }
}

/// The socket of the system's journal.
package final class JournalSocket: Sendable {
    /// Where journald listens.
    package static let path = "/run/systemd/journal/socket"

    private let socket: DatagramSocket

    package init(path: String = JournalSocket.path) throws(SystemError) {
        socket = try DatagramSocket(to: path)
    }

    /// Sends an entry; it waits while the journal's queue is full, so use a thread that may block.
    ///
    /// - Returns: whether the journal receives it.
    package func send(_ record: JournalRecord) -> Bool {
        socket.send(record.bytes, mayBlock: true) == 0
    }

    /// Whether the journal reads a descriptor of this process, according to `JOURNAL_STREAM`.
    ///
    /// - Parameter variable: the value of that variable: device and inode of a stream.
    package static func reads(_ descriptor: Int32, variable: String?) -> Bool {
        guard let variable else { return false }
        let parts = variable.split(separator: ":", omittingEmptySubsequences: false)
        var facts = stat()
        guard parts.count == 2, let device = UInt64(parts[0]), let inode = UInt64(parts[1]),
            fstat(descriptor, &facts) == 0
        else { return false }
        return UInt64(facts.st_dev) == device && UInt64(facts.st_ino) == inode
    }
}
