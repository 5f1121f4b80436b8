// SPDX-License-Identifier: Apache-2.0

internal import BghostLinux
internal import BghostWire
internal import Glibc
internal import Synchronization

/// The worker's two sockets to the daemon.
///
/// If the daemon is gone there is nobody to work for, so every failure to speak ends the process.
final class WorkerLink: Sendable {
    private let outbox = Mutex(PacketWriter())

    /// Waits for the first frame, which says what to load.
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

    /// Receives one packet and hands it over.
    ///
    /// A packet that is not understood comes from a daemon of another version: nothing sensible can
    /// be done with it.
    ///
    /// - Parameter handle: gets the packet and the descriptor that came with it, or -1; it sets it to
    ///   -1 if it takes it over.
    func receive(
        _ fd: Int32,
        into buffer: UnsafeMutableRawBufferPointer,
        _ handle: (RawSpan, inout Int32) throws(WireError) -> Void
    ) {
        var descriptor: Int32 = -1
        let count = PacketSocket.receive(fd, buffer, wait: true, descriptor: &descriptor)
        guard count > 0 else { WorkerProcess.end() }
        do throws(WireError) {
            try handle(
                UnsafeRawBufferPointer(buffer).bytes.extracting(first: count),
                &descriptor
            )
        } catch {
            WorkerProcess.end(70)
        }
        if descriptor >= 0 { close(descriptor) }
    }

    /// Receives one packet that carries no descriptor.
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

    /// A buffer for one packet.
    static func makeBuffer() -> UnsafeMutableRawBufferPointer {
        .allocate(byteCount: FrameLayout.packetBytesMax, alignment: 16)
    }

    /// Adds a frame and sends all that has been collected, unless more is about to follow.
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

    /// Sends what has been collected.
    func flush() {
        outbox.withLock { Self.flush(&$0) }
    }

    private static func flush(_ outbox: inout PacketWriter) {
        _ = outbox.drain { packet in
            // Waits for room: a worker that the daemon does not read has nothing better to do.
            guard PacketSocket.send(WorkerDescriptors.work, packet, wait: true) == 0 else {
                WorkerProcess.end()
            }
            return true
        }
    }
}
