// SPDX-License-Identifier: Apache-2.0
import BghostCore
import CBghost
import Glibc

/// What a call has brought, read from its memory once the function is through with that.
struct CallReport: @unchecked Sendable {
    // The frame is raw memory; `CallMemory` says why it may cross threads.
    let frame: ArgumentFrame
    let symbol: String

    /// What the function said by `done`.
    struct Done: Sendable {
        var status: Int32
        /// Already JSON, since the text itself belongs to the C function.
        var textJSON: String

        init(status: Int32, text: UnsafeRawPointer?) {
            self.status = status
            var writer = JSONWriter()
            ValueReader.writeText(at: text, to: &writer)
            textJSON = writer.text
        }
    }

    private var signature: FunctionSignature { frame.signature }

    /// Whether the result is as the signature demands.
    var succeeded: Bool { signature.success?.holds(for: number) ?? true }

    /// The result as a number, of a pointer its address; 0 if it is neither.
    private var number: Int128 {
        switch signature.result {
        case .scalar(let scalar): ValueReader.integer(scalar, at: frame.result)
        case .pointer, .string: Int128(frame.result.load(as: UInt.self))
        case .structure, nil: 0
        }
    }

    /// To be asked for once only: what the function gave us to free is freed here.
    func completion(errno code: Int32, done: Done?) -> FunctionCompletion {
        let succeeded = succeeded
        let status = succeeded ? Self.status(of: done) : BG_E_FAILED
        return FunctionCompletion(
            status: status,
            message: message(succeeded: succeeded, errno: code, done: done),
            result: json(errno: code, done: done)
        )
    }

    /// 0 is success; the ABI's words for "try again" and "stopped as asked" pass, anything else that
    /// C code may say is a failure.
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

    /// By name; an argument without a name goes by its place, from 1.
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

    /// How many bytes of a buffer the function has written, by its own account, which is not
    /// believed beyond the buffer's end.
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
