// SPDX-License-Identifier: Apache-2.0

import BghostLinux
import Glibc
import Testing

@Suite(.timeLimit(.minutes(5))) struct PacketSocketTests {
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

    @Test func `Packets keep their bounds`() throws {
        let ends = try Ends()
        for packet: [UInt8] in [[1], [2, 3], [4, 5, 6]] { #expect(send(packet, over: ends.a) == 0) }
        #expect(receive(ends.b) == .success([1]))
        #expect(receive(ends.b) == .success([2, 3]))
        #expect(receive(ends.b) == .success([4, 5, 6]))
        #expect(receive(ends.b) == .failure(Code(-EAGAIN)))
    }

    @Test func `The largest packet of the protocol fits`() throws {
        let ends = try Ends()
        let packet = [UInt8](repeating: 7, count: 128 << 10)
        #expect(send(packet, over: ends.a) == 0)
        #expect(receive(ends.b, capacity: packet.count) == .success(packet))
    }

    @Test func `A packet that is too large is an error and gone`() throws {
        let ends = try Ends()
        #expect(send([1, 2, 3], over: ends.a) == 0)
        #expect(send([4], over: ends.a) == 0)
        #expect(receive(ends.b, capacity: 2) == .failure(Code(-EMSGSIZE)))
        #expect(receive(ends.b, capacity: 2) == .success([4]))
    }

    @Test func `A full queue does not wait`() throws {
        let ends = try Ends()
        let packet = [UInt8](repeating: 1, count: 64 << 10)
        var sent = 0
        while send(packet, over: ends.a) == 0 { sent += 1 }
        #expect(sent > 0)
        #expect(send(packet, over: ends.a) == EAGAIN)
        for _ in 0..<sent { #expect(receive(ends.b, capacity: packet.count) == .success(packet)) }
        #expect(send(packet, over: ends.a) == 0)
    }

    @Test func `The end is seen and sending then raises no signal`() throws {
        let (a, b) = try PacketSocket.pair()
        defer { close(b) }
        #expect(send([1], over: a) == 0)
        close(a)
        #expect(receive(b) == .success([1]))
        // Programs that other tests start have a copy of the other end until they are executed.
        Program.wait(for: b)
        #expect(receive(b) == .success([]))
        #expect(send([1], over: b) == EPIPE)
    }

    @Test func `A received descriptor is closed`() throws {
        let ends = try Ends()
        let pipe = try Pipe.make()
        defer { close(pipe.reading) }
        #expect(sendDescriptor(pipe.writing, over: ends.a) == 1)
        close(pipe.writing)
        #expect(receive(ends.b) == .success([1]))
        // Would wait for ever if the writing end were still open.
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

    /// Sends a byte and with it a copy of a descriptor, as a hostile worker may.
    private func sendDescriptor(_ descriptor: Int32, over fd: Int32) -> Int {
        var byte: UInt8 = 1
        // A `cmsghdr` with one descriptor behind it; the macros that lay it out are not in Swift.
        let length = MemoryLayout<cmsghdr>.size + MemoryLayout<Int32>.size
        var control = [UInt64](repeating: 0, count: (length + 7) / 8)
        return control.withUnsafeMutableBytes { control in
            var header = cmsghdr()
            header.cmsg_len = length
            header.cmsg_level = SOL_SOCKET
            // SCM_RIGHTS.
            header.cmsg_type = 1
            control.storeBytes(of: header, as: cmsghdr.self)
            control.storeBytes(
                of: descriptor,
                toByteOffset: MemoryLayout<cmsghdr>.size,
                as: Int32.self
            )
            return withUnsafeMutableBytes(of: &byte) { byte in
                var part = iovec(iov_base: byte.baseAddress, iov_len: byte.count)
                return withUnsafeMutablePointer(to: &part) { part in
                    var message = msghdr()
                    message.msg_iov = part
                    message.msg_iovlen = 1
                    message.msg_control = control.baseAddress
                    message.msg_controllen = control.count
                    return sendmsg(fd, &message, Int32(MSG_NOSIGNAL))
                }
            }
        }
    }

    private func receive(_ fd: Int32, capacity: Int = 1024) -> Result<[UInt8], Code> {
        var buffer = [UInt8](repeating: 0, count: capacity)
        let count = buffer.withUnsafeMutableBytes { PacketSocket.receive(fd, $0, wait: false) }
        return count < 0 ? .failure(Code(Int32(count))) : .success(Array(buffer.prefix(count)))
    }
}
