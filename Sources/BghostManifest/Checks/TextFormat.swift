// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostCalendar
internal import BghostModel

/// The format of a string in the manifest.
enum TextFormat: Sendable {
    /// A path that may contain secrets; a relative one starts at the manifest's folder.
    case hostPath
    /// `unix:` followed by such a path.
    case controlAddress
    /// A path that may be relative to the manifest's folder.
    case path
    /// A path, or a bare name to look up.
    case library
    case digest
    case publicKey
    case networkGrant
    case identifierPattern
    case sessionName
    case pluginName
    case handlerName
    case symbol
    case signature
    case calendar
    case timeZone
    case upsAddress
    case linkName
    case argument
    case layer
    case group
    case loopbackAddress
    case siteName
    /// An `http` or `https` URL that may contain secrets.
    case webAddress
    case secretText
    case mailAddress
    case muteWindow
    case tag
    /// One identifier, and no family.
    case identifier
}

/// Why a text does not match its format.
struct TextFault: Error, Equatable {
    var code: DiagnosticCode
    /// A clause such as "it is empty".
    var reason: String
    /// The label that a diagnostic shows beside the marked text.
    var label: String?

    init(_ code: DiagnosticCode, _ reason: String, label: String? = nil) {
        self.code = code
        self.reason = reason
        self.label = label
    }
}

extension TextFormat {
    /// The rule for a name of this format, for messages; `nil` if the format is not a name.
    var rule: String? {
        switch self {
        case .identifierPattern:
            "an identifier is 1 to 128 of A-Z a-z 0-9 . _ -; each part of it begins with a letter or"
                + " a digit, and that of a family ends in .*"
        case .sessionName:
            "a session's name is 1 to \(SessionDefinition.nameBytesMax) of A-Z a-z 0-9 . _ -; each part"
                + " of it begins with a letter or a digit"
        case .pluginName:
            "a name is 1 to 64 of A-Z a-z 0-9 . _ -, and begins with a letter or a digit"
        case .tag:
            "a tag is 1 to \(TaskTag.bytesMax) of A-Z a-z 0-9 . _ -, and begins with a letter or a digit"
        default: nil
        }
    }

    /// The noun for the format, with its article: "a path".
    var noun: String {
        switch self {
        case .hostPath, .path: "a path"
        case .controlAddress: "an address such as \"unix:/run/bghost/control.sock\""
        case .library: "a library such as \"libWeather.so\""
        case .digest: "a SHA-256 in hex"
        case .publicKey: "a public key of minisign"
        case .networkGrant: "a host and port such as \"api.example.org:443\""
        case .identifierPattern, .identifier: "a task identifier"
        case .sessionName: "a session's name"
        case .pluginName: "a name"
        case .handlerName: "a handler's name"
        case .symbol: "a symbol such as \"crc32\""
        case .signature: "a signature such as \"int(int)\""
        case .calendar: "a calendar such as \"0 12 * * *\""
        case .timeZone: "a time zone such as \"Europe/Berlin\""
        case .upsAddress: "a supply such as \"ups@localhost\""
        case .linkName: "a network link such as \"wwan0\""
        case .argument: "an argument"
        case .layer: "a layer such as \"landlock\""
        case .group: "a group such as \"adm\""
        case .loopbackAddress: "an address such as \"127.0.0.1:8645\""
        case .siteName: "a name such as \"ops.example\""
        case .webAddress: "a URL such as \"https://example.org/hook\""
        case .secretText: "a secret such as \"${env:TOKEN}\""
        case .mailAddress: "an e-mail address"
        case .tag: "a tag such as \"nightly\""
        case .muteWindow: "a window such as \"sat 02:00-04:00\""
        }
    }

    /// The noun in one or two words, without an article.
    var shortNoun: String {
        switch self {
        case .hostPath, .path: "path"
        case .controlAddress: "address"
        case .library: "library"
        case .digest: "SHA-256"
        case .publicKey: "public key"
        case .networkGrant: "host and port"
        case .identifierPattern, .identifier: "identifier"
        case .sessionName, .pluginName, .handlerName: "name"
        case .symbol: "symbol"
        case .signature: "signature"
        case .calendar: "calendar"
        case .timeZone: "time zone"
        case .upsAddress: "supply"
        case .linkName: "link"
        case .argument: "argument"
        case .layer: "layer"
        case .group: "group"
        case .loopbackAddress: "address"
        case .siteName: "name"
        case .webAddress: "URL"
        case .secretText: "secret"
        case .mailAddress: "address"
        case .muteWindow: "window"
        case .tag: "tag"
        }
    }

    /// A regular expression that every valid text matches; `nil` if it would exclude nothing.
    var pattern: String? {
        switch self {
        case .hostPath, .path, .library, .signature, .calendar, .timeZone, .argument,
            .webAddress, .secretText, .muteWindow:
            nil
        case .mailAddress: "^[^ ,@]+(@[^ ,@]+)?$"
        case .upsAddress:
            #"^([A-Za-z0-9._-]+@)?(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?$"#
        case .linkName: "^[^/ \\t\\n]{1,15}$"
        case .controlAddress: "^unix:."
        case .digest: "^[0-9a-f]{64}$"
        case .publicKey: "^RW[A-Za-z0-9+/]{54}$"
        case .networkGrant: #"^(\[[0-9A-Fa-f:.]+\]|(\*\.)?[A-Za-z0-9._-]+):[0-9]{1,5}$"#
        case .identifierPattern:
            #"^[A-Za-z0-9][A-Za-z0-9_-]*(\.[A-Za-z0-9][A-Za-z0-9_-]*)*(\.\*)?$"#
        case .sessionName, .identifier:
            #"^[A-Za-z0-9][A-Za-z0-9_-]*(\.[A-Za-z0-9][A-Za-z0-9_-]*)*$"#
        case .pluginName: "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"
        case .handlerName: "^[A-Za-z0-9._-]{1,128}$"
        case .tag: "^[A-Za-z0-9][A-Za-z0-9._-]{0,\(TaskTag.bytesMax - 1)}$"
        case .symbol: "^[A-Za-z_][A-Za-z0-9_]{0,254}$"
        case .group: "^[A-Za-z0-9._-]{1,32}$"
        case .loopbackAddress: #"^(127\.0\.0\.1|\[::1\]):[0-9]{1,5}$"#
        case .siteName: #"^[a-z0-9][a-z0-9.-]*(:[0-9]{1,5})?$"#
        case .layer: "^(" + SandboxLayer.allCases.map(\.rawValue).joined(separator: "|") + ")$"
        }
    }

    /// The error in a text; `nil` if it is valid.
    ///
    /// Paths with secrets are checked as written.
    func fault(in text: String) -> TextFault? {
        switch self {
        case .hostPath: PathCheck.fault(in: text)
        case .controlAddress: PathCheck.addressFault(in: text)
        case .path, .library: PathCheck.plainFault(in: text)
        case .digest: Self.digestFault(text)
        case .publicKey: Self.keyFault(text)
        case .networkGrant: Self.grantFault(text)
        case .identifierPattern: Self.identifierFault(text)
        case .identifier: Self.exactFault(text)
        case .sessionName: Self.sessionFault(text)
        case .pluginName: Self.nameFault(text, bytesMax: 64, beginsPlainly: true)
        case .handlerName: Self.nameFault(text, bytesMax: 128, beginsPlainly: false)
        case .symbol: Self.symbolFault(text)
        // Other parts of the program parse these.
        case .signature, .timeZone: nil
        case .calendar: Self.calendarFault(text)
        case .upsAddress:
            UPSAddress(text) == nil
                ? TextFault(.badNetworkGrant, "it is not of the form ups@host:port") : nil
        case .linkName: Self.linkFault(text)
        case .argument: PathCheck.plainFault(in: text)
        case .layer: Self.layerFault(text)
        case .group: Self.nameFault(text, bytesMax: 32, beginsPlainly: false)
        case .tag: Self.nameFault(text, bytesMax: TaskTag.bytesMax, beginsPlainly: true)
        case .loopbackAddress: SiteCheck.addressFault(in: text)
        case .siteName: SiteCheck.nameFault(in: text)
        case .webAddress: WebAddressCheck.fault(in: text)
        case .secretText: WebAddressCheck.secretFault(in: text)
        case .mailAddress: WebAddressCheck.mailFault(in: text)
        case .muteWindow: WebAddressCheck.windowFault(in: text)
        }
    }

    private static func layerFault(_ text: String) -> TextFault? {
        let known = SandboxLayer.allCases.map(\.rawValue)
        guard !known.contains(where: { $0.isSameText(as: text) }) else { return nil }
        return TextFault(
            .unknownWord,
            "it is not one of them",
            label: Spelling.nearest(to: text, among: known)
                .map { "did you mean \"\($0.escapedForMessage)\"?" }
                ?? known.joined(separator: ", ")
        )
    }

    /// Checks a link name by the kernel's rule: at most 15 bytes.
    private static func linkFault(_ text: String) -> TextFault? {
        let isPlain = text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "/") }
        guard !(1...15).contains(text.utf8.count) || !isPlain || text == "." || text == ".." else {
            return nil
        }
        return TextFault(.badName, "the kernel has no link of such a name")
    }

    private static func calendarFault(_ text: String) -> TextFault? {
        do throws(CalendarError) {
            _ = try CalendarExpression(text)
            return nil
        } catch {
            return TextFault(
                .badCalendar,
                error.offset > 0 ? "\(error.message) (byte \(error.offset + 1))" : error.message,
                label: error.help
            )
        }
    }

    private static func digestFault(_ text: String) -> TextFault? {
        let isHex = text.utf8.allSatisfy {
            switch $0 {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): true
            default: false
            }
        }
        guard text.utf8.count != 64 || !isHex else { return nil }
        if text.utf8.count == 64, text.lowercased() != text {
            return TextFault(.badDigest, "it is in capitals", label: "write it in lower case")
        }
        let count = text.unicodeScalars.count
        return TextFault(
            .badDigest,
            isHex ? "it has \(count) hex digits, not 64" : "it is not made of 64 hex digits",
            label: "64 lower-case hex digits are needed"
        )
    }

    private static func keyFault(_ text: String) -> TextFault? {
        let bytes = Base64.decode(text) ?? []
        guard bytes.count != 42 || !bytes.starts(with: Array("Ed".utf8)) else { return nil }
        return TextFault(
            .badPublicKey,
            "it is not RW and 54 further letters",
            label: "the second line of minisign.pub is such a key"
        )
    }

    private static func grantFault(_ text: String) -> TextFault? {
        do throws(NetworkGrantFault) {
            _ = try NetworkGrant(parsing: text)
            return nil
        } catch {
            let label = error.suggestion.map { "did you mean \($0.quoted)?" }
            return TextFault(.badNetworkGrant, error.reason, label: label)
        }
    }

    private static func identifierFault(_ text: String) -> TextFault? {
        guard IdentifierPattern(text) == nil else { return nil }
        return TextFault(.badIdentifier, identifierReason(text))
    }

    /// Checks a session's name, which becomes a part of its task's identifier.
    private static func sessionFault(_ text: String) -> TextFault? {
        if text.utf8.count > SessionDefinition.nameBytesMax {
            return TextFault(
                .badName,
                "it is longer than \(SessionDefinition.nameBytesMax) bytes"
            )
        }
        guard !IdentifierPattern.isValid(text) else { return nil }
        return TextFault(.badName, identifierReason(text))
    }

    private static func identifierReason(_ text: String) -> String {
        if text.isEmpty { return "it is empty" }
        if text.utf8.count > IdentifierPattern.bytesMax {
            return "it is longer than \(IdentifierPattern.bytesMax) bytes"
        }
        if let scalar = text.unicodeScalars.first(where: { $0 != "*" && !isNameScalar($0) }) {
            return "it contains \(String(scalar).quoted)"
        }
        if text.unicodeScalars.contains("*") { return "`*` may only be its last part, after a dot" }
        if text.hasPrefix(".") || text.hasSuffix(".") || text.containsASCII("..") {
            return "it has an empty part"
        }
        return "a part begins with \(text.hasPrefix("_") ? "`_`" : "`_` or `-`")"
    }

    private static func nameFault(
        _ text: String,
        bytesMax: Int,
        beginsPlainly: Bool
    ) -> TextFault? {
        if text.isEmpty { return TextFault(.badName, "it is empty") }
        if text.utf8.count > bytesMax {
            return TextFault(.badName, "it is longer than \(bytesMax) bytes")
        }
        if let scalar = text.unicodeScalars.first(where: { !isNameScalar($0) }) {
            return TextFault(.badName, "it contains \(String(scalar).quoted)")
        }
        // Such a name would be a hidden file or would look like an option.
        guard beginsPlainly, let first = text.unicodeScalars.first, "._-".contains(Character(first))
        else { return nil }
        return TextFault(.badName, "it begins with \(String(first).quoted)")
    }

    private static func symbolFault(_ text: String) -> TextFault? {
        let isIdentifier =
            (1...255).contains(text.utf8.count)
            && text.unicodeScalars.allSatisfy {
                isNameScalar($0) && $0 != "." && $0 != "-"
            }
        let beginsWithDigit = text.utf8.first.map { $0 <= UInt8(ascii: "9") } ?? false
        guard !isIdentifier || beginsWithDigit else { return nil }
        return TextFault(.badName, "it is not a C identifier of at most 255 characters")
    }

    private static func isNameScalar(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", ".", "_", "-": true
        default: false
        }
    }
}

/// The errors in a path that can be found without opening it.
enum PathCheck {
    /// The maximum length of a path, bytes: `PATH_MAX` without its NUL.
    static let bytesMax = 4095
    static let addressScheme = "unix:"

    static func fault(in path: String) -> TextFault? {
        if path.isEmpty { return TextFault(.badPath, "it is empty") }
        if path.utf8.contains(0) { return TextFault(.badPath, "it contains a NUL") }
        if path.utf8.count > bytesMax {
            return TextFault(.badPath, "it is longer than \(bytesMax) bytes")
        }
        guard path != "~", !path.hasPrefix("~/") else {
            return TextFault(
                .badPath,
                "only shells know what `~` is",
                label: "write the whole path"
            )
        }
        return nil
    }

    /// Checks a path that must not contain a secret.
    static func plainFault(in path: String) -> TextFault? {
        guard !path.containsASCII("${") else {
            return TextFault(.badReference, "references to secrets are not possible here")
        }
        return fault(in: path)
    }

    static func addressFault(in address: String) -> TextFault? {
        guard address.hasPrefix(addressScheme) else {
            return TextFault(
                .badPath,
                "it does not begin with `\(addressScheme)`",
                label: address.hasPrefix("/")
                    ? "did you mean \((addressScheme + address).quoted)?" : nil
            )
        }
        return fault(in: String(address.dropFirst(addressScheme.count)))
    }

    /// Makes a path absolute; it keeps `..`, because only the kernel can resolve it correctly.
    static func resolve(_ path: String, against folder: String) -> String {
        guard !path.hasPrefix("/") else { return path }
        let rest = path.hasPrefix("./") ? String(path.dropFirst(2)) : path
        return folder.hasSuffix("/") ? folder + rest : "\(folder)/\(rest)"
    }
}
