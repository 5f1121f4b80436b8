// SPDX-License-Identifier: Apache-2.0
import BghostBase
import BghostFunctions
import BghostPlugin
import CBghost
import Glibc

/// The outcome of a call, read from its memory after the function has finished with it.
struct CallReport: @unchecked Sendable {
    // `CallMemory` explains why the frame, which is raw memory, may cross threads.
    let frame: ArgumentFrame
    let symbol: String

    /// The arguments of the function's call of `done`.
    struct Done: Sendable {
        var status: Int32
        /// Already encoded as JSON, since the text belongs to the C function.
        var textJSON: String

        init(status: Int32, text: UnsafeRawPointer?) {
            self.status = status
            var writer = JSONWriter()
            ValueReader.writeText(at: text, to: &writer)
            textJSON = writer.text
        }
    }

    private var signature: FunctionSignature { frame.signature }

    /// Whether the result meets the signature's success condition.
    var succeeded: Bool { signature.success?.holds(for: number) ?? true }

    /// The result as a number: of a pointer its address; 0 if it is neither number nor pointer.
    private var number: Int128 {
        switch signature.result {
        case .scalar(let scalar): ValueReader.integer(scalar, at: frame.result)
        case .pointer, .string: Int128(frame.result.load(as: UInt.self))
        case .structure, nil: 0
        }
    }

    /// Builds the completion.
    ///
    /// Call it only once: it frees the memory that the function handed over.
    func completion(errno code: Int32, done: Done?) -> FunctionCompletion {
        let succeeded = succeeded
        let status = succeeded ? Self.status(of: done) : BG_E_FAILED
        return FunctionCompletion(
            status: status,
            message: message(succeeded: succeeded, errno: code, done: done),
            result: json(errno: code, done: done)
        )
    }

    /// Maps the status: 0 is success; the ABI's codes for retry and cancellation pass; any other
    /// value from C code is a failure.
    private static func status(of done: Done?) -> Int32 {
        guard let done, done.status != BG_OK else { return BG_OK }
        return [BG_E_RETRY, BG_E_CANCELLED].contains(done.status) ? done.status : BG_E_FAILED
    }

    private func message(succeeded: Bool, errno code: Int32, done: Done?) -> String {
        if !succeeded, let condition = signature.success {
            // glibc's strerror may be called from several threads since 2.32.
            let reason =
                code == 0
                ? "" : ": \(strerror(code).map { String(cString: $0) } ?? "") (errno \(code))"
            return "`\(symbol)` answered \(shownResult), which is not \(condition)" + reason
        }
        guard let done, done.status != BG_OK else { return "" }
        return "`\(symbol)` called `done` with status \(done.status)"
    }

    private var shownResult: String {
        switch signature.result {
        case .scalar(.bool): number == 0 ? "false" : "true"
        case .scalar: String(number)
        default: number == 0 ? "null" : "a pointer"
        }
    }

    // MARK: - JSON

    private func json(errno code: Int32, done: Done?) -> String {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("result") { writer in
                guard let result = signature.result else { return writer.null() }
                ValueReader.write(result, at: frame.result, to: &writer)
            }
            if signature.arguments.contains(where: \.isAnswered) {
                writer.member("out") { writeOut(to: &$0) }
            }
            writer.member("errno", code)
            if let done {
                writer.member("status", done.status)
                if signature.arguments.contains(where: { $0.passing == .done(text: true) }) {
                    writer.member("text", raw: done.textJSON)
                }
            }
        }
        return writer.text
    }

    /// Writes the output arguments by name; an argument without a name has its position, counted
    /// from 1.
    private func writeOut(to writer: inout JSONWriter) {
        writer.object { writer in
            for (index, argument) in signature.arguments.enumerated() {
                guard let target = frame.targets[index] else { continue }
                let key = argument.name ?? String(index + 1)
                switch argument.passing {
                case .reference(let type, _):
                    writer.member(key) { ValueReader.write(type, at: target, to: &$0) }
                case .buffer(let buffer) where buffer.text:
                    writer.member(key) { ValueReader.writeText(at: target, to: &$0) }
                case .buffer(let buffer):
                    let count = filled(buffer)
                    writer.member(key) {
                        ValueReader.writeBytes(
                            UnsafeRawBufferPointer(start: target, count: count),
                            to: &$0
                        )
                    }
                case .value, .bytes, .done, .cancelled: break
                }
            }
        }
    }

    /// How many bytes of a buffer the function reports as written, limited to the buffer's size.
    private func filled(_ buffer: OutputBuffer) -> Int {
        let count: Int128
        switch buffer.filled {
        case .whole: return buffer.capacity
        case .result: count = number
        case .argument(let name):
            guard let index = signature.index(ofArgument: name), let place = frame.targets[index],
                case .reference(.scalar(let scalar), _) = signature.arguments[index].passing
            else { return buffer.capacity }
            count = ValueReader.integer(scalar, at: place)
        }
        return Int(max(0, min(count, Int128(buffer.capacity))))
    }
}
