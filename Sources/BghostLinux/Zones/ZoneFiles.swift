// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The folder of compiled zones, in the layout of the tzdata package.
enum ZoneFiles {
    /// More names than any release of the database contains.
    static let namesMax = 4096
    private static let nameBytesMax = 128
    private static let depthMax = 4
    private static let fileBytesMax = 1 << 16

    static var defaultDirectory: String {
        // An empty TZDIR counts as unset.
        let value = getenv("TZDIR").map { String(cString: $0) } ?? ""
        return value.isEmpty ? "/usr/share/zoneinfo" : value
    }

    static func read(_ name: String, in directory: String) throws(ZoneFileError) -> [UInt8] {
        guard isName(name) else { throw .badName }
        // Read one byte more than a zone may have, so that a longer file is not accepted when
        // truncated.
        switch SmallFile.read(directory + "/" + name, bytesMax: fileBytesMax + 1) {
        case .success(let bytes): return bytes
        case .failure(let error):
            if utcNames.contains(name), isMissing(error) { return utc }
            switch error.code {
            case EISDIR: throw .notFound
            case ENOENT, ENOTDIR:
                guard access(directory + "/tzdata.zi", F_OK) != 0, names(in: directory).count < 2
                else { throw .notFound }
                throw .noDatabase(directory: directory)
            default: throw .unreadable(error)
            }
        }
    }

    static func version(in directory: String) -> String {
        let start = readFile(directory + "/tzdata.zi", bytesMax: 64) ?? []
        let line = String(decoding: start.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        let words = line.split(separator: " ")
        guard words.count == 3, words[0] == "#", words[1] == "version",
            words[2].utf8.allSatisfy(isNameByte)
        else { return "unknown" }
        return String(words[2])
    }

    // MARK: - Names

    /// Whether a text may be a path to a zone: it leads only downwards, to visible files.
    static func isName(_ name: String) -> Bool {
        guard (1...nameBytesMax).contains(name.utf8.count) else { return false }
        return name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .allSatisfy { part in
                part.first.map { $0 != UInt8(ascii: ".") } ?? false && part.allSatisfy(isNameByte)
            }
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"),
            UInt8(ascii: "_"), UInt8(ascii: "."):
            true
        default: false
        }
    }

    static func names(in directory: String) -> [String] {
        var names: Set<String> = ["UTC"]
        collect(directory, prefix: "", depth: 0, into: &names)
        return names.sorted()
    }

    /// Collects every compiled zone below a folder.
    ///
    /// The folders `posix` and `right` repeat all zones, and `localtime` is a setting.
    private static func collect(
        _ folder: String,
        prefix: String,
        depth: Int,
        into names: inout Set<String>
    ) {
        guard depth < depthMax, let stream = opendir(folder) else { return }
        defer { closedir(stream) }
        while names.count < namesMax, let entry = readdir(stream) {
            let entryName = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            let name = prefix + entryName
            guard isName(name), !excluded.contains(name) else { continue }
            switch SmallFile.read(folder + "/" + entryName, bytesMax: 4) {
            case .success(let magic):
                if magic.elementsEqual("TZif".utf8) { names.insert(name) }
            case .failure(let error):
                guard error.code == EISDIR else { continue }
                // Links to folders may form a cycle; the depth limit ends it.
                let below = folder + "/" + entryName
                collect(below, prefix: name + "/", depth: depth + 1, into: &names)
            }
        }
    }

    private static let excluded: Set<String> = ["posix", "right", "localtime", "posixrules"]

    // MARK: - UTC

    private static func isMissing(_ error: SystemError) -> Bool {
        error.code == ENOENT || error.code == ENOTDIR
    }

    private static let utcNames: Set<String> = ["UTC", "Etc/UTC"]

    /// The database's content for UTC: no transitions, and one type with offset 0.
    private static let utc: [UInt8] = {
        let header =
            Array("TZif2".utf8) + [UInt8](repeating: 0, count: 15)
            // Of the six counts, only the types (1) and the bytes of abbreviations (4) are not 0.
            + [UInt8](repeating: 0, count: 16) + [0, 0, 0, 1] + [0, 0, 0, 4]
        let block = [UInt8](repeating: 0, count: 6) + Array("UTC\0".utf8)
        return header + block + header + block + Array("\nUTC0\n".utf8)
    }()
}
