// SPDX-License-Identifier: Apache-2.0

import BghostServices
import BghostTransferBridge
import BghostWire
import Glibc
import Testing

/// Replies that wait for a worker to read them.
@Suite struct ReplyQueueTests {
    private let held = HeldBytes(limit: 1 << 20)

    /// A share that has counted so much.
    private func share(_ count: Int = 0) -> HeldShare {
        let share = HeldShare(of: held)
        share.add(count)
        return share
    }

    @Test func `Frames without room in the socket wait in order`() {
        var queue = ReplyQueue()
        for byte in 1...3 as ClosedRange<UInt8> { queue.add([byte], share: share()) }
        var sent: [UInt8] = []
        queue.flush { bytes in
            if sent.count == 1 { return EAGAIN }
            sent.append(bytes[0])
            return 0
        }
        #expect(sent == [1] && queue.frameBytes == 2)
        queue.flush { bytes in
            sent.append(bytes[0])
            return 0
        }
        #expect(sent == [1, 2, 3] && queue.frameBytes == 0)
        #expect(queue.isEmpty)
        #expect(held.count == 0)
    }

    @Test func `A body goes before its frame, in parts, and counts until it has gone`() throws {
        let body = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
        var queue = ReplyQueue()
        queue.add([9], of: 5, behind: body, share: share(body.count))
        var packets: [[UInt8]] = []
        while !queue.isEmpty {
            #expect(held.count > body.count)
            var isFull = false
            // One packet at a time.
            queue.flush { bytes in
                if isFull { return EAGAIN }
                isFull = true
                packets.append(Array(bytes))
                return 0
            }
        }
        #expect(held.count == 0)
        #expect(packets.last == [9])
        var got: [UInt8] = []
        for packet in packets.dropLast() {
            var reader = PacketReader(packet.span.bytes)
            let frame = try reader.next()
            guard let frame else { return #expect(Bool(false), "a packet without a frame") }
            let part = try ReplyPart(frame)
            #expect(part.call == 5)
            got += part.bytes
        }
        #expect(got == body)
        #expect(packets.count == 5)
    }

    @Test func `A cancel does not wait for the bodies before it`() {
        let body = [UInt8](repeating: 1, count: 300_000)
        var queue = ReplyQueue()
        queue.add([9], of: 5, behind: body, share: share(body.count))
        var packets: [[UInt8]] = []
        queue.flush { bytes in
            guard packets.isEmpty else { return EAGAIN }
            packets.append(Array(bytes))
            return 0
        }
        queue.addUrgent([7], share: share())
        queue.addUrgent([8], share: share())
        queue.flush { bytes in
            packets.append(Array(bytes))
            return 0
        }
        #expect(packets[1] == [7] && packets[2] == [8])
        #expect(packets.last == [9])
        #expect(queue.isEmpty && held.count == 0)
    }

    @Test func `Replies of a removed queue or a closed socket do not count`() {
        do {
            var queue = ReplyQueue()
            queue.add([1], of: 1, behind: [2, 3], share: share(2))
            #expect(held.count > 2)
        }
        #expect(held.count == 0)
        var queue = ReplyQueue()
        queue.add([1], of: 1, behind: [2, 3], share: share(2))
        // The other end is closed: the queue drops its replies.
        queue.flush { _ in EPIPE }
        #expect(queue.isEmpty && held.count == 0)
    }

    @Test func `There is room up to the limit, and again once it is given back`() {
        let first = share()
        #expect(first.reserve(1 << 20))
        var second: HeldShare? = share()
        #expect(second?.reserve(1) == false)
        second = nil
        #expect(held.count == 1 << 20)
        withExtendedLifetime(first) {}
    }

    @Test func `One turn sends a bounded part of a long body`() {
        let body = [UInt8](repeating: 1, count: 4 << 20)
        var queue = ReplyQueue()
        queue.add([9], of: 5, behind: body, share: share())
        var sent = 0
        queue.flush { bytes in
            sent += bytes.count
            return 0
        }
        #expect(sent < 2 << 20 && !queue.isEmpty)
    }
}
