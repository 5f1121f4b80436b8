// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The symbols that an ELF file exports.
struct SymbolTable {
    struct Symbol {
        var name: UInt32
        var kind: UInt8
        var address: UInt64
        /// Whether another definition of the name may replace it.
        var isWeak: Bool
    }

    private static let symbolBytes: UInt64 = 24
    /// Fifteen times the number in the largest libraries of a Swift toolchain.
    private static let symbolsMax: UInt64 = 1 << 18
    private static let hashBucketsMax: UInt64 = 1 << 20
    static let function: UInt8 = 2
    /// The kind of the symbols that linkers add, such as `_end`.
    static let untyped: UInt8 = 0

    let dynamic: DynamicTable
    /// The names of all symbols.
    let strings: FileBytes
    private var count: UInt64 = 0
    private(set) var exports: [Symbol] = []

    init(_ dynamic: DynamicTable) throws(ImageError) {
        self.dynamic = dynamic
        strings = try dynamic.readStrings()
        count = try symbolCount()
        guard count <= Self.symbolsMax else {
            throw dynamic.malformed("it has \(count) symbols")
        }
        let table = try dynamic.layout.read(
            "the table of symbols",
            address: dynamic[DynamicTable.Tag.symbols] ?? 0,
            count: count * Self.symbolBytes
        )
        // A library may have 100,000 symbols, and its worker waits: a few loads for each, and no array.
        table.bytes.withUnsafeBytes { bytes in
            for base in stride(from: 0, to: bytes.count, by: Int(Self.symbolBytes)) {
                if let symbol = Self.export(bytes, at: base) { exports.append(symbol) }
            }
        }
    }

    /// The names of the symbols that other libraries must define; weak ones may be missing and are
    /// left out.
    func undefined() throws(ImageError) -> [UInt32] {
        let table = try dynamic.layout.read(
            "the table of symbols",
            address: dynamic[DynamicTable.Tag.symbols] ?? 0,
            count: count * Self.symbolBytes
        )
        return stride(from: 0, to: table.count, by: Int(Self.symbolBytes)).compactMap { base in
            guard let name: UInt32 = table.integer(at: base), name != 0,
                let information: UInt8 = table.integer(at: base + 4), information >> 4 == 1,
                table.integer(at: base + 6, as: UInt16.self) == 0
            else { return nil }
            return name
        }
    }

    /// The exported symbols whose names have a prefix, each with the rest of its name.
    func exports(beginning prefix: StaticString) -> [(rest: ArraySlice<UInt8>, symbol: Symbol)] {
        let found = strings.bytes.withUnsafeBufferPointer { bytes in
            exports.filter { symbol in
                let name = Int(symbol.name)
                guard let base = bytes.baseAddress, name <= bytes.count - prefix.utf8CodeUnitCount
                else { return false }
                return memcmp(base + name, prefix.utf8Start, prefix.utf8CodeUnitCount) == 0
            }
        }
        return found.compactMap { symbol in
            strings.string(at: UInt64(symbol.name), limit: 64).map {
                ($0.dropFirst(prefix.utf8CodeUnitCount), symbol)
            }
        }
    }

    /// The names of the exported functions that are not weak.
    var strongFunctions: [String] {
        exports.lazy.filter { $0.kind == Self.function && !$0.isWeak }.compactMap { symbol in
            strings.string(at: UInt64(symbol.name), limit: 1024).flatMap {
                String(validating: $0, as: UTF8.self)
            }
        }
    }

    /// The symbol of an entry, if it is defined here, is global, weak or unique, and is not hidden
    /// or internal.
    private static func export(_ table: UnsafeRawBufferPointer, at base: Int) -> Symbol? {
        guard base <= table.count - Int(symbolBytes) else { return nil }
        func integer<T: FixedWidthInteger & BitwiseCopyable>(at offset: Int) -> T {
            T(littleEndian: table.loadUnaligned(fromByteOffset: base + offset, as: T.self))
        }
        let section: UInt16 = integer(at: 6)
        guard section != 0 else { return nil }
        let information: UInt8 = integer(at: 4)
        let other: UInt8 = integer(at: 5)
        let (binding, visibility) = (information >> 4, other & 3)
        guard binding == 1 || binding == 2 || binding == 10, visibility == 0 || visibility == 3
        else { return nil }
        return Symbol(
            name: integer(at: 0),
            kind: information & 15,
            address: integer(at: 8),
            isWeak: binding == 2
        )
    }

    /// The number of symbols.
    ///
    /// The table does not contain it; its hash tables do.
    private func symbolCount() throws(ImageError) -> UInt64 {
        if let address = dynamic[DynamicTable.Tag.hash] {
            let head = try dynamic.layout.read("the hash table", address: address, count: 8)
            return UInt64(head.integer(at: 4, as: UInt32.self) ?? 0)
        }
        guard let address = dynamic[DynamicTable.Tag.gnuHash] else {
            throw dynamic.malformed("its symbols have no hash table")
        }
        let part = "the hash table"
        let head = try dynamic.layout.read(part, address: address, count: 16)
        let bucketCount = UInt64(head.integer(at: 0, as: UInt32.self) ?? 0)
        guard bucketCount <= Self.hashBucketsMax else {
            throw dynamic.malformed("its hash table has \(bucketCount) buckets")
        }
        let first = UInt64(head.integer(at: 4, as: UInt32.self) ?? 0)
        let bloomCount = UInt64(head.integer(at: 8, as: UInt32.self) ?? 0)
        // Counts are below 2^32, and the bytes at the address have just been read, so the sum is
        // below 2^46.
        let bucketAddress = address + 16 + bloomCount * 8
        let buckets = try dynamic.layout.read(
            part,
            address: bucketAddress,
            count: bucketCount * 4
        )
        var last: UInt64 = 0
        for index in 0..<Int(bucketCount) {
            last = max(last, UInt64(buckets.integer(at: index * 4, as: UInt32.self) ?? 0))
        }
        guard last >= first else { return first }
        return try chainEnd(from: last, first: first, address: bucketAddress + bucketCount * 4)
    }

    /// The chain of the last bucket ends at an odd word, and the symbol table ends there too.
    private func chainEnd(
        from start: UInt64,
        first: UInt64,
        address: UInt64
    ) throws(ImageError) -> UInt64 {
        var index = start
        while index < Self.symbolsMax {
            let words = try dynamic.layout.read(
                "the hash table",
                address: address + (index - first) * 4,
                limit: 4096
            )
            for offset in stride(from: 0, to: words.count, by: 4) {
                index += 1
                if (words.integer(at: offset, as: UInt32.self) ?? 1) & 1 != 0 { return index }
            }
        }
        throw dynamic.malformed("its hash table has no end")
    }
}
