// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// Replaces references to secrets and to the manifest's folder in the strings of one file.
struct SecretExpansion {
    let source: ManifestSource
    let collector: DiagnosticCollector
    let trust: FileTrust
    let manifestDirectory: String
    let unresolved: Diagnostic.Severity
    let resolve: (SecretReference) -> Result<String, SecretError>

    private static let opening = Array("${".utf8)
    private static let escapedOpening = Array("$${".utf8)

    /// A plugin's settings as text, with all references replaced.
    func settings(_ node: JSONNode?) -> String {
        guard let node else { return "{}" }
        return expand(node).text
    }

    private func expand(_ node: JSONNode) -> JSONNode {
        switch node.value {
        case .string(let text): return JSONNode(.string(expand(text, at: node.span)))
        case .array(let elements): return JSONNode(.array(elements.map(expand)))
        case .object(let members):
            let expanded = members.map { JSONMember(key: $0.key, value: expand($0.value)) }
            return JSONNode(.object(expanded))
        default: return node
        }
    }

    /// A string with its references replaced; a reference that cannot be resolved stays as written.
    func expand(_ text: String, at span: ByteSpan) -> String {
        guard text.containsASCII("${") else { return text }
        let bytes = Array(text.utf8)
        // A string without escapes has the same bytes in the source, so a diagnostic can point to a
        // part of it.
        let isVerbatim = Int(span.end) - Int(span.start) == bytes.count + 2
        var result: [UInt8] = []
        var index = 0
        while index < bytes.count {
            let rest = bytes[index...]
            if rest.starts(with: Self.escapedOpening) {
                result += Self.opening
                index += Self.escapedOpening.count
            } else if rest.starts(with: Self.opening) {
                let end = rest.firstIndex(of: UInt8(ascii: "}")).map { $0 + 1 }
                let written = index..<(end ?? bytes.count)
                let start = Int(span.start) + 1
                let part =
                    isVerbatim
                    ? ByteSpan(start + written.lowerBound..<start + written.upperBound) : span
                let value = value(of: bytes[written], isClosed: end != nil, at: part)
                result += value ?? Array(bytes[written])
                index = written.upperBound
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private func value(
        of written: ArraySlice<UInt8>,
        isClosed: Bool,
        at span: ByteSpan
    ) -> [UInt8]? {
        let text = String(decoding: written, as: UTF8.self)
        guard isClosed else {
            refuse(text, at: span, "it is not closed by `}`")
            return nil
        }
        let body = written.dropFirst(2).dropLast()
        let parts = body.split(separator: UInt8(ascii: ":"), maxSplits: 1)
            .map { String(decoding: $0, as: UTF8.self) }
        // This is not a secret but has the same syntax: handlers do not know the base folder of
        // relative paths.
        if parts == ["manifest", "dir"] { return Array(manifestDirectory.utf8) }
        guard parts.count == 2, let kind = SecretReference.Kind(rawValue: parts[0]) else {
            let kinds = SecretReference.Kind.allCases.map(\.rawValue)
            let near = Spelling.nearest(to: parts.first ?? "", among: kinds)
            let rest = parts.dropFirst().first ?? "NAME"
            let label = near.map { "did you mean \("${\($0):\(rest)}".quoted)?" }
            refuse(text, at: span, "it names no source", label: label)
            return nil
        }
        if let fault = Self.fault(in: parts[1], kind: kind) {
            refuse(text, at: span, fault)
            return nil
        }
        let name =
            kind == .file ? PathCheck.resolve(parts[1], against: manifestDirectory) : parts[1]
        // Before it is read, so that the bytes are those of the files' owners.
        guard kind != .file || trust.require(name, of: text.quoted, at: span, in: source) else {
            return nil
        }
        switch resolve(SecretReference(kind, name)) {
        case .success(let value): return Array(value.utf8)
        case .failure(let error):
            collector.report(
                .unresolvedSecret,
                severity: unresolved,
                at: span,
                in: source,
                "\(text.quoted) has no value: \(error.reason)"
            )
            return nil
        }
    }

    private func refuse(_ text: String, at span: ByteSpan, _ reason: String, label: String? = nil) {
        collector.report(
            .badReference,
            at: span,
            in: source,
            "\(text.quoted) is no reference: \(reason)",
            label: label,
            help: """
                write ${env:NAME}, ${file:PATH}, ${credential:NAME} or ${manifest:dir}; a literal \
                `${` is written `$${`
                """
        )
    }

    private static func fault(in name: String, kind: SecretReference.Kind) -> String? {
        switch kind {
        case .file: return PathCheck.fault(in: name)?.reason
        case .env, .credential:
            let isPlain = name.utf8.allSatisfy {
                switch $0 {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                    true
                // A credential is a file in the service manager's folder; its name must not lead
                // out of that folder.
                case UInt8(ascii: "-"), UInt8(ascii: "."): kind == .credential
                default: false
                }
            }
            return isPlain && !name.hasPrefix(".") ? nil : "\(name.quoted) is not a name"
        }
    }
}
