// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPCompression

/// Keeps the data that a server sent before it closed the connection until the HTTP client reads
/// it.
///
/// When the peer closes, the channel reads all remaining data at once, whether the client asked for
/// it or not, and reports the end. The HTTP client then drops the response together with all data
/// that it has not yet delivered: a download that is cut would lose data that has arrived, and a
/// download that is cut early and often would never progress. So the channel stays open on its own
/// side, and data that arrives unasked waits here, followed by the end.
final class TailKeeper: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart

    private enum Held {
        case part(HTTPClientResponsePart)
        case error(any Error)
        case closed
    }

    private var held = CircularBuffer<Held>()
    /// Whether the client has asked for the next part.
    ///
    /// It starts as true: the first read is issued before this handler is added.
    private var isAsked = true

    /// What the next read is for; it determines how much the read takes.
    private enum Reading {
        /// The start of a response: little, since it may be refused.
        case head
        /// More while much data arrives, since each piece crosses three threads.
        case body
        /// A body that is decompressed. The decompressor passes on all that one read becomes, a thousand times
        /// as much at most, before anything can object.
        case packedBody

        var allocator: ReadAllocator { ReadAllocator(isPlainBody: self == .body) }
    }

    private var reading = Reading.head

    static let pieceBytesMax = 512 << 10

    /// Adds a handler between the decompressor and the handler of the HTTP client.
    static func add(to channel: any Channel) throws {
        let operations = channel.pipeline.syncOperations
        let unpacker = try operations.handler(type: NIOHTTPResponseDecompressor.self)
        try operations.addHandler(TailKeeper(), position: .after(unpacker))
        try channel.syncOptions?.setOption(.allowRemoteHalfClosure, value: true)
        try channel.syncOptions?.setOption(.recvAllocator, value: Reading.head.allocator)
        try channel.syncOptions?.setOption(.maxMessagesPerRead, value: 1)
    }

    func read(context: ChannelHandlerContext) {
        guard !held.isEmpty else {
            isAsked = true
            context.read()
            return
        }
        deliver(context)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        switch part {
        case .head(let head):
            let isPacked = head.headers.contains(name: "Content-Encoding")
            expect(isPacked ? .packedBody : .body, on: context.channel)
        case .body: break
        case .end: expect(.head, on: context.channel)
        }
        guard isAsked, held.isEmpty else {
            held.append(.part(part))
            return
        }
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        guard held.isEmpty else { return }
        isAsked = false
        context.fireChannelReadComplete()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard held.isEmpty else {
            held.append(.error(error))
            return
        }
        context.fireErrorCaught(error)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard event as? ChannelEvent == .inputClosed else {
            context.fireUserInboundEventTriggered(event)
            return
        }
        guard held.isEmpty else {
            held.append(.closed)
            return
        }
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        held.removeAll()
        context.fireChannelInactive()
    }

    private func expect(_ reading: Reading, on channel: any Channel) {
        guard reading != self.reading else { return }
        self.reading = reading
        // A channel that is closed already reads no more.
        try? channel.syncOptions?.setOption(.recvAllocator, value: reading.allocator)
    }

    /// Delivers one part, or the end when no part is left.
    private func deliver(_ context: ChannelHandlerContext) {
        while let next = held.popFirst() {
            switch next {
            case .part(let part):
                context.fireChannelRead(wrapInboundOut(part))
                context.fireChannelReadComplete()
                // The channel asks for the next read after each of its own reads; it does not know
                // of this delivery. Ask in a later turn of the event loop, since an immediate
                // answer would recurse.
                let pipeline = context.pipeline
                context.eventLoop.assumeIsolated().execute { pipeline.read() }
                return
            case .error(let error): context.fireErrorCaught(error)
            case .closed: context.close(promise: nil)
            }
        }
    }
}

/// Allocates the buffers of a connection's reads.
private struct ReadAllocator: RecvByteBufferAllocator {
    private static let smallBytes = 4 << 10

    private var adaptive: AdaptiveRecvByteBufferAllocator?

    init(isPlainBody: Bool) {
        guard isPlainBody else { return }
        adaptive = .init(minimum: 2 << 10, initial: 16 << 10, maximum: TailKeeper.pieceBytesMax)
    }

    func buffer(allocator: ByteBufferAllocator) -> ByteBuffer {
        adaptive?.buffer(allocator: allocator) ?? allocator.buffer(capacity: Self.smallBytes)
    }

    /// `nil` asks for a new buffer: the channel's last one may be a large one of a body before.
    func nextBufferSize() -> Int? { adaptive?.nextBufferSize() }

    mutating func record(actualReadBytes: Int) -> Bool {
        // The channel would take `false` of the reads of one body for those after it.
        guard var adaptive else { return true }
        defer { self.adaptive = adaptive }
        // Its answer counts only without `nextBufferSize`.
        _ = adaptive.record(actualReadBytes: actualReadBytes)
        return true
    }
}
