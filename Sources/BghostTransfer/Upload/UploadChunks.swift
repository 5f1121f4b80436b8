// SPDX-License-Identifier: Apache-2.0

internal import BghostLinux
internal import NIOCore

/// The bytes of a body, read as fast as the connection takes them, in chunks.
struct UploadChunks: AsyncSequence, Sendable {
    let body: UploadBody

    init(body: UploadBody) {
        self.body = body
    }

    /// The whole of a file.
    init(file: UploadFile) {
        body = UploadBody(file: file)
    }

    func makeAsyncIterator() -> Iterator { Iterator(body: body) }

    struct Iterator: AsyncIteratorProtocol {
        private enum Place {
            case prefix, file, suffix, end
        }

        private let body: UploadBody
        private var offset: Int
        private var place = Place.prefix
        /// The next chunk; it is read while the connection sends the previous one.
        private var ahead: EventLoopFuture<ByteBuffer>?
        private var pace = ChunkPace()

        init(body: UploadBody) {
            self.body = body
            offset = body.from
        }

        mutating func next() async throws -> ByteBuffer? {
            while true {
                try Task.checkCancellation()
                guard let chunk = try await part() else { return nil }
                guard chunk.readableBytes > 0 else { continue }
                body.meter?.add(chunk.readableBytes)
                body.hashed?(chunk.readableBytes)
                return chunk
            }
        }

        private mutating func part() async throws -> ByteBuffer? {
            switch place {
            case .prefix:
                place = .file
                return ByteBuffer(bytes: body.prefix)
            case .file:
                guard offset < body.file.size else {
                    place = .suffix
                    return ByteBuffer()
                }
                pace.started(now: Monotonic.now)
                let bytes = pace.bytes
                let chunk = try await (ahead ?? body.file.chunk(at: offset, bytesMax: bytes)).get()
                offset += chunk.readableBytes
                ahead =
                    offset < body.file.size
                    ? body.file.chunk(at: offset, bytesMax: bytes) : nil
                // Check this before the last bytes are sent: without them the server has no
                // complete body, so it cannot accept a mixture of two versions as the file.
                if offset == body.file.size { try body.file.checkUnchanged() }
                return chunk
            case .suffix:
                place = .end
                return ByteBuffer(bytes: body.suffix)
            case .end: return nil
            }
        }
    }
}
