// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostFunctions
import BghostPlugin

/// Converts JSON to the C value of a type, or reports why it does not match.
struct ValueWriter {
    let memory: CallMemory
    /// The name of the argument in messages.
    let label: String

    /// Writes a value to memory with the size and alignment of the type.
    func write(
        _ node: JSONNode,
        as type: ForeignType,
        to place: UnsafeMutableRawPointer
    ) throws(FunctionError) {
        switch type {
        case .scalar(let scalar): try write(node, as: scalar, to: place)
        case .pointer: place.storeBytes(of: try handle(node), as: UnsafeMutableRawPointer?.self)
        case .string:
            guard !node.isNull else {
                return place.storeBytes(of: nil, as: UnsafeMutableRawPointer?.self)
            }
            place.storeBytes(
                of: try memory.copy(try text(node).utf8),
                as: UnsafeMutableRawPointer?.self
            )
        case .structure(let fields): try write(node, as: fields, of: type, to: place)
        }
    }

    func fault(_ reason: String) -> FunctionError {
        .badParameters(argument: label, reason: reason)
    }

    // MARK: - Scalars

    private func write(
        _ node: JSONNode,
        as scalar: ScalarType,
        to place: UnsafeMutableRawPointer
    ) throws(FunctionError) {
        switch scalar {
        case .bool:
            guard let flag = node.bool else {
                throw fault("needs true or false, not \(node.typeName)")
            }
            place.storeBytes(of: flag ? 1 : 0, as: UInt8.self)
        case .double: place.storeBytes(of: try number(node), as: Double.self)
        case .float:
            let number = try number(node)
            guard !number.isFinite || Float(number).isFinite else {
                throw fault("is beyond what `float` holds: \(node.text)")
            }
            place.storeBytes(of: Float(number), as: Float.self)
        default: store(try integer(node, as: scalar), bytes: scalar.byteCount, to: place)
        }
    }

    /// Stores the lowest bytes, which come first on a little-endian machine.
    func store(_ integer: Int128, bytes: Int, to place: UnsafeMutableRawPointer) {
        withUnsafeBytes(of: integer.littleEndian) { source in
            place.copyMemory(from: source.baseAddress ?? UnsafeRawPointer(place), byteCount: bytes)
        }
    }

    func integer(_ node: JSONNode, as scalar: ScalarType) throws(FunctionError) -> Int128 {
        if scalar == .char, let text = node.string, text.utf8.count == 1, let byte = text.utf8.first
        {
            return Int128(byte)
        }
        guard case .number(let written) = node.value else {
            throw fault("needs a whole number (`\(scalar.rawValue)`), not \(node.typeName)")
        }
        let range = scalar.integerRange ?? 0...0
        let integer = node.int64.map { Int128($0) } ?? node.uint64.map { Int128($0) }
        guard let integer, range.contains(integer) else {
            throw fault(
                "needs a whole number from \(range.lowerBound) to \(range.upperBound) "
                    + "(`\(scalar.rawValue)`), not \(written)"
            )
        }
        return integer
    }

    private func number(_ node: JSONNode) throws(FunctionError) -> Double {
        // The strings that results use for numbers that JSON cannot represent.
        let notFinite: [String: Double] = [
            "NaN": .nan, "Infinity": .infinity, "-Infinity": -.infinity,
        ]
        if let number = node.double ?? node.string.flatMap({ notFinite[$0] }) { return number }
        guard case .number(let written) = node.value else {
            throw fault(
                "needs a number, \"NaN\", \"Infinity\" or \"-Infinity\", not \(node.typeName)"
            )
        }
        throw fault("is beyond what `double` holds: \(written)")
    }

    // MARK: - Pointers

    private func handle(_ node: JSONNode) throws(FunctionError) -> UnsafeMutableRawPointer? {
        guard !node.isNull else { return nil }
        guard let name = node["handle"]?.string, node.object?.count == 1 else {
            throw fault(
                "needs null or a handle that an earlier call answered, as {\"handle\": \"...\"}"
            )
        }
        guard let pointer = HandleTable.pointer(named: name) else {
            throw fault(
                "names the handle \"\(name)\", which this worker has not answered or has forgotten"
            )
        }
        return pointer
    }

    /// The text of a node, if C can take it.
    func text(_ node: JSONNode) throws(FunctionError) -> String {
        guard let text = node.string else {
            throw fault("needs a string, not \(node.typeName)")
        }
        guard !text.utf8.contains(0) else {
            throw fault("holds a NUL, at which C would cut the string off")
        }
        guard text.utf8.count <= SignatureLimits.bufferBytesMax else {
            throw fault("has \(text.utf8.count) bytes; 16 MiB are the most")
        }
        return text
    }

    /// The UTF-8 of a string, or the bytes that an object `{"base64": "..."}` encodes.
    func bytes(_ node: JSONNode) throws(FunctionError) -> [UInt8] {
        let bytes: [UInt8]
        if let text = node.string {
            bytes = Array(text.utf8)
        } else if let encoded = node["base64"]?.string, node.object?.count == 1 {
            guard let decoded = Base64.decode(encoded) else {
                throw fault("is no Base64: it needs A-Z, a-z, 0-9, + and /, padded by = to fours")
            }
            bytes = decoded
        } else {
            throw fault("needs a string or {\"base64\": \"...\"}, not \(node.typeName)")
        }
        guard bytes.count <= SignatureLimits.bufferBytesMax else {
            throw fault("has \(bytes.count) bytes; 16 MiB are the most")
        }
        return bytes
    }

    // MARK: - Structs

    private func write(
        _ node: JSONNode,
        as fields: [StructureField],
        of type: ForeignType,
        to place: UnsafeMutableRawPointer
    ) throws(FunctionError) {
        let offsets = ForeignLayout(type).offsets
        let elements = try elements(of: node, for: fields)
        for (index, (field, element)) in zip(fields, elements).enumerated() {
            let inner = ValueWriter(
                memory: memory,
                label: "\(label), member `\(field.name ?? String(index + 1))`,"
            )
            try inner.write(element, as: field.type, to: place + offsets[index])
        }
    }

    /// The values of the members in the order of the struct.
    private func elements(
        of node: JSONNode,
        for fields: [StructureField]
    ) throws(FunctionError) -> [JSONNode] {
        let names = fields.compactMap(\.name)
        if let list = node.array {
            guard list.count == fields.count else {
                throw fault("needs \(fields.count) members, not \(list.count)")
            }
            return list
        }
        guard !names.isEmpty, let members = node.object else {
            let wanted = names.isEmpty ? "a list" : "an object or a list"
            throw fault("needs \(wanted) with the members of the struct, not \(node.typeName)")
        }
        if let unknown = members.first(where: { !names.contains($0.key) }) {
            let meant = Spelling.nearest(to: unknown.key, among: names)
            throw fault(
                "has no member `\(unknown.key)`" + (meant.map { "; did you mean `\($0)`?" } ?? "")
            )
        }
        var elements: [JSONNode] = []
        for name in names {
            guard let element = node[name] else { throw fault("lacks the member `\(name)`") }
            elements.append(element)
        }
        return elements
    }
}
