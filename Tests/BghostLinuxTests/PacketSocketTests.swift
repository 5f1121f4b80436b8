// SPDX-License-Identifier: Apache-2.0

import BghostLinux
import Glibc
import Testing

@Suite(.timeLimit(.minutes(1))) struct PacketSocketTests {
    /// A connected pair, closed with its owner.
    private struct Ends: ~Copyable {
        let a: Int32
        let b: Int32

        init() throws { (a, b) = try PacketSocket.pair() }

        deinit {
            close(a)
            close(b)
        }
    }

    @Test func packetsKeepTheirBounds() throws {
        let ends = try Ends()
        for packet: [UInt8] in [[1], [2, 3], [4, 5, 6]] { #expect(send(packet, over: ends.a) == 0) }
        #expect(receive(ends.b) == .success([1]))
        #expect(receive(ends.b) == .success([2, 3]))
        #expect(receive(ends.b) == .success([4, 5, 6]))
        #expect(receive(ends.b) == .failure(Code(-EAGAIN)))
    }

    @Test func theLargestPacketOfTheProtocolFits() throws {
        let ends = try Ends()
        let packet = [UInt8](repeating: 7, count: 128 << 10)
        #expect(send(packet, over: ends.a) == 0)
        #expect(receive(ends.b, capacity: packet.count) == .success(packet))
    }

    @Test func aPacketThatIsTooLargeIsAnErrorAndGone() throws {
        let ends = try Ends()
        #expect(send([1, 2, 3], over: ends.a) == 0)
        #expect(send([4], over: ends.a) == 0)
        #expect(receive(ends.b, capacity: 2) == .failure(Code(-EMSGSIZE)))
        #expect(receive(ends.b, capacity: 2) == .success([4]))
    }

    @Test func aFullQueueDoesNotWait() throws {
        let ends = try Ends()
        let packet = [UInt8](repeating: 1, count: 64 << 10)
        var sent = 0
        while send(packet, over: ends.a) == 0 { sent += 1 }
        #expect(sent > 0)
        #expect(send(packet, over: ends.a) == EAGAIN)
        for _ in 0..<sent { #expect(receive(ends.b, capacity: packet.count) == .success(packet)) }
        #expect(send(packet, over: ends.a) == 0)
    }

    @Test func theEndIsSeenAndSendingThenRaisesNoSignal() throws {
        let (a, b) = try PacketSocket.pair()
        defer { close(b) }
        #expect(send([1], over: a) == 0)
        close(a)
        #expect(receive(b) == .success([1]))
        #expect(receive(b) == .success([]))
        #expect(send([1], over: b) == EPIPE)
    }

    @Test func aDescriptorComesWithItsPacket() throws {
        let ends = try Ends()
        let file = try MemoryFile.sealed(name: "test", [7, 8, 9])
        let sent = [UInt8(1)].withUnsafeBytes {
            PacketSocket.send(ends.a, $0, descriptor: file)
        }
        #expect(sent == 0)
        close(file)
        #expect(send([2], over: ends.a) == 0)
        var descriptor: Int32 = -1
        #expect(receive(ends.b, descriptor: &descriptor) == .success([1]))
        try #require(descriptor >= 0)
        #expect(fcntl(descriptor, F_GETFD) == FD_CLOEXEC)
        #expect(MemoryFile.consume(descriptor, count: 3) == [7, 8, 9])
        #expect(receive(ends.b, descriptor: &descriptor) == .success([2]))
        #expect(descriptor == -1)
    }

    @Test func aDescriptorThatNobodyAskedForIsClosed() throws {
        let ends = try Ends()
        let pipe = try Pipe.make()
        defer { close(pipe.reading) }
        let sent = [UInt8(1)].withUnsafeBytes {
            PacketSocket.send(ends.a, $0, descriptor: pipe.writing)
        }
        #expect(sent == 0)
        close(pipe.writing)
        #expect(receive(ends.b) == .success([1]))
        // Would wait for ever if somebody still held the writing end.
        #expect(Program.next(pipe.reading) == nil)
    }

    // MARK: Short words

    struct Code: Error, Equatable {
        let number: Int

        init(_ number: Int32) { self.number = Int(number) }
    }

    private func send(_ bytes: [UInt8], over fd: Int32) -> Int32 {
        bytes.withUnsafeBytes { PacketSocket.send(fd, $0, wait: false) }
    }

    private func receive(
        _ fd: Int32,
        capacity: Int = 1024,
        descriptor: UnsafeMutablePointer<Int32>? = nil
    ) -> Result<[UInt8], Code> {
        var buffer = [UInt8](repeating: 0, count: capacity)
        let count = buffer.withUnsafeMutableBytes {
            PacketSocket.receive(fd, $0, wait: false, descriptor: descriptor)
        }
        return count < 0 ? .failure(Code(Int32(count))) : .success(Array(buffer.prefix(count)))
    }
}
