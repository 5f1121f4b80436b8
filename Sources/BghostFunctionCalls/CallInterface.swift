// SPDX-License-Identifier: Apache-2.0
import BghostFunctions
import CFFI
import Glibc

/// libffi's description of a function: the types of its arguments and result.
///
/// libffi keeps pointers to all of it, so its memory stays in place until `deinit`. After `init` it
/// is only read, so threads can share it; the compiler cannot verify that.
final class CallInterface: @unchecked Sendable {
    let cif = UnsafeMutablePointer<ffi_cif>.allocate(capacity: 1)
    private var types: [UnsafeMutablePointer<ffi_type>] = []
    private var lists: [UnsafeMutablePointer<UnsafeMutablePointer<ffi_type>?>] = []

    /// Describes a function; every argument that is passed by address is a pointer.
    init(
        result: ForeignType?,
        arguments: [ForeignType],
        fixedArguments: Int? = nil
    ) throws(CallInterfaceError) {
        cif.initialize(to: ffi_cif())
        let resultType = result.map(make) ?? add(FFI_TYPE_VOID, size: 1)
        let argumentTypes = list(arguments.map(make))
        let count = UInt32(arguments.count)
        let status =
            if let fixedArguments {
                ffi_prep_cif_var(
                    cif,
                    FFI_DEFAULT_ABI,
                    UInt32(fixedArguments),
                    count,
                    resultType,
                    argumentTypes
                )
            } else {
                ffi_prep_cif(cif, FFI_DEFAULT_ABI, count, resultType, argumentTypes)
            }
        guard status == FFI_OK else { throw CallInterfaceError(status: status.rawValue) }
        // libffi has now computed the layout of the structs. If it differs from ours, values would
        // be written to wrong places.
        for (type, position) in zip([result].compactMap(\.self), [resultType]) {
            try Self.compare(type, with: position)
        }
        for (index, type) in arguments.enumerated() {
            try Self.compare(type, with: argumentTypes[index])
        }
    }

    deinit {
        types.forEach { $0.deallocate() }
        lists.forEach { $0.deallocate() }
        cif.deallocate()
    }

    /// Calls a function, which must match the description, and returns its `errno`.
    ///
    /// - Parameters:
    ///   - result: memory for the result, at least 64 bytes.
    ///   - arguments: the locations of the values, as many as were described.
    func call(
        _ function: UnsafeMutableRawPointer,
        result: UnsafeMutableRawPointer,
        arguments: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
    ) -> Int32 {
        let function = unsafeBitCast(function, to: (@convention(c) () -> Void).self)
        errno = 0
        ffi_call(cif, function, result, arguments)
        // Read errno at once: any other call could change it.
        return errno
    }

    private static func compare(
        _ type: ForeignType,
        with found: UnsafeMutablePointer<ffi_type>?
    ) throws(CallInterfaceError) {
        let layout = ForeignLayout(type)
        guard let found = found?.pointee, found.size == layout.size,
            Int(found.alignment) == layout.alignment
        else { throw CallInterfaceError(status: FFI_BAD_TYPEDEF.rawValue) }
    }

    private func make(_ type: ForeignType) -> UnsafeMutablePointer<ffi_type> {
        switch type {
        case .scalar(let scalar): add(Self.code(of: scalar), size: scalar.byteCount)
        case .pointer, .string:
            add(FFI_TYPE_POINTER, size: MemoryLayout<UnsafeRawPointer>.size)
        case .structure(let fields):
            // With size 0, libffi computes the size.
            add(FFI_TYPE_STRUCT, size: 0, elements: list(fields.map { make($0.type) }))
        }
    }

    /// Creates a type object.
    ///
    /// The predefined ones of libffi are global variables, which any code could change.
    private func add(
        _ code: Int32,
        size: Int,
        elements: UnsafeMutablePointer<UnsafeMutablePointer<ffi_type>?>? = nil
    ) -> UnsafeMutablePointer<ffi_type> {
        let type = UnsafeMutablePointer<ffi_type>.allocate(capacity: 1)
        type.initialize(
            to: ffi_type(
                size: size,
                alignment: UInt16(size),
                type: UInt16(code),
                elements: elements
            )
        )
        types.append(type)
        return type
    }

    /// A null-terminated list.
    private func list(
        _ elements: [UnsafeMutablePointer<ffi_type>]
    ) -> UnsafeMutablePointer<UnsafeMutablePointer<ffi_type>?> {
        let list = UnsafeMutablePointer<UnsafeMutablePointer<ffi_type>?>.allocate(
            capacity: elements.count + 1
        )
        for (index, element) in elements.enumerated() {
            (list + index).initialize(to: element)
        }
        (list + elements.count).initialize(to: nil)
        lists.append(list)
        return list
    }

    private static func code(of scalar: ScalarType) -> Int32 {
        if scalar == .float { return FFI_TYPE_FLOAT }
        if scalar == .double { return FFI_TYPE_DOUBLE }
        let signed = scalar.isSigned
        return switch scalar.byteCount {
        case 1: signed ? FFI_TYPE_SINT8 : FFI_TYPE_UINT8
        case 2: signed ? FFI_TYPE_SINT16 : FFI_TYPE_UINT16
        case 4: signed ? FFI_TYPE_SINT32 : FFI_TYPE_UINT32
        default: signed ? FFI_TYPE_SINT64 : FFI_TYPE_UINT64
        }
    }
}

/// libffi rejected the description of a function.
struct CallInterfaceError: Error {
    /// An `ffi_status`.
    var status: UInt32
}
