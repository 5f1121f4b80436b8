// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostFunctions
import BghostPlugin

/// The arguments of one call in the form that libffi expects: a location for each value, and the
/// memory that pointer values refer to.
struct ArgumentFrame {
    let signature: FunctionSignature
    let memory: CallMemory
    /// The location of the result.
    ///
    /// libffi widens small results and may store up to four whole
    /// registers.
    let result: UnsafeMutableRawPointer
    /// The location of each argument's value.
    private(set) var places: [UnsafeMutableRawPointer?] = []
    /// For each argument, the memory that its value points to and that the function writes, if any.
    private(set) var targets: [UnsafeMutableRawPointer?] = []
    /// For each argument, the number of bytes in its parameter.
    private var lengths: [Int] = []

    /// Checks the parameters and stores all values except callbacks.
    ///
    /// - Parameter isComplete: whether an argument without a value is an error.
    init(
        _ signature: FunctionSignature,
        parameters: String,
        isComplete: Bool = true
    ) throws(FunctionError) {
        let list = try ParameterList(parameters, for: signature, isComplete: isComplete)
        self.signature = signature
        memory = CallMemory()
        result = try memory.zeros(max(64, signature.result.map { ForeignLayout($0).size } ?? 0))
        for (index, argument) in signature.arguments.enumerated() {
            places.append(try memory.zeros(Self.size(of: argument.passing)))
            targets.append(nil)
            lengths.append(0)
            try set(index, to: list.values[index] ?? argument.preset?.node)
        }
        // Set lengths last: a length may precede the argument that it measures.
        for index in signature.arguments.indices {
            try setLength(index, isGiven: list.values[index] != nil)
        }
    }

    /// Passes the address of a callback.
    func setCallback(_ code: UnsafeMutableRawPointer, at index: Int) {
        places[index]?.storeBytes(of: code, as: UnsafeMutableRawPointer?.self)
    }

    private static func size(of passing: FunctionArgument.Passing) -> Int {
        switch passing {
        case .value(let type): ForeignLayout(type).size
        default: MemoryLayout<UnsafeRawPointer>.size
        }
    }

    /// - Parameter node: `nil` if the argument is not given, or is a length that is not yet known.
    private mutating func set(_ index: Int, to node: JSONNode?) throws(FunctionError) {
        guard let place = places[index] else { return }
        let writer = ValueWriter(memory: memory, label: signature.label(ofArgument: index))
        switch signature.arguments[index].passing {
        case .value(let type):
            guard let node else { return }
            try writer.write(node, as: type, to: place)
            if case .string = type { lengths[index] = node.string?.utf8.count ?? 0 }
        case .bytes:
            guard let node, !node.isNull else { return }
            let bytes = try writer.bytes(node)
            lengths[index] = bytes.count
            point(index, to: try memory.copy(bytes))
        case .reference(let type, _):
            let target = try memory.zeros(ForeignLayout(type).size)
            if let node { try writer.write(node, as: type, to: target) }
            point(index, to: target)
        case .buffer(let buffer):
            let target = try memory.zeros(buffer.capacity)
            if let node {
                let bytes =
                    buffer.text ? Array(try writer.text(node).utf8) : try writer.bytes(node)
                guard bytes.count + (buffer.text ? 1 : 0) <= buffer.capacity else {
                    throw writer.fault(
                        "has \(bytes.count) bytes, too many for a buffer of \(buffer.capacity)"
                            + (buffer.text ? " with its NUL" : "")
                    )
                }
                lengths[index] = bytes.count
                UnsafeMutableRawBufferPointer(start: target, count: bytes.count)
                    .copyBytes(from: bytes)
            }
            point(index, to: target)
        case .done, .cancelled: break
        }
    }

    private mutating func point(_ index: Int, to target: UnsafeMutableRawPointer) {
        targets[index] = target
        places[index]?.storeBytes(of: target, as: UnsafeMutableRawPointer?.self)
    }

    /// Sets a length that was not given, and refuses one that is too large, since the function
    /// would then read or write past the end.
    private func setLength(_ index: Int, isGiven: Bool) throws(FunctionError) {
        let length: Int
        let measured: String
        switch signature.arguments[index].preset {
        case .lengthOf(let name):
            guard let other = signature.index(ofArgument: name) else { return }
            (length, measured) = (lengths[other], name)
        case .capacityOf(let name):
            guard let other = signature.index(ofArgument: name),
                case .buffer(let buffer) = signature.arguments[other].passing
            else { return }
            (length, measured) = (buffer.capacity, name)
        default: return
        }
        let scalar: ScalarType
        let place: UnsafeMutableRawPointer?
        switch signature.arguments[index].passing {
        case .value(.scalar(let type)): (scalar, place) = (type, places[index])
        case .reference(.scalar(let type), _): (scalar, place) = (type, targets[index])
        default: return
        }
        guard let place else { return }
        let writer = ValueWriter(memory: memory, label: signature.label(ofArgument: index))
        guard isGiven else {
            guard scalar.integerRange?.contains(Int128(length)) == true else {
                throw writer.fault(
                    "is the length of `\(measured)`, but `\(scalar.rawValue)` cannot hold \(length)"
                )
            }
            return writer.store(Int128(length), bytes: scalar.byteCount, to: place)
        }
        guard (0...Int128(length)).contains(ValueReader.integer(scalar, at: place)) else {
            throw writer.fault(
                "must be 0 to \(length), the length of `\(measured)`; leave it out to pass that"
            )
        }
    }
}
