// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// Refuses files that the daemon would run or believe, and that other users could change.
struct FileTrust {
    let collector: DiagnosticCollector
    /// Says which other user could change the file at an absolute path; `nil` if there is none.
    let doubt: (String) -> String?

    /// Reports a file that other users could change.
    ///
    /// - Parameters:
    ///   - path: absolute.
    ///   - what: what the file is for the manifest, for people.
    ///   - isSecret: whether the path may be a part of a secret, which no diagnostic shows.
    /// - Returns: whether the file is trusted.
    @discardableResult
    func require(
        _ path: String,
        of what: String,
        isSecret: Bool = false,
        at span: ByteSpan,
        in source: ManifestSource
    ) -> Bool {
        guard let doubt = doubt(path) else { return true }
        collector.report(
            .untrustedFile,
            at: span,
            in: source,
            "\(what) is not to be trusted: \(isSecret ? "other users could change the file" : doubt)",
            help: "or start bghost with --dev, on a machine of your own"
        )
        return false
    }
}

/// The files that a connection string of libpq names.
enum ConnectionFiles {
    private static let keys: Set<String> = [
        "passfile", "servicefile", "sslcert", "sslcrl", "sslcrldir", "sslkey", "sslrootcert",
    ]

    /// The absolute paths in a URL or a string of `key=value`, with their keys.
    static func named(in connection: String) -> [(key: String, path: String)] {
        let isURL = ["postgresql://", "postgres://"].contains { connection.hasPrefix($0) }
        let pairs = isURL ? queryPairs(connection) : plainPairs(Array(connection.utf8))
        return pairs.filter { keys.contains($0.key) && $0.path.hasPrefix("/") }
    }

    private static func queryPairs(_ url: String) -> [(key: String, path: String)] {
        // libpq allows `?` in a password.
        let server = url.firstIndex(of: "@") ?? url.startIndex
        guard let mark = url[server...].firstIndex(of: "?") else { return [] }
        return url[mark...].dropFirst().split(separator: "&").compactMap { pair in
            let parts = pair.split(separator: "=", maxSplits: 1)
            guard parts.count == 2 else { return nil }
            return (decoded(parts[0]), decoded(parts[1]))
        }
    }

    private static func decoded(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"),
                let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The pairs of `key = value`, where a value with spaces stands in quotation marks, and a backslash makes the next
    /// character an ordinary one.
    private static func plainPairs(_ bytes: [UInt8]) -> [(key: String, path: String)] {
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
        var pairs: [(key: String, path: String)] = []
        var rest = bytes[...]
        while true {
            rest = rest.drop(while: isSpace)
            guard let equals = rest.firstIndex(of: UInt8(ascii: "=")) else { return pairs }
            let key = rest[..<equals].filter { !isSpace($0) }
            rest = rest[(equals + 1)...].drop(while: isSpace)
            let isQuoted = rest.first == UInt8(ascii: "'")
            if isQuoted { rest = rest.dropFirst() }
            var value: [UInt8] = []
            while let byte = rest.popFirst() {
                if isQuoted ? byte == UInt8(ascii: "'") : isSpace(byte) { break }
                guard byte == UInt8(ascii: "\\") else {
                    value.append(byte)
                    continue
                }
                if let next = rest.popFirst() { value.append(next) }
            }
            pairs.append(
                (String(decoding: key, as: UTF8.self), String(decoding: value, as: UTF8.self))
            )
        }
    }
}
