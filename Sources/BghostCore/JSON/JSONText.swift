// SPDX-License-Identifier: Apache-2.0

/// Work on JSON that is text before and after.
package enum JSONText {
    /// Lays one object over another: a key of `over` replaces the same key of `base` whole, and new
    /// keys follow.
    ///
    /// - Throws: the first thing that is wrong with either text, `notAnObject` included.
    package static func overlay(base: String, over: String) throws(JSONError) -> String {
        // Most submissions bring nothing, and the base was checked when it was stored.
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

    /// Whether the bytes are one object of strict JSON, at most 64 levels deep and without a key
    /// that stands twice.
    package static func isObject(_ bytes: [UInt8]) -> Bool {
        // "{}" is what nearly every request carries.
        if bytes.count == 2 { return bytes == [UInt8(ascii: "{"), UInt8(ascii: "}")] }
        guard let node = try? JSONReader.parse(bytes, dialect: .strict) else { return false }
        return node.object != nil
    }

    /// The same for a text.
    package static func isObject(_ text: String) -> Bool { isObject(Array(text.utf8)) }

    private static func members(of text: String) throws(JSONError) -> [JSONMember] {
        let node = try JSONReader.parse(text)
        guard let members = node.object else { throw JSONError(.notAnObject, at: node.span) }
        return members
    }
}
