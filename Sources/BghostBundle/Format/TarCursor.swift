// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// Reads the members of a bundle in their order, and nothing beyond the file's end.
struct TarCursor {
    private let source: any ByteSource
    private var offset = 0

    init(_ source: some ByteSource) { self.source = source }

    /// The header of the next member; `nil` at the block of zeros that ends the file.
    mutating func next() throws(BundleError) -> TarHeader? {
        let place = offset
        let block = try take(TarHeader.blockBytes, "the header at byte \(place)")
        return try TarHeader(block, at: place)
    }

    /// Reads the content of a small member.
    mutating func content(
        of header: TarHeader,
        bytesMax: Int
    ) throws(BundleError) -> [UInt8] {
        var content: [UInt8] = []
        _ = try pass(over: header, bytesMax: bytesMax) { content += $0 }
        return content
    }

    /// Passes the content of a member on in pieces.
    ///
    /// - Returns: the place of its first byte.
    mutating func pass(
        over header: TarHeader,
        bytesMax: Int,
        _ body: ([UInt8]) -> Void
    ) throws(BundleError) -> Int {
        let name = header.name.quoted
        guard header.count <= bytesMax else {
            throw .damaged("\(name) has \(header.count) bytes; \(bytesMax) are possible")
        }
        // Before anything is read: a size of a header is only a claim.
        guard header.paddedCount <= source.count - offset else { throw cutOff(name) }
        let start = offset
        while offset < start + header.count {
            body(try take(min(256 << 10, start + header.count - offset), name))
        }
        let padding = try take(header.paddedCount - header.count, name)
        guard padding.allSatisfy({ $0 == 0 }) else {
            throw .damaged("there is hidden data behind \(name)")
        }
        return start
    }

    /// Throws unless the file ends behind the blocks of zeros, of which `next` has read the first.
    mutating func requireEnd() throws(BundleError) {
        let block = try take(TarHeader.endBytes - TarHeader.blockBytes, "its end")
        guard block.allSatisfy({ $0 == 0 }), offset == source.count else {
            throw .damaged("there is data behind the end of the bundle, at byte \(offset)")
        }
    }

    private mutating func take(_ count: Int, _ part: String) throws(BundleError) -> [UInt8] {
        guard count <= source.count - offset else { throw cutOff(part) }
        defer { offset += count }
        return try source.read(at: offset, count: count)
    }

    private func cutOff(_ part: String) -> BundleError {
        .damaged("the bundle is cut off after \(source.count) bytes, in \(part)")
    }
}
