// SPDX-License-Identifier: Apache-2.0
internal import BghostFunctions
package import BghostPlugin
import CFFI

/// A C function of a shared library that can be called as a task.
///
/// The host can verify only that the function exists. If the signature does not match it, the call
/// is undefined behaviour, as in C. So only workers call functions.
package final class ForeignFunction: CallableFunction {
    let library: String
    package let symbol: String
    let signature: FunctionSignature
    /// The address as a number, which is `Sendable`; the library stays loaded.
    private let address: UInt
    private let interface: CallInterface

    /// Loads a library, which runs its constructors, and finds the function.
    ///
    /// - Parameters:
    ///   - library: a path, or a bare name that the dynamic linker searches for.
    ///   - signature: in the language that `docs/FUNCTIONS.md` describes.
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

    /// Whether this process has used so many callbacks that a fresh one should replace it before
    /// the next run; see `FunctionError.callbacksSpent`.
    package static var isProcessWorn: Bool { Callback.areNearlySpent }

    /// Calls the function on this thread, which blocks until the function returns.
    ///
    /// May be called from several threads at once if the C function permits it.
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
        // Create callbacks only after the parameters are checked, since callbacks cannot be freed.
        do throws(FunctionError) {
            try setCallbacks(of: call, in: frame)
        } catch {
            // A callback may already exist, and would keep the run and the memory for ever.
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
    /// The type that is passed: that of the value, or a pointer.
    fileprivate var travels: ForeignType {
        if case .value(let type) = self { type } else { .pointer }
    }
}
