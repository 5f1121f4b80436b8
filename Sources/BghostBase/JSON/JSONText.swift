// SPDX-License-Identifier: Apache-2.0

/// Operations on JSON in text form.
package enum JSONText {
    /// Merges two objects: a key of `over` replaces the same key of `base` completely, and new keys follow.
    ///
    /// - Throws: the first error in either text, including `notAnObject`.
    package static func overlay(base: String, over: String) throws(JSONError) -> String {
        // Most submissions have no parameters, and the base was checked when it was stored.
        if over == "{}" { return base }
        let top = try members(of: over)
        var result = try members(of: base)
        var positions: [[UInt8]: Int] = [:]
        for (index, member) in result.enumerated() { positions[Array(member.key.utf8)] = index }
        for member in top {
            if let index = positions[Array(member.key.utf8)] {
                result[index] = member
            } else {
                result.append(member)
            }
        }
        return JSONNode(.object(result)).text
    }

    /// Whether the bytes are one object of strict JSON, with at most 64 levels and without duplicate keys.
    package static func isObject(_ bytes: [UInt8]) -> Bool {
        // Fast path: nearly all requests have "{}".
        if bytes.count == 2 { return bytes == [UInt8(ascii: "{"), UInt8(ascii: "}")] }
        // The caller asks only whether it is one.
        guard let node = try? JSONReader.parse(bytes, dialect: .strict) else { return false }
        return node.object != nil
    }

    /// Whether a text is one object of strict JSON.
    package static func isObject(_ text: String) -> Bool { isObject(Array(text.utf8)) }

    private static func members(of text: String) throws(JSONError) -> [JSONMember] {
        let node = try JSONReader.parse(text)
        guard let members = node.object else { throw JSONError(.notAnObject, at: node.span) }
        return members
    }
}
