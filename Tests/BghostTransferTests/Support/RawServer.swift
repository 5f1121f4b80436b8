// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOPosix
import NIOSSL

/// A request as it came.
struct RawRequest: Sendable {
    let method: String
    let target: String
    /// Names are in lower case.
    let headers: [String: String]
    /// As much of the body as was read.
    var body: [UInt8] = []

    subscript(_ name: String) -> String? { headers[name] }

    /// Where the range that it asks for begins.
    var rangeStart: Int? {
        guard let range = self["range"], range.hasPrefix("bytes="), range.hasSuffix("-") else {
            return nil
        }
        return Int(range.dropFirst(6).dropLast())
    }
}

/// Writes an answer, byte for byte as a test wants it.
struct RawResponder: Sendable {
    fileprivate let write: @Sendable (ByteBuffer) async throws -> Void

    /// A head, and nothing else: what it says need not be so.
    func head(_ status: Int, _ headers: [(String, String)] = []) async throws {
        let lines = headers.map { "\($0.0): \($0.1)\r\n" }.joined()
        try await write(ByteBuffer(string: "HTTP/1.1 \(status) X\r\n\(lines)\r\n"))
    }

    func bytes(_ bytes: some Collection<UInt8>) async throws {
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            try await write(ByteBuffer(bytes: rest.prefix(1 << 18)))
            rest = rest.dropFirst(1 << 18)
        }
    }

    /// An answer in order.
    func answer(
        _ status: Int,
        _ headers: [(String, String)] = [],
        body: [UInt8] = []
    ) async throws {
        try await head(status, headers + [("Content-Length", String(body.count))])
        try await bytes(body)
    }
}

/// Whether the server keeps or closes a connection.
enum After: Sendable {
    case keep, close
}

/// Runs a test against a server on a free port of 127.0.0.1 that answers in whatever way the test
/// wants.
///
/// - Parameters:
///   - isRagged: whether a connection ends without a word of TLS about it, as a cut one does.
///   - bodyMax: how much of a request's body is read before it is answered.
func withRawServer(
    tls: NIOSSLContext? = nil,
    isRagged: Bool = false,
    bodyMax: @escaping @Sendable (RawRequest) -> Int = { _ in .max },
    _ respond: @escaping @Sendable (RawRequest, RawResponder) async throws -> After,
    test: @Sendable (_ port: Int) async throws -> Void
) async throws {
    let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        .bind(host: "127.0.0.1", port: 0) { channel in
            channel.eventLoop.makeCompletedFuture {
                if let tls {
                    if isRagged { try channel.pipeline.syncOperations.addHandler(Muzzle()) }
                    try channel.pipeline.syncOperations.addHandler(
                        NIOSSLServerHandler(context: tls)
                    )
                }
                return try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
                    wrappingChannelSynchronously: channel
                )
            }
        }
    let port = server.channel.localAddress?.port ?? 0
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
            try await server.executeThenClose { connections in
                await withDiscardingTaskGroup { group in
                    do {
                        for try await connection in connections {
                            // A client that hangs up is part of many tests.
                            group.addTask { try? await serve(connection, bodyMax, respond) }
                        }
                    } catch {
                        // It was closed.
                    }
                    group.cancelAll()
                }
            }
        }
        let outcome: Result<Void, any Error>
        do {
            outcome = .success(try await test(port))
        } catch {
            outcome = .failure(error)
        }
        try? await server.channel.close()
        try? await group.waitForAll()
        try outcome.get()
    }
}

/// Stands between TLS and the network, and ends a connection where TLS would take leave first.
private final class Muzzle: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The type of a TLS record by which one side says that it is done; in TLS 1.3 it is hidden, so
    /// servers with a muzzle speak 1.2.
    private static let alert: UInt8 = 21

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let record = unwrapOutboundIn(data)
        guard record.getInteger(at: record.readerIndex) != Self.alert else {
            // Behind what is still on its way.
            let last = context.writeAndFlush(wrapOutboundOut(ByteBuffer()))
            let near = NIOLoopBound(context, eventLoop: context.eventLoop)
            last.whenComplete { _ in near.value.close(promise: promise) }
            return
        }
        context.write(data, promise: promise)
    }
}

private func serve(
    _ connection: NIOAsyncChannel<ByteBuffer, ByteBuffer>,
    _ bodyMax: @Sendable (RawRequest) -> Int,
    _ respond: @Sendable (RawRequest, RawResponder) async throws -> After
) async throws {
    try await connection.executeThenClose { inbound, outbound in
        let responder = RawResponder { try await outbound.write($0) }
        var chunks = inbound.makeAsyncIterator()
        var buffer: [UInt8] = []
        while true {
            while end(of: buffer) == nil {
                guard let chunk = try await chunks.next() else { return }
                buffer += chunk.readableBytesView
            }
            guard let end = end(of: buffer), var request = parse(buffer[..<end]) else { return }
            buffer.removeFirst(end)
            let length = min(Int(request["content-length"] ?? "0") ?? 0, bodyMax(request))
            while buffer.count < length, let chunk = try await chunks.next() {
                buffer += chunk.readableBytesView
            }
            request.body = Array(buffer.prefix(length))
            buffer.removeFirst(min(length, buffer.count))
            guard case .keep = try await respond(request, responder) else { return }
        }
    }
}

private func end(of buffer: [UInt8]) -> Int? {
    guard buffer.count >= 4 else { return nil }
    let mark = Array("\r\n\r\n".utf8)
    return (0...(buffer.count - 4)).first { buffer[$0..<($0 + 4)].elementsEqual(mark) }.map {
        $0 + 4
    }
}

private func parse(_ head: ArraySlice<UInt8>) -> RawRequest? {
    let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n")
    guard let words = lines.first?.split(separator: " "), words.count == 3 else { return nil }
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
        guard let colon = line.firstIndex(of: ":") else { return nil }
        let value = line[line.index(after: colon)...].drop { $0 == " " }
        headers[line[..<colon].lowercased()] = String(value)
    }
    return RawRequest(method: String(words[0]), target: String(words[1]), headers: headers)
}
