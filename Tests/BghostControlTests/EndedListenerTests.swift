// SPDX-License-Identifier: Apache-2.0

@testable import BghostControl
import BghostTestSupport
import Glibc
import Testing

/// The listening socket of a daemon that was killed, of which a child has a copy for a moment.
@Suite(.timeLimit(.minutes(5)))
struct EndedListenerTests {
    /// Waits for a connection to a listener, and closes the listener without accepting it.
    private static func close(_ listener: Int32) {
        var event = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
        while poll(&event, 1, -1) < 0 {}
        // Children of other tests may have a copy of the descriptor until they execute a program.
        shutdown(listener, Int32(SHUT_RDWR))
        Glibc.close(listener)
    }

    @Test func `The probe waits until the socket of a process that has ended is closed`()
        async throws
    {
        let folder = try TemporaryDirectory()
        let path = folder.file("control.sock")
        let listener = try RawConnection.listener(path)
        async let closed: Void = onThread { Self.close(listener) }
        let probe = try await onThread {
            UnixAddress.probe(path, deadListenerWait: 120_000) { $0 == getpid() }
        }
        try await closed
        #expect(probe == .failed(errno: ECONNREFUSED))
    }

    @Test func `The probe does not wait for a process that runs`() throws {
        let folder = try TemporaryDirectory()
        let path = folder.file("control.sock")
        let listener = try RawConnection.listener(path)
        defer { Glibc.close(listener) }
        #expect(UnixAddress.probe(path, deadListenerWait: 120_000) == .answered(pid: getpid()))
    }

    @Test func `The probe gives up when the socket stays open`() throws {
        let folder = try TemporaryDirectory()
        let path = folder.file("control.sock")
        let listener = try RawConnection.listener(path)
        defer { Glibc.close(listener) }
        let probe = UnixAddress.probe(path, deadListenerWait: 1) { _ in true }
        #expect(probe == .answered(pid: getpid()))
    }

    @Test func `A process that was never started has ended`() {
        // Linux gives no process this number.
        #expect(UnixAddress.hasEnded(4_194_304))
        #expect(!UnixAddress.hasEnded(getpid()))
        #expect(!UnixAddress.hasEnded(1))
    }
}
