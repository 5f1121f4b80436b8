// SPDX-License-Identifier: Apache-2.0

package import BghostServices
internal import BghostWire
internal import Glibc

/// Frames that wait for room on a worker's control socket, some of them preceded by a body in parts.
package struct ReplyQueue {
    private struct Item {
        let frame: [UInt8]
        /// The call that the frame answers.
        let call: UInt64
        /// The body, which is sent in parts before the frame.
        var body: [UInt8] = []
        /// How many bytes of the body have been sent.
        var sent = 0
        /// Counts the memory of the item.
        let share: HeldShare
    }

    private var items: [Item] = []
    /// How many items at the front are urgent.
    private var urgent = 0
    /// Bytes of the waiting frames, without bodies, which count against the plugin's limit.
    package private(set) var frameBytes = 0
    package var isEmpty: Bool { items.isEmpty }

    /// Overhead of an item in bytes.
    private static let itemCost = 128
    /// The maximum number of bytes per flush, so that a worker that reads quickly does not delay the others.
    private static let flushBytesMax = 1 << 20

    package init() {}

    /// Appends a frame.
    ///
    /// - Parameters:
    ///   - body: the bytes to send before the frame, in parts; the share has already counted them.
    ///   - share: counts the frame; it is released when everything has been sent.
    package mutating func add(
        _ frame: [UInt8],
        of call: UInt64 = 0,
        behind body: [UInt8] = [],
        share: HeldShare
    ) {
        share.add(frame.count + Self.itemCost)
        items.append(Item(frame: frame, call: call, body: body, share: share))
        frameBytes += frame.count
    }

    /// Inserts a frame before the waiting replies and their bodies.
    package mutating func addUrgent(_ frame: [UInt8], share: HeldShare) {
        share.add(frame.count + Self.itemCost)
        items.insert(Item(frame: frame, call: 0, share: share), at: urgent)
        urgent += 1
        frameBytes += frame.count
    }

    /// Sends items until the socket is full or the maximum per flush is reached.
    ///
    /// - Parameter send: sends one packet without blocking; returns 0 or the error number.
    package mutating func flush(_ send: (UnsafeRawBufferPointer) -> Int32) {
        var sent = 0
        var room = Self.flushBytesMax
        while sent < items.count, room > 0 {
            guard items[sent].body.count == items[sent].sent else {
                let count = sendPart(of: sent, send)
                guard count > 0 else { break }
                room -= count
                continue
            }
            // Ignore other errors: for a broken socket, the exit of the process is handled elsewhere.
            guard items[sent].frame.withUnsafeBytes(send) != EAGAIN else { break }
            room -= items[sent].frame.count
            frameBytes -= items[sent].frame.count
            sent += 1
        }
        items.removeFirst(sent)
        urgent = max(0, urgent - sent)
    }

    private func part(of item: Item) -> PacketWriter {
        let end = min(item.body.count, item.sent + ReplyPart.bytesMax)
        var packet = PacketWriter()
        let part = ReplyPart(call: item.call, bytes: Array(item.body[item.sent..<end]))
        let fits = part.write(to: &packet)
        assert(fits, "a part is shorter than a packet")
        return packet
    }

    /// Sends the next part of a body.
    ///
    /// - Returns: the number of bytes of the body that were sent; 0 if the socket is full.
    private mutating func sendPart(
        of index: Int,
        _ send: (UnsafeRawBufferPointer) -> Int32
    ) -> Int {
        let packet = part(of: items[index])
        guard packet.bytes.withUnsafeBytes(send) != EAGAIN else { return 0 }
        let end = min(items[index].body.count, items[index].sent + ReplyPart.bytesMax)
        let count = end - items[index].sent
        items[index].sent = end
        return count
    }
}
