// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// The content of a file, read as fast as the connection takes it.
struct UploadChunks: AsyncSequence, Sendable {
    let file: UploadFile

    func makeAsyncIterator() -> Iterator { Iterator(file: file) }

    struct Iterator: AsyncIteratorProtocol {
        let file: UploadFile
        private var offset = 0

        init(file: UploadFile) {
            self.file = file
        }

        mutating func next() async throws -> ByteBuffer? {
            guard offset < file.size else { return nil }
            try Task.checkCancellation()
            let chunk = try await file.chunk(at: offset)
            offset += chunk.readableBytes
            // Before the last bytes leave: without them the server has no whole body, so it cannot
            // mistake a mixture of two versions for a file.
            if offset == file.size { try file.checkUnchanged() }
            return chunk
        }
    }
}
