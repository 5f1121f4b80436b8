// SPDX-License-Identifier: Apache-2.0
import BghostFunctions
import BghostPlugin
import CFFI
import Glibc
import Synchronization

/// The receiver of the callbacks of one call.
protocol CallbackTarget: AnyObject, Sendable {
    func cancelled() -> Int32
    /// `text` is valid only during this call.
    func done(status: Int32, text: UnsafeRawPointer?)
}

/// Creates C function pointers that are bound to one call, for C code without a context pointer.
///
/// They are never freed or reused. C code may keep one as long as it likes, and one of its threads
/// may be about to enter it at any moment, even after the run is over. If the pointer were freed,
/// that thread would jump into memory with another use; if it were reused, a late `done` would end
/// another run. A retired callback costs about 200 bytes. `countMax` limits them per process, and a
/// worker is replaced before it reaches that limit, see `areNearlySpent`.
enum Callback {
    static let countMax = FunctionError.callbacksMax

    /// Whether a fresh process should replace this one once it is idle.
    static var areNearlySpent: Bool { contexts.withLock { $0.count } > countMax / 4 * 3 }

    /// The contexts of all callbacks made so far.
    ///
    /// They are stored here because leak checkers do not scan the memory of libffi.
    private static let contexts = Mutex<[Context]>([])

    /// `int (*)(void)`.
    static func cancelled(
        _ target: some CallbackTarget
    ) throws(FunctionError) -> UnsafeMutableRawPointer {
        try make(cancelledShape, target) { _, result, _, context in
            // Preserve errno, for C code that reads it after its own failed call.
            let code = errno
            defer { errno = code }
            // libffi requires integers to be widened to a register.
            let answer = Callback.target(context)?.cancelled() ?? 1
            result?.storeBytes(of: ffi_sarg(answer), as: ffi_sarg.self)
        }
    }

    /// `void (*)(int)`; with text `void (*)(int, const char *)`.
    static func done(
        _ target: some CallbackTarget,
        text: Bool
    ) throws(FunctionError) -> UnsafeMutableRawPointer {
        guard text else {
            return try make(doneShape, target) { _, _, arguments, context in
                let code = errno
                defer { errno = code }
                guard let status = arguments?[0]?.load(as: Int32.self) else { return }
                Callback.target(context)?.done(status: status, text: nil)
            }
        }
        return try make(doneTextShape, target) { _, _, arguments, context in
            let code = errno
            defer { errno = code }
            guard let status = arguments?[0]?.load(as: Int32.self) else { return }
            let text = arguments?[1]?.load(as: UnsafeRawPointer?.self)
            Callback.target(context)?.done(status: status, text: text)
        }
    }

    private typealias Entry =
        @convention(c) (
            UnsafeMutablePointer<ffi_cif>?, UnsafeMutableRawPointer?,
            UnsafeMutablePointer<UnsafeMutableRawPointer?>?, UnsafeMutableRawPointer?
        ) -> Void

    /// Keeps the target alive as long as the callback, which is for ever.
    private final class Context: Sendable {
        let target: any CallbackTarget
        init(_ target: any CallbackTarget) { self.target = target }
    }

    private static func target(_ context: UnsafeMutableRawPointer?) -> (any CallbackTarget)? {
        context.map { Unmanaged<Context>.fromOpaque($0).takeUnretainedValue().target }
    }

    private static func make(
        _ shape: Result<CallInterface, CallInterfaceError>,
        _ target: any CallbackTarget,
        _ entry: Entry
    ) throws(FunctionError) -> UnsafeMutableRawPointer {
        guard case .success(let shape) = shape else {
            throw .callbackRefused(reason: "libffi does not know its type")
        }
        let context = Context(target)
        // Allocate under the lock, so that the limit is exact. libffi takes a lock here anyway.
        let code = try contexts.withLock { contexts throws(FunctionError) in
            guard contexts.count < countMax else { throw .callbacksSpent }
            let code = try address(of: entry, shape, context)
            contexts.append(context)
            return UInt(bitPattern: code)
        }
        guard let code = UnsafeMutableRawPointer(bitPattern: code) else {
            throw .callbackRefused(reason: "libffi answers null")
        }
        return code
    }

    private static func address(
        of entry: Entry,
        _ shape: CallInterface,
        _ context: Context
    ) throws(FunctionError) -> UnsafeMutableRawPointer {
        var code: UnsafeMutableRawPointer?
        guard let memory = ffi_closure_alloc(MemoryLayout<ffi_closure>.size, &code), let code
        else { throw .callbackRefused(reason: "the system gives no executable memory") }
        let status = ffi_prep_closure_loc(
            memory.assumingMemoryBound(to: ffi_closure.self),
            shape.cif,
            entry,
            Unmanaged.passUnretained(context).toOpaque(),
            code
        )
        guard status == FFI_OK else {
            // The C code has not received this pointer, so it can be freed.
            ffi_closure_free(memory)
            throw .callbackRefused(reason: "libffi answers status \(status.rawValue)")
        }
        return code
    }

    private static let int = ForeignType.scalar(.int)
    private static let cancelledShape = shape(result: int, arguments: [])
    private static let doneShape = shape(result: nil, arguments: [int])
    private static let doneTextShape = shape(result: nil, arguments: [int, .pointer])

    private static func shape(
        result: ForeignType?,
        arguments: [ForeignType]
    ) -> Result<CallInterface, CallInterfaceError> {
        Result { () throws(CallInterfaceError) in
            try CallInterface(result: result, arguments: arguments)
        }
    }
}
