// SPDX-License-Identifier: Apache-2.0

extension WebAddress {
    /// The address that a `Location` header refers to, relative to this one (RFC 3986, section 5).
    func resolving(_ reference: String) throws(FetchFailure) -> WebAddress {
        let bytes = Array(reference.utf8)
        guard bytes.count <= Self.bytesMax else {
            throw .badURL(reason: "it is longer than \(Self.bytesMax) bytes")
        }
        if Self.hasScheme(bytes) { return try WebAddress(reference) }
        if bytes.starts(with: "//".utf8) {
            return try WebAddress("\(scheme.rawValue):\(reference)")
        }
        let path = Array(target.utf8.prefix { $0 != UInt8(ascii: "?") })
        let full: [UInt8]
        switch bytes.first {
        case nil, UInt8(ascii: "#"): return self
        case UInt8(ascii: "/"): full = bytes
        case UInt8(ascii: "?"): full = path + bytes
        default:
            let folder = path[...(path.lastIndex(of: UInt8(ascii: "/")) ?? 0)]
            full = folder + bytes
        }
        let encoded = try Self.encodedTarget(full[...])
        return WebAddress(at: self, target: Self.removingDotSegments(encoded))
    }

    /// Whether a reference names its own scheme: a colon before any slash.
    private static func hasScheme(_ bytes: [UInt8]) -> Bool {
        let head = bytes.prefix { !":/?#".utf8.contains($0) }
        return !head.isEmpty && head.count < bytes.count
            && bytes[head.count] == UInt8(ascii: ":")
    }

    private static func removingDotSegments(_ target: String) -> String {
        let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) ?? target.utf8.endIndex
        var segments: [Substring] = []
        let parts = target[..<mark].split(separator: "/", omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated().dropFirst() {
            let isLast = index == parts.count - 1
            switch part {
            case "..":
                _ = segments.popLast()
                if isLast { segments.append("") }
            case ".":
                if isLast { segments.append("") }
            default:
                segments.append(part)
            }
        }
        return "/" + segments.joined(separator: "/") + target[mark...]
    }
}
