// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel

extension WrittenDefinition {
    /// What a file contains of a definition, without `override` and free keys.
    init(_ kind: Kind, _ entry: ManifestEntry) {
        let place = entry.location
        self.init(
            kind,
            entry.name,
            Self.values(entry.node),
            place: "\(place.file):\(place.line)"
        )
    }

    /// A section that a manifest has once, such as `host`; without values if it is not there.
    init(_ kind: Kind, section node: JSONNode?) {
        self.init(kind, "", node.map(Self.values) ?? [])
    }

    private static func values(_ node: JSONNode) -> [(key: String, text: String)] {
        var values: [(key: String, text: String)] = []
        for member in node.object ?? []
        where member.key != "override" && !ManifestSection.isFree(member.key) {
            add(member.value, under: member.key, to: &values)
        }
        return values
    }

    private static func add(
        _ node: JSONNode,
        under path: String,
        to values: inout [(key: String, text: String)]
    ) {
        switch node.value {
        // `JSONReader` limits the depth.
        case .object(let members) where !members.isEmpty:
            for member in members { add(member.value, under: "\(path).\(member.key)", to: &values) }
        case .string(let text): values.append((path, text))
        default: values.append((path, node.text))
        }
    }
}
