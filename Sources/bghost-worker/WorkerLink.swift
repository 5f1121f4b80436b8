// SPDX-License-Identifier: Apache-2.0

internal import BghostLinux
internal import BghostWire
internal import Glibc
internal import Synchronization

/// The worker's two sockets to the daemon.
///
/// A worker has no purpose without its daemon, so every failed receive or send ends the process.
final class WorkerLink: Sendable {
    private let outbox = Mutex(PacketWriter())

    /// Waits for the first frame, which tells the worker what to load.
    func receiveConfiguration() -> Configure {
        var configuration: Configure?
        let buffer = Self.makeBuffer()
        defer { buffer.deallocate() }
        receive(WorkerDescriptors.work, into: buffer) { packet throws(WireError) in
            configuration = try Self.firstConfigure(packet)
        }
        guard let configuration else { WorkerProcess.end(70) }
        return configuration
    }

    private static func firstConfigure(_ packet: RawSpan) throws(WireError) -> Configure? {
        var reader = PacketReader(packet)
        guard let frame = try reader.next(), frame.kind == .configure else { return nil }
        return try Configure(frame)
    }

    /// Receives one packet and passes it to `handle`.
    ///
    /// An invalid packet comes from a daemon of another version, so it ends the process.
    func receive(
        _ fd: Int32,
        into buffer: UnsafeMutableRawBufferPointer,
        _ handle: (RawSpan) throws(WireError) -> Void
    ) {
        let count = PacketSocket.receive(fd, buffer, wait: true)
        guard count > 0 else { WorkerProcess.end() }
        do throws(WireError) {
            try handle(UnsafeRawBufferPointer(buffer).bytes.extracting(first: count))
        } catch {
            WorkerProcess.end(70)
        }
    }

    static func makeBuffer() -> UnsafeMutableRawBufferPointer {
        .allocate(byteCount: FrameLayout.packetBytesMax, alignment: 16)
    }

    /// Adds a frame and sends all collected frames, unless more are about to follow.
    ///
    /// - Returns: `false` if the frame is larger than a packet may be.
    @discardableResult
    func send(mayWait: Bool = false, _ write: (inout PacketWriter) -> Bool) -> Bool {
        outbox.withLock { outbox in
            let fits = write(&outbox)
            if !mayWait { Self.flush(&outbox) }
            return fits
        }
    }

    /// Sends all collected frames.
    func flush() {
        outbox.withLock { Self.flush(&$0) }
    }

    private static func flush(_ outbox: inout PacketWriter) {
        // The outbox is always empty afterwards: a packet that cannot be sent ends the process.
        _ = outbox.drain { packet in
            // Wait for space in the socket: while the daemon does not read, the worker has nothing
            // else to do.
            guard PacketSocket.send(WorkerDescriptors.work, packet, wait: true) == 0 else {
                WorkerProcess.end()
            }
            return true
        }
    }
}
