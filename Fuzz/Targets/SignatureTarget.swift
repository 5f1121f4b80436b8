// SPDX-License-Identifier: Apache-2.0

import BghostFunctions

extension FuzzTarget {
    /// The signature of a C function.
    static let signature = FuzzTarget("signature", bytesMax: 8 << 10) {
        bytes throws(BrokenProperty) in
        let text = String(decoding: bytes, as: UTF8.self)
        let signature: FunctionSignature
        do throws(SignatureError) {
            signature = try FunctionSignature(parsing: text)
        } catch {
            try require(
                (1...text.unicodeScalars.count + 1).contains(error.column),
                "column \(error.column) of \(text.unicodeScalars.count)"
            )
            try MessageText.check(error.description)
            return
        }
        try checkLimits(signature)
        let spelled = signature.description
        do throws(SignatureError) {
            let again = try FunctionSignature(parsing: spelled)
            guard again != signature || again.description != spelled else { return }
        } catch {
            throw BrokenProperty("its own spelling \(spelled) is refused: \(error)")
        }
        throw BrokenProperty("its own spelling \(spelled) means something else")
    }

    private static func checkLimits(_ signature: FunctionSignature) throws(BrokenProperty) {
        let arguments = signature.arguments
        try require(arguments.count <= SignatureLimits.arguments, "\(arguments.count) arguments")
        let names = arguments.compactMap(\.name)
        try require(Set(names).count == names.count, "two arguments share a name")
        var bytes = 0
        for argument in arguments {
            guard case .buffer(let buffer) = argument.passing else { continue }
            try require(buffer.capacity > 0, "a buffer without room")
            bytes += buffer.capacity
        }
        try require(bytes <= SignatureLimits.bufferBytesMax, "buffers of \(bytes) bytes")
        if let fixed = signature.fixedArguments {
            try require((1...arguments.count).contains(fixed), "\(fixed) arguments are fixed")
        }
    }
}
