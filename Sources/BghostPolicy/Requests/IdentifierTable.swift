// SPDX-License-Identifier: Apache-2.0

/// Interns identifiers: each gets a number, and all text lies in one buffer.
///
/// For a million identifiers, a dictionary of strings takes three times the memory and two
/// allocations per identifier.
struct IdentifierTable: Sendable {
    private var text: [UInt8] = []
    /// The end offset in `text` of each identifier, by its number.
    private var ends: [Int] = []
    /// An open-addressing hash table of numbers, with linear probing.
    private var places: [UInt32]
    /// For each place in use, seven bits of the hash, so that a probe rarely compares text; `free`
    /// for the others.
    private var tags: [UInt8]

    private static let free: UInt8 = 0

    init() {
        places = Array(repeating: 0, count: 16)
        tags = Array(repeating: Self.free, count: 16)
    }

    var count: Int { ends.count }

    subscript(number: Int) -> String { String(decoding: text[range(number)], as: UTF8.self) }

    /// The length of an identifier in UTF-8, bytes.
    func length(_ number: Int) -> Int { range(number).count }

    private func range(_ number: Int) -> Range<Int> {
        (number == 0 ? 0 : ends[number - 1])..<ends[number]
    }

    /// Whether the identifier with this number has this text.
    func has(_ number: Int, _ identifier: String) -> Bool {
        var identifier = identifier
        return identifier.withUTF8 { isEqual(UnsafeRawBufferPointer($0), number) }
    }

    func number(of identifier: String) -> Int? {
        var identifier = identifier
        return identifier.withUTF8 { bytes in
            let bytes = UnsafeRawBufferPointer(bytes)
            let place = place(of: bytes, Self.hash(bytes))
            return tags[place] == Self.free ? nil : Int(places[place])
        }
    }

    /// Returns the number of an identifier; a new identifier gets the next number.
    mutating func enter(_ identifier: String) -> Int {
        if 4 * (count + 1) > 3 * places.count { grow() }
        var identifier = identifier
        return identifier.withUTF8 { bytes in
            let bytes = UnsafeRawBufferPointer(bytes)
            let hash = Self.hash(bytes)
            let place = place(of: bytes, hash)
            guard tags[place] == Self.free else { return Int(places[place]) }
            places[place] = UInt32(count)
            tags[place] = Self.tag(hash)
            text.append(contentsOf: bytes)
            ends.append(text.count)
            return count - 1
        }
    }

    /// The place that contains a text, or the free place for it.
    private func place(of bytes: UnsafeRawBufferPointer, _ hash: Int) -> Int {
        let mask = places.count - 1
        let tag = Self.tag(hash)
        var place = hash & mask
        while tags[place] != Self.free {
            if tags[place] == tag, isEqual(bytes, Int(places[place])) { break }
            place = (place + 1) & mask
        }
        return place
    }

    /// Whether a text is equal to the identifier with this number.
    ///
    /// It compares eight bytes at a time: every request looks up its identifier, and a comparison byte by
    /// byte takes as long as the rest of the lookup.
    private func isEqual(_ bytes: UnsafeRawBufferPointer, _ number: Int) -> Bool {
        let range = range(number)
        guard range.count == bytes.count else { return false }
        return text.withUnsafeBytes { text in
            let known = UnsafeRawBufferPointer(rebasing: text[range])
            var offset = 0
            while offset + 8 <= bytes.count {
                let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                guard word == known.loadUnaligned(fromByteOffset: offset, as: UInt64.self) else {
                    return false
                }
                offset += 8
            }
            while offset < bytes.count {
                guard bytes[offset] == known[offset] else { return false }
                offset += 1
            }
            return true
        }
    }

    /// Hashes with a seed per process: identifiers are untrusted input, and an attacker could otherwise
    /// choose identifiers that collide.
    private static func hash(_ bytes: UnsafeRawBufferPointer) -> Int {
        var hasher = Hasher()
        hasher.combine(bytes: bytes)
        return hasher.finalize()
    }

    private static func tag(_ hash: Int) -> UInt8 {
        UInt8(truncatingIfNeeded: hash >> 56) | 0x80
    }

    /// Reserves memory for this many identifiers.
    ///
    /// It reserves 32 bytes of text for each; the kernel allocates only pages that are used.
    mutating func reserve(_ count: Int) {
        ends.reserveCapacity(count)
        text.reserveCapacity(32 * count)
        var size = places.count
        while 3 * size < 4 * (count + 1) { size *= 2 }
        if size > places.count { rehash(size) }
    }

    private mutating func grow() { rehash(2 * places.count) }

    private mutating func rehash(_ size: Int) {
        let mask = size - 1
        places = Array(repeating: 0, count: mask + 1)
        tags = Array(repeating: Self.free, count: mask + 1)
        text.withUnsafeBytes { text in
            for number in ends.indices {
                let hash = Self.hash(UnsafeRawBufferPointer(rebasing: text[range(number)]))
                var place = hash & mask
                while tags[place] != Self.free { place = (place + 1) & mask }
                places[place] = UInt32(number)
                tags[place] = Self.tag(hash)
            }
        }
    }
}
