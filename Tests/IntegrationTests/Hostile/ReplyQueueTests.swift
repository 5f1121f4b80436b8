// SPDX-License-Identifier: Apache-2.0

import BghostHost
import BghostLinux
import Glibc
import Testing

/// Replies that wait for a worker to read them.
@Suite struct ReplyQueueTests {
    private static func descriptor() throws -> Int32 {
        try MemoryFile.sealed(name: "test", [1, 2, 3])
    }

    private static func isOpen(_ fd: Int32) -> Bool { fcntl(fd, F_GETFD) >= 0 }

    @Test func `What finds no room waits, in its order`() {
        var queue = ReplyQueue()
        for byte in 1...3 as ClosedRange<UInt8> { queue.add([byte]) }
        var sent: [UInt8] = []
        queue.flush { bytes, _ in
            if sent.count == 1 { return EAGAIN }
            sent.append(bytes[0])
            return 0
        }
        #expect(sent == [1] && queue.bytes == 2)
        queue.flush { bytes, _ in
            sent.append(bytes[0])
            return 0
        }
        #expect(sent == [1, 2, 3] && queue.bytes == 0)
        #expect(queue.isEmpty == true)
    }

    @Test(arguments: [ETOOMANYREFS, ENOMEM, ENOBUFS])
    func `A descriptor that cannot be passed is told of, and not kept`(error: Int32) throws {
        let file = try Self.descriptor()
        var queue = ReplyQueue()
        queue.add([1], descriptor: file, instead: [9, 9])
        queue.add([2])
        var sent: [[UInt8]] = []
        queue.flush { bytes, descriptor in
            guard descriptor < 0 else { return error }
            sent.append(Array(bytes))
            return 0
        }
        #expect(sent == [[9, 9], [2]])
        #expect(queue.isEmpty && queue.bytes == 0)
        #expect(!Self.isOpen(file))
    }

    @Test func `What is told instead waits for room too`() throws {
        var queue = ReplyQueue()
        queue.add([1], descriptor: try Self.descriptor(), instead: [9])
        queue.flush { _, descriptor in descriptor < 0 ? EAGAIN : ETOOMANYREFS }
        #expect(queue.bytes == 1)
        var sent: [UInt8] = []
        queue.flush { bytes, _ in
            sent += Array(bytes)
            return 0
        }
        #expect(sent == [9] && queue.isEmpty)
    }

    @Test func `What nobody takes any more is closed`() throws {
        let file = try Self.descriptor()
        do {
            var queue = ReplyQueue()
            queue.add([1], descriptor: file, instead: [])
            #expect(queue.bytes > 1000)
        }
        #expect(!Self.isOpen(file))
        var queue = ReplyQueue()
        let other = try Self.descriptor()
        queue.add([1], descriptor: other, instead: [9])
        // A socket whose other end is closed is owed nothing.
        queue.flush { _, _ in EPIPE }
        #expect(queue.isEmpty && !Self.isOpen(other))
    }

    /// As many descriptors are on their way as this user may have, which other workers of a daemon
    /// that is not root can bring about.
    @Test(.timeLimit(.minutes(1)), .enabled(if: geteuid() == 0))
    func `The kernel's own refusal is met`() async {
        await #expect(processExitsWith: .success) {
            let (crowded, far) = try PacketSocket.pair()
            let (socket, reader) = try PacketSocket.pair()
            var limit = rlimit(rlim_cur: 64, rlim_max: 64)
            try #require(setrlimit(__rlimit_resource_t(7), &limit) == 0)
            try Lane.ordinary.enter()
            let file = try Self.descriptor()
            var error: Int32 = 0
            while error == 0 {
                error = [0].withUnsafeBytes {
                    PacketSocket.send(crowded, $0, descriptor: file)
                }
            }
            try #require(error == ETOOMANYREFS, "\(error)")
            var queue = ReplyQueue()
            queue.add([1], descriptor: try Self.descriptor(), instead: [9])
            queue.flush { bytes, descriptor in
                descriptor < 0
                    ? PacketSocket.send(socket, bytes, wait: false)
                    : PacketSocket.send(socket, bytes, descriptor: descriptor)
            }
            #expect(queue.isEmpty == true)
            var answer: [UInt8] = [0, 0]
            let count = answer.withUnsafeMutableBytes {
                PacketSocket.receive(reader, $0, wait: false)
            }
            #expect(count == 1 && answer[0] == 9)
            close(far)
        }
    }
}
