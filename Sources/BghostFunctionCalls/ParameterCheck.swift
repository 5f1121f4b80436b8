// SPDX-License-Identifier: Apache-2.0

internal import BghostFunctions
internal import BghostPlugin

/// Checks a task's parameters against the signature of its function, without calling it.
package enum ParameterCheck {
    /// Describes what is wrong with the parameters, one sentence without a full stop; `nil` if they
    /// match, or if the signature itself is invalid.
    ///
    /// - Parameter isComplete: whether they must give every argument that has no preset. Otherwise
    ///   a request's own parameters may give the rest.
    package static func problem(
        in parameters: String,
        signature text: String,
        isComplete: Bool
    ) -> String? {
        let signature: FunctionSignature
        do throws(SignatureError) {
            signature = try FunctionSignature(parsing: text)
        } catch {
            // The manifest reader reports an invalid signature at its place.
            return nil
        }
        do throws(FunctionError) {
            // Store the values as for a call and drop them: only success or failure matters.
            _ = try ArgumentFrame(signature, parameters: parameters, isComplete: isComplete)
            return nil
        } catch {
            return error.description
        }
    }
}
