// SPDX-License-Identifier: Apache-2.0
package import BghostCore
import CFFI

/// A C function of a shared library that can be called as a task.
///
/// Nothing about a function can be verified but that it exists: a signature that does not match it
/// is undefined behaviour, as in C. So functions are called in workers only.
package final class ForeignFunction: Sendable {
    package let library: String
    package let symbol: String
    package let signature: FunctionSignature
    /// The address, kept as a number because that is `Sendable`; the library stays loaded.
    private let address: UInt
    private let interface: CallInterface

    /// Loads a library, which runs its constructors, and looks the function up.
    ///
    /// - Parameters:
    ///   - library: a path, or a bare name that the dynamic linker searches for.
    ///   - signature: in the language of `docs/FUNCTIONS.md`.
    package init(library: String, symbol: String, signature: String) throws(FunctionError) {
        do throws(SignatureError) {
            self.signature = try FunctionSignature(parsing: signature)
        } catch {
            throw .badSignature(error)
        }
        self.library = library
        self.symbol = symbol
        address = UInt(bitPattern: try FunctionLibrary.function(symbol, in: library))
        do throws(CallInterfaceError) {
            interface = try CallInterface(
                result: self.signature.result,
                arguments: self.signature.arguments.map(\.passing.travels),
                fixedArguments: self.signature.fixedArguments
            )
        } catch {
            throw .callNotPossible(
                symbol: symbol,
                reason: "libffi refuses `\(signature)` with status \(error.status)"
            )
        }
    }

    /// Whether this process has handed out so many callbacks that it should be replaced by a fresh
    /// one before its next run; see `FunctionError.callbacksSpent`.
    package static var isProcessWorn: Bool { Callback.areNearlySpent }

    /// Calls the function on this thread, which blocks until it returns.
    ///
    /// May be called from several threads at once, if the C function may.
    ///
    /// - Parameter parameters: a JSON object: arguments by name, or `{"arguments": [...]}`.
    package func call(parameters: String, run: some FunctionRun) -> FunctionOutcome {
        do throws(FunctionError) {
            return try enter(parameters: parameters, run: run)
        } catch {
            return .refused(error)
        }
    }

    private func enter(
        parameters: String,
        run: some FunctionRun
    ) throws(FunctionError) -> FunctionOutcome {
        let frame = try ArgumentFrame(signature, parameters: parameters)
        let call = ForeignCall(run: run, report: CallReport(frame: frame, symbol: symbol))
        guard let function = UnsafeMutableRawPointer(bitPattern: address) else {
            throw .symbolMissing(symbol: symbol, library: library, near: [])
        }
        // Only now, since callbacks cannot be taken back: the parameters are in order.
        do throws(FunctionError) {
            try setCallbacks(of: call, in: frame)
        } catch {
            // One of them may have been made, and would keep all of this for ever.
            call.abandon()
            throw error
        }
        var places = frame.places
        let code = interface.call(function, result: frame.result, arguments: &places)
        return call.returned(errno: code)
    }

    private func setCallbacks(
        of call: some CallbackTarget,
        in frame: ArgumentFrame
    ) throws(FunctionError) {
        for (index, argument) in signature.arguments.enumerated() {
            switch argument.passing {
            case .cancelled: frame.setCallback(try Callback.cancelled(call), at: index)
            case .done(let text): frame.setCallback(try Callback.done(call, text: text), at: index)
            case .value, .bytes, .reference, .buffer: break
            }
        }
    }
}

extension FunctionArgument.Passing {
    /// What the function is handed: the value, or the address of something.
    fileprivate var travels: ForeignType {
        if case .value(let type) = self { type } else { .pointer }
    }
}
