// SPDX-License-Identifier: Apache-2.0

/// The headers of an ELF file: its type and the location of its parts.
///
/// Everything in it is checked against the file size before it is used.
struct ELFLayout {
    /// A program header: a part that the loader maps or reads.
    struct Segment {
        var type: UInt32
        var flags: UInt32
        var offset: UInt64
        var address: UInt64
        var fileBytes: UInt64
        var memoryBytes: UInt64
        var alignment: UInt64

        var isExecutable: Bool { flags & 1 != 0 }
    }

    /// A section header.
    ///
    /// The loader ignores sections; they are used here to find parts by name.
    struct Section {
        var name: ArraySlice<UInt8>
        var type: UInt32
        var offset: UInt64
        var size: UInt64
        var alignment: UInt64
    }

    enum SegmentType {
        static let load: UInt32 = 1
        static let dynamic: UInt32 = 2
        static let note: UInt32 = 4
        static let stack: UInt32 = 0x6474_E551
    }

    static let segmentsMax = 128
    static let sectionsMax = 4096
    static let noBits: UInt32 = 8

    let file: BoundedFile
    var segments: [Segment] = []
    var sections: [Section] = []

    /// - Parameter machine: the one that the file must be built for; `nil` for any.
    init(_ file: BoundedFile, machine: Machine? = .host) throws(ImageError) {
        self.file = file
        let header = try Self.readHeader(file, machine)
        segments = try Self.readSegments(file, header)
        sections = try Self.readSections(file, header)
    }

    func segments(of type: UInt32) -> [Segment] { segments.filter { $0.type == type } }

    func section(_ name: StaticString) -> Section? {
        name.withUTF8Buffer { name in sections.first { $0.name.elementsEqual(name) } }
    }

    /// Reads the range that the loader would map at an address; it must lie entirely in the file.
    func read(_ part: String, address: UInt64, count: UInt64) throws(ImageError) -> FileBytes {
        let place = try place(of: part, address: address, count: count)
        return try file.read(part, at: place.offset, count: count)
    }

    /// Reads a range of unknown length: at least one byte and at most `limit` bytes.
    func read(_ part: String, address: UInt64, limit: UInt64) throws(ImageError) -> FileBytes {
        let place = try place(of: part, address: address, count: 1)
        return try file.read(part, at: place.offset, count: min(limit, place.rest))
    }

    /// The file offset of an address, and how many bytes of its segment follow.
    private func place(
        of part: String,
        address: UInt64,
        count: UInt64
    ) throws(ImageError) -> (offset: UInt64, rest: UInt64) {
        for segment in segments where segment.type == SegmentType.load {
            guard address >= segment.address else { continue }
            let inside = address - segment.address
            let (end, overflow) = inside.addingReportingOverflow(count)
            guard !overflow, end <= segment.fileBytes else { continue }
            // No overflow: the segment was checked to lie within the file when it was read.
            return (segment.offset + inside, segment.fileBytes - inside)
        }
        throw ImageError(
            file.path,
            .malformed("\(part) at address \(address) lies in no part of the file that is loaded")
        )
    }
}

// MARK: - Reading

extension ELFLayout {
    private static let headerBytes: UInt64 = 64
    private static let segmentBytes: UInt64 = 56
    private static let sectionBytes: UInt64 = 64

    private static func readHeader(
        _ file: BoundedFile,
        _ machine: Machine?
    ) throws(ImageError) -> FileBytes {
        let beginning = try file.read("", at: 0, count: min(16, file.identity.sizeBytes)).bytes
        guard
            beginning.starts(with: [0x7F, UInt8(ascii: "E"), UInt8(ascii: "L"), UInt8(ascii: "F")])
        else {
            throw ImageError(file.path, .notELF(beginning: beginning))
        }
        let header = try file.read("the ELF header", at: 0, count: headerBytes)
        guard header.bytes[4] == 2 else { throw ImageError(file.path, .not64Bit) }
        guard header.bytes[5] == 1 else { throw ImageError(file.path, .notLittleEndian) }
        guard header.bytes[6] == 1, header.integer(at: 20, as: UInt32.self) == 1 else {
            throw ImageError(file.path, .malformed("its ELF version is not 1"))
        }
        // Check the machine before the type: if both are wrong, the machine explains the type.
        let found = header.integer(at: 18, as: UInt16.self) ?? 0
        guard machine == nil || found == machine?.code else {
            throw ImageError(file.path, .wrongMachine(found: found))
        }
        switch header.integer(at: 16, as: UInt16.self) {
        case 3: return header
        case 1: throw ImageError(file.path, .notLibrary(kind: "an object file (.o)"))
        case 2: throw ImageError(file.path, .notLibrary(kind: "a program"))
        case 4: throw ImageError(file.path, .notLibrary(kind: "a core dump"))
        default: throw ImageError(file.path, .notLibrary(kind: "an ELF file of another kind"))
        }
    }

    private static func readSegments(
        _ file: BoundedFile,
        _ header: FileBytes
    ) throws(ImageError) -> [Segment] {
        let count = Int(header.integer(at: 56, as: UInt16.self) ?? 0)
        guard count > 0, count <= segmentsMax else {
            throw ImageError(
                file.path,
                .malformed("it has \(count) program headers, 1 to \(segmentsMax) are usual")
            )
        }
        guard header.integer(at: 54, as: UInt16.self) == UInt16(segmentBytes) else {
            throw ImageError(file.path, .malformed("its program headers have an unknown size"))
        }
        let table = try file.read(
            "the table of program headers",
            at: header.integer(at: 32) ?? 0,
            count: UInt64(count) * segmentBytes
        )
        var segments: [Segment] = []
        var addressMin: UInt64 = 0
        for index in 0..<count {
            let segment = segment(table, at: index * Int(segmentBytes))
            guard segment.type != 0 else { continue }
            try check(segment, addressMin: &addressMin, in: file)
            segments.append(segment)
        }
        return segments
    }

    private static func segment(_ table: FileBytes, at base: Int) -> Segment {
        Segment(
            type: table.integer(at: base) ?? 0,
            flags: table.integer(at: base + 4) ?? 0,
            offset: table.integer(at: base + 8) ?? 0,
            address: table.integer(at: base + 16) ?? 0,
            fileBytes: table.integer(at: base + 32) ?? 0,
            memoryBytes: table.integer(at: base + 40) ?? 0,
            alignment: table.integer(at: base + 48) ?? 0
        )
    }

    /// Checks that a part which the loader maps lies within the file.
    ///
    /// The loader maps beyond the end without a check, and the first access is then a SIGBUS.
    private static func check(
        _ segment: Segment,
        addressMin: inout UInt64,
        in file: BoundedFile
    ) throws(ImageError) {
        let (fileEnd, fileOverflow) = segment.offset.addingReportingOverflow(segment.fileBytes)
        guard !fileOverflow, fileEnd <= file.identity.sizeBytes else {
            throw ImageError(
                file.path,
                .cutOff(
                    part: "a part to load",
                    end: fileOverflow ? .max : fileEnd,
                    size: file.identity.sizeBytes
                )
            )
        }
        guard segment.type == SegmentType.load else { return }
        let (end, overflow) = segment.address.addingReportingOverflow(segment.memoryBytes)
        guard !overflow, end < 1 << 46, segment.memoryBytes >= segment.fileBytes else {
            throw ImageError(file.path, .malformed("a part to load has impossible addresses"))
        }
        guard segment.address >= addressMin else {
            throw ImageError(file.path, .malformed("parts to load overlap or are out of order"))
        }
        let alignment = segment.alignment
        guard alignment <= 1 || alignment.nonzeroBitCount == 1,
            alignment <= 1 || segment.address % alignment == segment.offset % alignment
        else {
            throw ImageError(file.path, .malformed("a part to load is not aligned"))
        }
        addressMin = end
    }

    private static func readSections(
        _ file: BoundedFile,
        _ header: FileBytes
    ) throws(ImageError) -> [Section] {
        let count = Int(header.integer(at: 60, as: UInt16.self) ?? 0)
        let offset: UInt64 = header.integer(at: 40) ?? 0
        // The loader needs no sections, and some tools remove them all.
        guard offset != 0, count > 0 else { return [] }
        guard count <= sectionsMax else {
            throw ImageError(
                file.path,
                .malformed("it has \(count) sections, at most \(sectionsMax) are usual")
            )
        }
        guard header.integer(at: 58, as: UInt16.self) == UInt16(sectionBytes) else {
            throw ImageError(file.path, .malformed("its section headers have an unknown size"))
        }
        let table = try file.read(
            "the table of sections",
            at: offset,
            count: UInt64(count) * sectionBytes
        )
        let namesIndex = Int(header.integer(at: 62, as: UInt16.self) ?? 0)
        guard namesIndex < count else {
            throw ImageError(file.path, .malformed("its section names lie in no section"))
        }
        let namesBase = namesIndex * Int(sectionBytes)
        let namesSize: UInt64 = table.integer(at: namesBase + 32) ?? 0
        guard namesSize <= 1 << 20 else {
            throw ImageError(file.path, .malformed("its section names have \(namesSize) bytes"))
        }
        let names = try file.read(
            "the names of the sections",
            at: table.integer(at: namesBase + 24) ?? 0,
            count: namesSize
        )
        return (0..<count).map { section(table, at: $0 * Int(sectionBytes), names: names) }
    }

    private static func section(_ table: FileBytes, at base: Int, names: FileBytes) -> Section {
        let name: UInt32 = table.integer(at: base) ?? 0
        return Section(
            name: names.string(at: UInt64(name), limit: 64) ?? [],
            type: table.integer(at: base + 4) ?? 0,
            offset: table.integer(at: base + 24) ?? 0,
            size: table.integer(at: base + 32) ?? 0,
            alignment: table.integer(at: base + 48) ?? 0
        )
    }
}
