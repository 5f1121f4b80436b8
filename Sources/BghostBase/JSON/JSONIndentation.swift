// SPDX-License-Identifier: Apache-2.0

extension JSONNode {
    /// The value as JSON for people: two spaces per level, short arrays of scalars on one line.
    package var indentedText: String {
        var text = ""
        write(into: &text, indent: "")
        return text
    }

    private func write(into text: inout String, indent: String) {
        let inner = indent + "  "
        switch value {
        case .object(let members) where !members.isEmpty:
            text += "{\n"
            for (index, member) in members.enumerated() {
                text += inner + JSONNode(.string(member.key)).text + ": "
                member.value.write(into: &text, indent: inner)
                text += index < members.count - 1 ? ",\n" : "\n"
            }
            text += indent + "}"
        case .array(let elements) where elements.contains(where: \.isContainer):
            text += "[\n"
            for (index, element) in elements.enumerated() {
                text += inner
                element.write(into: &text, indent: inner)
                text += index < elements.count - 1 ? ",\n" : "\n"
            }
            text += indent + "]"
        case .array(let elements):
            text += "[" + elements.map(\.text).joined(separator: ", ") + "]"
        default: text += self.text
        }
    }

    private var isContainer: Bool { array != nil || object != nil }
}
