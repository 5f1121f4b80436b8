// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// The names and sizes that members of a bundle may have.
package enum BundleMember: Equatable, Hashable, Sendable {
    case description
    case readme
    case licence
    /// The JSON Schema of a handler's parameters.
    case schema(handler: String)
    case library(Architecture, file: String)

    /// The first member: the SHA-256 of all others except the signature.
    static let listName = "SHA256SUMS"
    /// The second member of a signed bundle: the signature of the list.
    static let signatureName = "SHA256SUMS.minisig"

    static let listBytesMax = 16 << 10
    /// The most members besides the list and its signature.
    static let countMax = 64
    /// The longest name that a tar header holds, bytes.
    private static let nameBytesMax = 100

    var name: String {
        switch self {
        case .description: "bundle.json"
        case .readme: "README.md"
        case .licence: "LICENSE"
        case .schema(let handler): "schemas/\(handler).json"
        case .library(let architecture, let file): "lib/\(architecture.rawValue)/\(file)"
        }
    }

    /// The size limit, bytes.
    var bytesMax: Int {
        switch self {
        case .description: 256 << 10
        case .readme, .licence: 1 << 20
        case .schema: 64 << 10
        case .library: 256 << 20
        }
    }

    /// Throws unless the name is one that a bundle may have.
    init(name: String) throws(BundleError) {
        try Self.requireInside(name)
        let parts = name.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        switch parts.count {
        case 1 where name == Self.description.name: self = .description
        case 1 where name == Self.readme.name: self = .readme
        case 1 where name == Self.licence.name: self = .licence
        case 2 where parts[0] == "schemas" && parts[1].hasSuffix(".json"):
            let handler = String(parts[1].dropLast(".json".utf8.count))
            guard BundleName.isHandler(handler) else { throw Self.unknown(name) }
            self = .schema(handler: handler)
        case 3 where parts[0] == "lib" && parts[2].hasSuffix(".so"):
            guard let architecture = Architecture(rawValue: parts[1]) else {
                let known = Architecture.allCases.map(\.rawValue).joined(separator: ", ")
                throw .damaged(
                    "the member \(name.quoted) is for an architecture that bghost does not know:"
                        + " it knows \(known)"
                )
            }
            guard BundleName.isName(parts[2]) else { throw Self.unknown(name) }
            self = .library(architecture, file: parts[2])
        default: throw Self.unknown(name)
        }
        guard name.utf8.count <= Self.nameBytesMax else { throw Self.tooLong(name) }
    }

    /// Throws for a name that could lead out of the folder into which a bundle is unpacked.
    static func requireInside(_ name: String) throws(BundleError) {
        if name.hasPrefix("/") {
            throw .damaged("the member \(name.quoted) has an absolute path")
        }
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        if parts.contains("..") {
            throw .damaged("the member \(name.quoted) has `..` in its path")
        }
        if parts.contains(".") || parts.contains("") {
            throw .damaged("the member \(name.quoted) has an empty part or `.` in its path")
        }
    }

    private static func unknown(_ name: String) -> BundleError {
        .damaged(
            "the member \(name.quoted) is none that a bundle may have: bundle.json, README.md,"
                + " LICENSE, schemas/HANDLER.json and lib/ARCHITECTURE/NAME.so"
        )
    }

    private static func tooLong(_ name: String) -> BundleError {
        BundleError(
            "the name \(name.quoted) has more than \(nameBytesMax) bytes",
            fix: "shorten the name of the library or handler"
        )
    }
}

/// The rules for names in a bundle; they are those of manifests.
package enum BundleName {
    /// Whether a text can name a plugin, or a library's file.
    package static func isName(_ text: String) -> Bool {
        guard (1...64).contains(text.utf8.count), let first = text.utf8.first else { return false }
        return isPlain(text) && isAlphanumeric(first)
    }

    /// Whether a text can name a handler.
    package static func isHandler(_ text: String) -> Bool {
        (1...128).contains(text.utf8.count) && isPlain(text)
    }

    /// Whether a text can be a version: `1.2.0`, `2.0-rc.1+7`.
    package static func isVersion(_ text: String) -> Bool {
        guard (1...32).contains(text.utf8.count), let first = text.utf8.first,
            isAlphanumeric(first), !text.contains("..")
        else { return false }
        return text.utf8.allSatisfy { isAlphanumeric($0) || ".+-".utf8.contains($0) }
    }

    /// Whether each byte is a letter or a digit of ASCII, a dot, an underscore or a hyphen.
    private static func isPlain(_ text: String) -> Bool {
        text.utf8.allSatisfy { isAlphanumeric($0) || "._-".utf8.contains($0) }
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: false
        }
    }
}
