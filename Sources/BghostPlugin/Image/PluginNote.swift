// SPDX-License-Identifier: Apache-2.0

import BghostModel

/// The text of a plugin's ELF note, which can be read without running the plugin.
package struct PluginNote: Equatable, Sendable {
    /// The ABI version that it was built against.
    package var abiMajor: UInt16
    package var abiMinor: UInt16
    /// Reverse DNS, the same as in the plugin's table; "" if the note has no id.
    package var id: String
    /// The language runtime that it contains, such as `c` or `swift`; "" if the note does not say.
    package var runtime: String
    /// Whether the host checks parameters against the schemas of the plugin's table.
    package var checksParameters: Bool

    init(
        abiMajor: UInt16,
        abiMinor: UInt16,
        id: String,
        runtime: String = "",
        checksParameters: Bool = false
    ) {
        self.abiMajor = abiMajor
        self.abiMinor = abiMinor
        self.id = id
        self.runtime = runtime
        self.checksParameters = checksParameters
    }

    static let textBytesMax = 4096

    /// Parses `key=value;key=value`, padded with NULs.
    ///
    /// Unknown keys are ignored: a later minor may add some.
    static func parse(_ padded: some Collection<UInt8>) -> Result<PluginNote, NoteFault> {
        let bytes = padded.prefix { $0 != 0 }
        guard padded.count <= textBytesMax else {
            return .failure(NoteFault("it has \(padded.count) bytes, at most \(textBytesMax)"))
        }
        guard padded.dropFirst(bytes.count).allSatisfy({ $0 == 0 }) else {
            return .failure(NoteFault("its text goes on behind a NUL"))
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            return .failure(NoteFault("its text is not UTF-8: \(Quoted(bytes))"))
        }
        // Split by bytes, not characters: another character is canonically equivalent to `;`, and a
        // `;` followed by a combining accent is a different character. Other readers would then
        // find other keys.
        var values: [String: Substring.UTF8View] = [:]
        for part in text.utf8.split(separator: UInt8(ascii: ";")) {
            guard let equals = part.firstIndex(of: UInt8(ascii: "=")) else {
                return .failure(NoteFault("\(Quoted(part)) is not key=value"))
            }
            let key = part[..<equals]
            let value = part[part.index(after: equals)...]
            guard values.updateValue(value, forKey: String(Substring(key))) == nil else {
                return .failure(NoteFault("the key \(Quoted(key)) stands there twice"))
            }
        }
        guard let abi = values["abi"] else { return .failure(NoteFault("the key abi is missing")) }
        let version = abi.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard version.count == 2, let major = number(version[0]), let minor = number(version[1])
        else {
            return .failure(NoteFault("abi is \(Quoted(abi)), not MAJOR.MINOR"))
        }
        let id = values["id"]
        if let id, !IdentifierPattern.isValid(String(Substring(id))) {
            return .failure(NoteFault("id is \(Quoted(id)), not like org.example.name"))
        }
        let runtime = values["runtime"]
        if let runtime, !runtime.isEmpty, !isWord(runtime) {
            return .failure(NoteFault("runtime is \(Quoted(runtime)), not a short word"))
        }
        let parameters = values["params"].map { String(Substring($0)) }
        if let parameters, parameters != "checked" {
            return .failure(NoteFault("params is \(Quoted(parameters.utf8)), not checked"))
        }
        return .success(
            PluginNote(
                abiMajor: major,
                abiMinor: minor,
                id: id.map { String(Substring($0)) } ?? "",
                runtime: runtime.map { String(Substring($0)) } ?? "",
                checksParameters: parameters != nil
            )
        )
    }

    /// Accepts decimal digits only: `UInt16.init` alone would accept a sign.
    private static func number(_ text: Substring.UTF8View) -> UInt16? {
        guard text.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return UInt16(Substring(text))
    }

    private static func isWord(_ text: Substring.UTF8View) -> Bool {
        text.count <= 32 && text.allSatisfy { (0x21...0x7E).contains($0) }
    }
}

/// What is wrong with a note, as the second half of a sentence.
struct NoteFault: Error, Equatable {
    var what: String

    init(_ what: String) { self.what = what }
}

/// The notes of one ELF segment or section.
struct NoteList {
    static let owner: [UInt8] = Array("bghost\0".utf8)
    static let type: UInt32 = 1

    /// The texts of the notes with bghost's owner, as stored.
    ///
    /// - Parameters:
    ///   - alignment: that of the segment or section; if it is 8, entries are padded to 8 bytes.
    ///   - isOurs: whether the section belongs to bghost, so that an unreadable entry is an error.
    ///     In other sections such an entry is ignored.
    static func texts(
        in data: FileBytes,
        alignment: UInt64,
        isOurs: Bool
    ) -> Result<[ArraySlice<UInt8>], NoteFault> {
        let unit = alignment == 8 ? 8 : 4
        var found: [ArraySlice<UInt8>] = []
        var offset = 0
        while offset < data.count {
            guard let nameCount: UInt32 = data.integer(at: offset),
                let textCount: UInt32 = data.integer(at: offset + 4),
                let type: UInt32 = data.integer(at: offset + 8)
            else {
                return isOurs ? .failure(NoteFault("its header is cut off")) : .success(found)
            }
            // No sum can overflow: each count is below 2^32, and an Int has 64 bits.
            let nameStart = offset + 12
            let textStart = rounded(nameStart + Int(nameCount), to: unit)
            let textEnd = textStart + Int(textCount)
            guard nameStart + Int(nameCount) <= data.count else {
                return isOurs ? .failure(NoteFault("its owner is cut off")) : .success(found)
            }
            let name = data.bytes[nameStart..<nameStart + Int(nameCount)]
            if name.elementsEqual(owner), type == Self.type {
                guard textEnd <= data.count else {
                    return .failure(
                        NoteFault("its text has \(textCount) bytes, of which the last are missing")
                    )
                }
                found.append(data.bytes[textStart..<textEnd])
            }
            offset = rounded(textEnd, to: unit)
        }
        return .success(found)
    }

    private static func rounded(_ value: Int, to unit: Int) -> Int {
        (value + unit - 1) / unit * unit
    }
}
