// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostCrypto
internal import BghostLinux
internal import Glibc

/// A bundle to be written: the same members always become the same bytes.
package struct BundleDraft: Sendable {
    /// A member with the source of its bytes.
    private struct Part: Sendable {
        var member: BundleMember
        var source: any ByteSource
        var offset: Int
        var count: Int
        var sha256: String
    }

    private var parts: [Part] = []
    private var signature: MinisignSignature?

    /// Begins a bundle with its description.
    package init(_ description: BundleDescription) throws(BundleError) {
        try add(.description, description.bytes)
    }

    /// The members of a bundle, with another signature; with `nil`, it has none.
    init(_ bundle: Bundle, signature: MinisignSignature?) {
        parts = bundle.members.map { member in
            Part(
                member: member.member,
                source: bundle.source,
                offset: member.offset,
                count: member.count,
                sha256: member.sha256
            )
        }
        self.signature = signature
    }

    /// Adds a member.
    package mutating func add(
        _ member: BundleMember,
        _ source: some ByteSource
    ) throws(BundleError) {
        // The rules of the reader, so that what is written can be read.
        _ = try BundleMember(name: member.name)
        guard source.count <= member.bytesMax else {
            throw BundleError(
                "\(member.name.quoted) has \(source.count) bytes; \(member.bytesMax) are possible",
                fix: "make it smaller; `strip --strip-debug` takes debug information off a library"
            )
        }
        if case .schema = member {
            try SchemaText.check(try source.read(at: 0, count: source.count), member.name)
        }
        var function = SHA256()
        var place = 0
        while place < source.count {
            let piece = try source.read(at: place, count: min(256 << 10, source.count - place))
            function.update(data: piece)
            place += piece.count
        }
        parts.append(
            Part(
                member: member,
                source: source,
                offset: 0,
                count: source.count,
                sha256: function.finalize().hexText
            )
        )
    }

    private var list: BundleList {
        BundleList(parts.map { BundleList.Entry(member: $0.member, sha256: $0.sha256) })
    }

    /// Passes the bytes of the bundle on in pieces.
    func write(_ body: ([UInt8]) throws(BundleError) -> Void) throws(BundleError) {
        let list = list
        var members: [(name: String, bytes: [UInt8])] = [(BundleMember.listName, list.bytes)]
        if let signature {
            members.append((BundleMember.signatureName, Array(signature.text.utf8)))
        }
        for (name, bytes) in members {
            let header = TarHeader(name: name, count: bytes.count)
            try body(header.block)
            try body(bytes)
            try body(Self.zeros(header.paddedCount - header.count))
        }
        for entry in list.entries {
            for part in parts where part.member == entry.member {
                let header = TarHeader(name: part.member.name, count: part.count)
                try body(header.block)
                var place = 0
                while place < part.count {
                    let count = min(256 << 10, part.count - place)
                    try body(try part.source.read(at: part.offset + place, count: count))
                    place += count
                }
                try body(Self.zeros(header.paddedCount - header.count))
            }
        }
        try body(Self.zeros(TarHeader.endBytes))
    }

    /// The bytes of the bundle.
    package func bytes() throws(BundleError) -> [UInt8] {
        var bytes: [UInt8] = []
        try write { bytes += $0 }
        return bytes
    }

    /// Writes the bundle to a file: the path has the whole bundle, or what it had before.
    ///
    /// A new file can be read by all users. Blocks for as long as the disk takes.
    package func write(to path: String) throws(BundleError) {
        try DurableFile.replace(named: path) { (file: borrowing DurableFile) throws(BundleError) in
            try write { (piece: [UInt8]) throws(BundleError) in try file.write(piece) }
        }
    }

    private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }
}
