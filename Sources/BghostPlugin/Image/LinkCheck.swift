// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Resolves a library's dependencies as the loader would, without running or mapping it.
///
/// `ldd -r` maps the file and calls its resolvers of indirect functions; this type reads only
/// tables.
struct LinkCheck {
    /// A symbol that a library requires.
    private struct Wanted {
        let name: UInt64
        /// The name, for messages.
        let text: String
    }

    private struct Library {
        let path: String
        /// The names under which other libraries may need it.
        let names: Set<String>
        let folders: LoaderSearch.Folders
        let needed: [String]
        let versions: SymbolVersions
        let wanted: [Wanted]
    }

    private static let librariesMax = 128
    private static let neededMax = 256

    private let plugin: String
    private let search = LoaderSearch()
    private var libraries: [Library] = []
    /// Hashes of the names that the loaded libraries define.
    private var defined: Set<UInt64> = []

    private init(_ plugin: String) { self.plugin = plugin }

    /// Throws the first missing library, version or group of symbols that prevents a library from
    /// being loaded.
    static func run(_ path: String) throws(ImageError) {
        var check = LinkCheck(path)
        try check.load(path, LoaderSearch.Folders())
        // Libraries found on the way are processed too: the list grows during the loop.
        var index = 0
        while index < check.libraries.count {
            let library = check.libraries[index]
            for name in library.needed { try check.require(name, for: library) }
            index += 1
        }
        try check.requireVersions()
        try check.requireSymbols()
    }

    private mutating func require(_ name: String, for library: Library) throws(ImageError) {
        guard !libraries.contains(where: { $0.names.contains(name) }) else { return }
        guard libraries.count < Self.librariesMax else {
            throw ImageError(
                plugin,
                .malformed("it needs more than \(Self.librariesMax) libraries")
            )
        }
        for path in search.candidates(name, library.folders) where access(path, F_OK) == 0 {
            do {
                return try load(path, library.folders)
            } catch {
                // The loader skips a library for another machine, and fails on any other fault.
                if case .wrongMachine = error.problem { continue }
                if case .not64Bit = error.problem { continue }
                throw error
            }
        }
        throw ImageError(plugin, .missingLibrary(name: name, neededBy: library.path))
    }

    private mutating func load(
        _ path: String,
        _ parent: LoaderSearch.Folders
    ) throws(ImageError) {
        let descriptor = try BoundedFile.open(path)
        defer { close(descriptor) }
        let dynamic = try DynamicTable(
            ELFLayout(BoundedFile(descriptor: descriptor, path: path))
        )
        // What lies in a relative folder depends on where the process that loads the library was started.
        let own = NeededNames.folders(try dynamic.folders(), of: path).filter { $0.hasPrefix("/") }
        let hasRunPath = dynamic[DynamicTable.Tag.runpath] != nil
        let symbols = try SymbolTable(dynamic)
        for symbol in symbols.exports { defined.insert(symbols.hash(of: symbol.name)) }
        var names: Set<String> = [path.split(separator: "/").last.map(String.init) ?? path, path]
        if let soname = try dynamic.soname() { names.insert(soname) }
        libraries.append(
            Library(
                path: path,
                names: names,
                folders: LoaderSearch.Folders(
                    searched: hasRunPath ? own : own + parent.passedOn,
                    passedOn: hasRunPath ? parent.passedOn : own + parent.passedOn
                ),
                needed: Array(try dynamic.needed().prefix(Self.neededMax)),
                versions: try SymbolVersions(dynamic),
                wanted: try symbols.undefined().map { name in
                    Wanted(name: symbols.hash(of: name), text: symbols.symbolName(name))
                }
            )
        )
    }

    private func requireVersions() throws(ImageError) {
        for library in libraries {
            for need in library.versions.needs where !need.isWeak {
                guard let other = libraries.first(where: { $0.names.contains(need.library) }),
                    !other.versions.defined.isEmpty,
                    !other.versions.defined.contains(need.version)
                else { continue }
                throw ImageError(
                    plugin,
                    .missingVersion(need.version, of: other.path, neededBy: library.path)
                )
            }
        }
    }

    private func requireSymbols() throws(ImageError) {
        for library in libraries {
            let missing = library.wanted.filter { !defined.contains($0.name) }
            guard !missing.isEmpty else { continue }
            throw ImageError(
                plugin,
                .undefinedSymbols(missing.map(\.text).sorted(), in: library.path)
            )
        }
    }
}

extension SymbolTable {
    /// The hash of a symbol's name.
    ///
    /// With 64 bits, two of a million names collide once in 37 million cases.
    fileprivate func hash(of name: UInt32) -> UInt64 {
        strings.bytes.withUnsafeBufferPointer { bytes in
            var hash: UInt64 = 0xCBF2_9CE4_8422_2325
            var index = Int(name)
            while index < bytes.count, bytes[index] != 0 {
                hash = (hash ^ UInt64(bytes[index])) &* 0x100_0000_01B3
                index += 1
            }
            return hash
        }
    }

    fileprivate func symbolName(_ name: UInt32) -> String {
        let bytes = strings.string(at: UInt64(name), limit: 4096) ?? []
        guard bytes.allSatisfy({ (0x21..<0x7F).contains($0) }) else {
            return Quoted(bytes).description
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
