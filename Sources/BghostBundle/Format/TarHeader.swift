// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// The header of a member: a block of a POSIX tar file (ustar).
///
/// A bundle has one form only: a header must be exactly the one that `block` makes of its name and
/// size. So there is nothing in a bundle that the list does not cover, and one content has one
/// sequence of bytes.
struct TarHeader: Equatable, Sendable {
    var name: String
    /// The size of the member, bytes.
    var count: Int

    static let blockBytes = 512
    /// The bytes after the last member: two blocks of zeros.
    static let endBytes = 2 * blockBytes
    private static let checksum = 148..<156
    private static let kind = 156
    private static let magic = Array("ustar\u{0}00".utf8)

    /// The size of the member with its padding, bytes.
    var paddedCount: Int { (count + Self.blockBytes - 1) / Self.blockBytes * Self.blockBytes }

    var block: [UInt8] {
        var block = [UInt8](repeating: 0, count: Self.blockBytes)
        func put(_ text: String, at offset: Int) {
            for (index, byte) in text.utf8.enumerated() { block[offset + index] = byte }
        }
        put(name, at: 0)
        put("0000644", at: 100)
        put("0000000", at: 108)
        put("0000000", at: 116)
        put(Self.octal(count), at: 124)
        put("00000000000", at: 136)
        block[Self.kind] = UInt8(ascii: "0")
        for (index, byte) in Self.magic.enumerated() { block[257 + index] = byte }
        for index in Self.checksum { block[index] = UInt8(ascii: " ") }
        let sum = block.reduce(0) { $0 + Int($1) }
        put(String(Self.octal(sum).suffix(6)), at: Self.checksum.lowerBound)
        block[Self.checksum.lowerBound + 6] = 0
        return block
    }

    init(name: String, count: Int) {
        self.name = name
        self.count = count
    }

    /// Parses a block.
    ///
    /// - Parameter offset: the place of the block, for messages.
    /// - Returns: `nil` for a block of zeros, which ends the file.
    init?(_ block: [UInt8], at offset: Int) throws(BundleError) {
        if block.allSatisfy({ $0 == 0 }) { return nil }
        let magic = block[257..<262]
        guard magic.elementsEqual("ustar".utf8) else {
            throw .damaged("it is no tar file: there is no header at byte \(offset)")
        }
        let raw = block[..<100].prefix { $0 != 0 }
        guard let text = String(validating: raw, as: UTF8.self), !text.isEmpty else {
            throw .damaged("the member at byte \(offset) has no readable name")
        }
        try Self.requireFile(block[Self.kind], text)
        try BundleMember.requireInside(text)
        let digits = block[124..<135]
        guard digits.allSatisfy({ (0x30...0x37).contains($0) }) else {
            throw .damaged("the size of \(text.quoted) is not written in octal digits")
        }
        self.init(name: text, count: digits.reduce(0) { $0 << 3 | Int($1 - 0x30) })
        guard self.block == block else {
            throw .damaged(
                "the header of \(text.quoted) at byte \(offset) is damaged, or not in the form that"
                    + " `bghost plugin pack` writes"
            )
        }
    }

    private static func requireFile(_ kind: UInt8, _ name: String) throws(BundleError) {
        let what: String
        switch kind {
        case UInt8(ascii: "0"): return
        case UInt8(ascii: "1"): what = "a hard link"
        case UInt8(ascii: "2"): what = "a symbolic link"
        case UInt8(ascii: "3"), UInt8(ascii: "4"): what = "a device"
        case UInt8(ascii: "5"): what = "a folder"
        case UInt8(ascii: "6"): what = "a FIFO"
        default: what = "an extension of tar"
        }
        throw .damaged("the member \(name.quoted) is \(what); a bundle has plain files only")
    }

    private static func octal(_ value: Int) -> String {
        let digits = String(value, radix: 8)
        return String(repeating: "0", count: max(0, 11 - digits.count)) + digits
    }
}
