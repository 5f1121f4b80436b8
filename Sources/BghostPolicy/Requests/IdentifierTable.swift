// SPDX-License-Identifier: Apache-2.0

/// Interns identifiers: each gets a number while it is in use, and all text lies in one buffer.
///
/// For a million identifiers, a dictionary of strings takes three times the memory and two
/// allocations per identifier. Each call takes amortized constant time. The memory is that of the identifiers
/// in use, besides eight bytes for each number that was ever in use at once.
struct IdentifierTable: Sendable {
    private var text: [UInt8] = []
    /// Where the text of each number lies: the offset, and in the low 24 bits the length; `unused` for a
    /// number without an identifier.
    private var spans: [UInt64] = []
    /// The numbers without an identifier.
    private var unusedNumbers: [UInt32] = []
    /// The bytes of `text` that belong to no identifier.
    private var removedBytes = 0
    /// An open-addressing hash table of numbers, with linear probing.
    private var places: [UInt32]
    /// For each place in use, seven bits of the hash, so that a probe rarely compares text; `free`
    /// for the others.
    private var tags: [UInt8]

    private static let free: UInt8 = 0
    private static let unused = UInt64.max
    private static let lengthBits: UInt64 = 24
    private static let placesMin = 16

    init() {
        places = Array(repeating: 0, count: Self.placesMin)
        tags = Array(repeating: Self.free, count: Self.placesMin)
    }

    /// The number of identifiers in use.
    var count: Int { spans.count - unusedNumbers.count }

    /// The memory of the text, bytes, with that of removed identifiers.
    var textBytes: Int { text.count }

    /// The size of the hash table, which is a power of two.
    var placeCount: Int { places.count }

    subscript(number: Int) -> String { String(decoding: text[range(number)], as: UTF8.self) }

    /// The length of an identifier in UTF-8, bytes.
    func length(_ number: Int) -> Int { range(number).count }

    private func range(_ number: Int) -> Range<Int> {
        let span = spans[number]
        let start = Int(span >> Self.lengthBits)
        return start..<start + Int(span & (1 << Self.lengthBits - 1))
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

    /// Returns the number of an identifier; a new identifier gets one that is not in use.
    mutating func enter(_ identifier: String) -> (number: Int, isNew: Bool) {
        if 4 * (count + 1) > 3 * places.count { rehash(2 * places.count) }
        var identifier = identifier
        return identifier.withUTF8 { bytes in
            let bytes = UnsafeRawBufferPointer(bytes)
            let hash = Self.hash(bytes)
            let place = place(of: bytes, hash)
            guard tags[place] == Self.free else { return (Int(places[place]), false) }
            let number = add(bytes)
            places[place] = UInt32(number)
            tags[place] = Self.tag(hash)
            return (number, true)
        }
    }

    private mutating func add(_ bytes: UnsafeRawBufferPointer) -> Int {
        precondition(bytes.count < 1 << Self.lengthBits, "an identifier is too long")
        let span = UInt64(text.count) << Self.lengthBits | UInt64(bytes.count)
        text.append(contentsOf: bytes)
        guard let number = unusedNumbers.popLast() else {
            spans.append(span)
            return spans.count - 1
        }
        spans[Int(number)] = span
        return Int(number)
    }

    /// Removes an identifier; another one may get its number.
    mutating func remove(_ number: Int) {
        let place = text.withUnsafeBytes { text in
            let bytes = UnsafeRawBufferPointer(rebasing: text[range(number)])
            return self.place(of: bytes, Self.hash(bytes))
        }
        close(place)
        removedBytes += length(number)
        spans[number] = Self.unused
        unusedNumbers.append(UInt32(number))
        compactText()
        if places.count > Self.placesMin, 8 * count < places.count { rehash(places.count / 2) }
    }

    /// Frees a place, and moves those behind it that would no longer be found.
    ///
    /// So the table has no marks of removed identifiers, which would make every search longer.
    private mutating func close(_ place: Int) {
        let mask = places.count - 1
        var hole = place
        var next = (place + 1) & mask
        text.withUnsafeBytes { text in
            while tags[next] != Self.free {
                let bytes = UnsafeRawBufferPointer(rebasing: text[range(Int(places[next]))])
                let home = Self.hash(bytes) & mask
                if (next - home) & mask >= (next - hole) & mask {
                    places[hole] = places[next]
                    tags[hole] = tags[next]
                    hole = next
                }
                next = (next + 1) & mask
            }
        }
        tags[hole] = Self.free
    }

    /// Drops the text of removed identifiers when it is most of the buffer.
    ///
    /// It looks at every number, so the threshold grows with these too: each removed byte pays for one.
    private mutating func compactText() {
        let used = text.count - removedBytes
        guard removedBytes > 4096 + used + 8 * spans.count else { return }
        var compacted: [UInt8] = []
        compacted.reserveCapacity(used + used / 4)
        for number in spans.indices where spans[number] != Self.unused {
            let range = range(number)
            spans[number] = UInt64(compacted.count) << Self.lengthBits | UInt64(range.count)
            compacted += text[range]
        }
        text = compacted
        removedBytes = 0
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
        spans.reserveCapacity(count)
        text.reserveCapacity(32 * count)
        var size = places.count
        while 3 * size < 4 * (count + 1) { size *= 2 }
        if size > places.count { rehash(size) }
    }

    private mutating func rehash(_ size: Int) {
        let mask = size - 1
        let former = (places: places, tags: tags)
        places = Array(repeating: 0, count: size)
        tags = Array(repeating: Self.free, count: size)
        text.withUnsafeBytes { text in
            for index in former.places.indices where former.tags[index] != Self.free {
                let number = former.places[index]
                let hash = Self.hash(UnsafeRawBufferPointer(rebasing: text[range(Int(number))]))
                var place = hash & mask
                while tags[place] != Self.free { place = (place + 1) & mask }
                places[place] = number
                tags[place] = Self.tag(hash)
            }
        }
    }
}
