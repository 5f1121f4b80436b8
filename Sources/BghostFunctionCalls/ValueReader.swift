// SPDX-License-Identifier: Apache-2.0
import BghostBase
import BghostFunctions
import Glibc

/// Converts C values to JSON.
enum ValueReader {
    /// Writes the value of a type at an address.
    static func write(
        _ type: ForeignType,
        at place: UnsafeRawPointer,
        to writer: inout JSONWriter
    ) {
        switch type {
        case .scalar(let scalar): write(scalar, at: place, to: &writer)
        case .pointer:
            guard let pointer = place.load(as: UnsafeRawPointer?.self) else {
                return writer.null()
            }
            writer.object { $0.member("handle", HandleTable.name(of: pointer)) }
        case .string(let owned):
            let pointer = place.load(as: UnsafeMutableRawPointer?.self)
            writeText(at: pointer, to: &writer)
            if owned { free(pointer) }
        case .structure(let fields):
            write(fields, offsets: ForeignLayout(type).offsets, at: place, to: &writer)
        }
    }

    /// Writes NUL-terminated text; text that is not UTF-8 as Base64, and null for a null pointer.
    static func writeText(at pointer: UnsafeRawPointer?, to writer: inout JSONWriter) {
        guard let pointer else { return writer.null() }
        // Limit the length: a string without its NUL would be read to the end of memory.
        let count = strnlen(
            pointer.assumingMemoryBound(to: CChar.self),
            SignatureLimits.bufferBytesMax
        )
        let bytes = UnsafeRawBufferPointer(start: pointer, count: count)
        if let text = String(validating: bytes, as: UTF8.self) {
            writer.value(text)
        } else {
            writeBytes(bytes, to: &writer)
        }
    }

    static func writeBytes(_ bytes: UnsafeRawBufferPointer, to writer: inout JSONWriter) {
        writer.object { $0.member("base64", Base64.encode(bytes)) }
    }

    /// The value of an integer type at an address.
    static func integer(_ scalar: ScalarType, at place: UnsafeRawPointer) -> Int128 {
        let isSigned = scalar.isSigned
        return switch scalar.byteCount {
        case 1: isSigned ? Int128(place.load(as: Int8.self)) : Int128(place.load(as: UInt8.self))
        case 2: isSigned ? Int128(place.load(as: Int16.self)) : Int128(place.load(as: UInt16.self))
        case 4: isSigned ? Int128(place.load(as: Int32.self)) : Int128(place.load(as: UInt32.self))
        default:
            isSigned ? Int128(place.load(as: Int64.self)) : Int128(place.load(as: UInt64.self))
        }
    }

    private static func write(
        _ scalar: ScalarType,
        at place: UnsafeRawPointer,
        to writer: inout JSONWriter
    ) {
        switch scalar {
        // C guarantees 0 or 1, but with a wrong signature any value may be here.
        case .bool: writer.value(place.load(as: UInt8.self) != 0)
        case .float:
            let number = place.load(as: Float.self)
            write(number, isFinite: number.isFinite, to: &writer)
        case .double:
            let number = place.load(as: Double.self)
            write(number, isFinite: number.isFinite, to: &writer)
        default: writer.value(integer(scalar, at: place))
        }
    }

    /// Writes the shortest text that parses to the same number of this type.
    private static func write(
        _ number: some BinaryFloatingPoint & CustomStringConvertible,
        isFinite: Bool,
        to writer: inout JSONWriter
    ) {
        if isFinite {
            writer.raw(number.description)
        } else if number.isNaN {
            writer.value("NaN")
        } else {
            writer.value(number > 0 ? "Infinity" : "-Infinity")
        }
    }

    private static func write(
        _ fields: [StructureField],
        offsets: [Int],
        at place: UnsafeRawPointer,
        to writer: inout JSONWriter
    ) {
        let members = zip(fields, offsets)
        guard fields.first?.name != nil else {
            return writer.array { writer in
                for (field, offset) in members {
                    write(field.type, at: place + offset, to: &writer)
                }
            }
        }
        writer.object { writer in
            for (field, offset) in members {
                writer.member(field.name ?? "") { write(field.type, at: place + offset, to: &$0) }
            }
        }
    }
}
