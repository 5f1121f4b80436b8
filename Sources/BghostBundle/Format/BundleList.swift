// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// The list of members with their SHA-256, in the form that `sha256sum` writes and checks.
package struct BundleList: Equatable, Sendable {
    struct Entry: Equatable, Sendable {
        var member: BundleMember
        /// 64 lower-case hex digits.
        var sha256: String
    }

    /// In the bytewise order of their names.
    let entries: [Entry]

    /// The names that a listed member may have.
    package var names: [String] { entries.map(\.member.name) }

    init(_ entries: [Entry]) {
        self.entries = entries.sorted {
            $0.member.name.utf8.lexicographicallyPrecedes($1.member.name.utf8)
        }
    }

    /// The text that is signed.
    package var bytes: [UInt8] {
        Array(entries.map { "\($0.sha256)  \($0.member.name)\n" }.joined().utf8)
    }

    /// Parses the text; each byte of it must be as `bytes` writes it.
    init(_ bytes: [UInt8]) throws(BundleError) {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw .damaged("\(BundleMember.listName) is not UTF-8")
        }
        var entries: [Entry] = []
        var last = ""
        for (index, line) in text.utf8.split(separator: 10, omittingEmptySubsequences: false)
            .dropLast().enumerated()
        {
            let place = "line \(index + 1) of \(BundleMember.listName)"
            let (digest, name) = (line.prefix(64), String(Substring(line.dropFirst(66))))
            guard line.count > 66, digest.allSatisfy(Self.isHex),
                line.dropFirst(64).prefix(2).elementsEqual("  ".utf8)
            else {
                throw .damaged("\(place) is not a SHA-256, two spaces and a name")
            }
            guard index < BundleMember.countMax else {
                throw .damaged("\(place) is one too many: \(BundleMember.countMax) are possible")
            }
            guard !name.isSameText(as: last) else {
                throw .damaged("\(place): \(name.quoted) is listed twice")
            }
            guard last.utf8.lexicographicallyPrecedes(name.utf8) else {
                throw .damaged("\(place): \(name.quoted) is not in the order of names")
            }
            last = name
            entries.append(
                Entry(
                    member: try BundleMember(name: name),
                    sha256: String(decoding: digest, as: UTF8.self)
                )
            )
        }
        self.init(entries)
        guard self.bytes == bytes, !entries.isEmpty else {
            throw .damaged("\(BundleMember.listName) has no lines, or its last line has no end")
        }
        try requireParts()
    }

    /// Throws unless there is a description, and one library at most for each architecture.
    private func requireParts() throws(BundleError) {
        guard entries.contains(where: { $0.member == .description }) else {
            throw .damaged("there is no bundle.json in the list")
        }
        var files: [Architecture: String] = [:]
        for entry in entries {
            guard case .library(let architecture, let file) = entry.member else { continue }
            if let other = files.updateValue(file, forKey: architecture) {
                throw .damaged(
                    "there are two libraries for \(architecture.rawValue): \(other.quoted) and"
                        + " \(file.quoted)"
                )
            }
        }
        guard !files.isEmpty else { throw .damaged("there is no library in the bundle") }
    }

    private static func isHex(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
    }
}
