// SPDX-License-Identifier: Apache-2.0

/// What an ELF file tells the loader: the libraries it needs, its flags, and where its symbols are.
struct DynamicTable {
    enum Tag {
        static let null: UInt64 = 0
        static let needed: UInt64 = 1
        static let hash: UInt64 = 4
        static let strings: UInt64 = 5
        static let symbols: UInt64 = 6
        static let stringsSize: UInt64 = 10
        static let symbolSize: UInt64 = 11
        static let soname: UInt64 = 14
        static let rpath: UInt64 = 15
        static let runpath: UInt64 = 29
        static let textRelocations: UInt64 = 22
        static let flags: UInt64 = 30
        static let gnuHash: UInt64 = 0x6FFF_FEF5
        static let flags1: UInt64 = 0x6FFF_FFFB
    }

    private static let entriesMax = 4096
    private static let entryBytes: UInt64 = 16
    private static let stringsBytesMax: UInt64 = 64 << 20

    let layout: ELFLayout
    private var entries: [(tag: UInt64, value: UInt64)] = []
    private(set) var strings = FileBytes(bytes: [])

    init(_ layout: ELFLayout) throws(ImageError) {
        self.layout = layout
        let segments = layout.segments(of: ELFLayout.SegmentType.dynamic)
        guard segments.count == 1, let segment = segments.first else {
            throw malformed("it has \(segments.count) dynamic sections instead of one")
        }
        let count = segment.fileBytes / Self.entryBytes
        guard count > 0, count <= Self.entriesMax else {
            throw malformed("its dynamic section has \(segment.fileBytes) bytes")
        }
        // By address and not by offset: that is where the loader looks.
        let table = try layout.read(
            "the dynamic section",
            address: segment.address,
            count: count * Self.entryBytes
        )
        for index in 0..<Int(count) {
            let tag: UInt64 = table.integer(at: index * 16) ?? 0
            guard tag != Tag.null else { break }
            entries.append((tag, table.integer(at: index * 16 + 8) ?? 0))
        }
        guard let address = self[Tag.strings], let size = self[Tag.stringsSize],
            self[Tag.symbols] != nil
        else {
            throw malformed("its dynamic section names no symbols")
        }
        guard self[Tag.symbolSize] == nil || self[Tag.symbolSize] == 24 else {
            throw malformed("its symbols have an unknown size")
        }
        guard size <= Self.stringsBytesMax else {
            throw malformed("the names of its symbols have \(size) bytes")
        }
        strings = try layout.read("the names of its symbols", address: address, count: size)
    }

    /// The last entry of a tag, which is the one that counts.
    subscript(tag: UInt64) -> UInt64? { entries.last { $0.tag == tag }?.value }

    var needed: [String] {
        entries.lazy.filter { $0.tag == Tag.needed }.map { text(at: $0.value) }
    }

    var soname: String? { self[Tag.soname].map { text(at: $0) } }

    /// Folders in which the loader looks for the libraries that it needs, as written.
    var folders: [String] {
        // The loader passes over the older tag where there is the newer one.
        guard let list = self[Tag.runpath] ?? self[Tag.rpath] else { return [] }
        return (strings.string(at: list, limit: 16 << 10)).map {
            String(decoding: $0, as: UTF8.self).split(separator: ":").map(String.init)
        } ?? []
    }

    /// Static thread-local storage comes from a small reserve of the process: with another plugin
    /// loaded before, `dlopen` may fail.
    var hasStaticTLS: Bool { (self[Tag.flags] ?? 0) & 0x10 != 0 }

    var hasTextRelocations: Bool {
        self[Tag.textRelocations] != nil || (self[Tag.flags] ?? 0) & 4 != 0
    }

    /// Programs are position-independent too nowadays, and look like libraries but for this.
    var isProgram: Bool { (self[Tag.flags1] ?? 0) & 0x0800_0000 != 0 }

    /// Anything but plain text is escaped: somebody will print it to a terminal.
    private func text(at offset: UInt64) -> String {
        let bytes = strings.string(at: offset, limit: 255) ?? []
        guard bytes.allSatisfy({ (0x20..<0x7F).contains($0) }) else {
            return Quoted(bytes).description
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    func malformed(_ what: String) -> ImageError {
        ImageError(layout.file.path, .malformed(what))
    }
}
