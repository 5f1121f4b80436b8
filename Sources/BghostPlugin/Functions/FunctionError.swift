// SPDX-License-Identifier: Apache-2.0

package import BghostFunctions

/// Why a C function was not called.
package enum FunctionError: Error, Equatable, Sendable {
    case badSignature(SignatureError)
    /// `reason` is the text of the dynamic linker.
    case libraryNotLoaded(library: String, reason: String)
    case symbolMissing(symbol: String, library: String, near: [String])
    /// The symbol is data.
    case notAFunction(symbol: String, library: String)
    /// libffi does not support such a call.
    case callNotPossible(symbol: String, reason: String)
    /// The parameters of the run do not match; `argument` is `nil` if no particular one is at
    /// fault.
    case badParameters(argument: String?, reason: String)
    /// Callbacks need memory that is written and then executed, which the system does not permit.
    case callbackRefused(reason: String)
    /// This process has used all its callbacks; a fresh process can continue.
    case callbacksSpent
    case outOfMemory

    /// The most callbacks of one process, which are never freed.
    package static let callbacksMax = 16_384
}

extension FunctionError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .badSignature(let error):
            "the signature is wrong at \(error.description)"
        case .libraryNotLoaded(let library, let reason):
            "`\(library)` cannot be loaded: \(reason)"
        case .symbolMissing(let symbol, let library, let near) where near.isEmpty:
            "`\(library)` has no function `\(symbol)`; `nm -D --defined-only` lists what it has"
        case .symbolMissing(let symbol, let library, let near):
            "`\(library)` has no function `\(symbol)`; it has "
                + near.map { "`\($0)`" }.joined(separator: ", ")
        case .notAFunction(let symbol, let library):
            "`\(symbol)` of `\(library)` is data, not a function, so it cannot be called"
        case .callNotPossible(let symbol, let reason):
            "`\(symbol)` cannot be called: \(reason)"
        case .badParameters(.some(let argument), let reason): "argument \(argument) \(reason)"
        case .badParameters(nil, let reason): "the parameters \(reason)"
        case .callbackRefused(let reason):
            "the callback for `done` or `cancelled` cannot be made: \(reason). SELinux and systemd's "
                + "MemoryDenyWriteExecute= can forbid it; allow it for the worker, or call a "
                + "function that needs neither"
        case .callbacksSpent:
            "this worker has handed out all \(Self.callbacksMax) callbacks that one process may; "
                + "it must be replaced by a fresh one"
        case .outOfMemory: "there is not enough memory for the arguments"
        }
    }
}
