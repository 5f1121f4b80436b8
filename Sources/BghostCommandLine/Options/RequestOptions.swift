// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
package import BghostBase
package import ArgumentParser
internal import BghostControl
internal import Glibc

/// The options for the content of a request.
package struct RequestOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A JSON object, laid over the task's own: as it is, @file, or @- for stdin.",
            valueName: "json|@file"
        ),
        completion: .file()
    )
    package var parameters: String?

    package init() {}

    package func parametersText() throws -> String {
        guard let parameters else { return "{}" }
        let text = try Self.text(of: parameters)
        do throws(JSONError) {
            let node = try JSONReader.parse(text)
            guard node.object != nil else { throw JSONError(.notAnObject, at: node.span) }
            return node.text
        } catch {
            throw Self.malformed("\(error)")
        }
    }

    /// What the option gives: its own text, or that of the file after `@`.
    package static func text(of parameters: String) throws -> String {
        guard parameters.hasPrefix("@") else {
            guard !isRepaired(parameters) else { throw malformed("the argument is not UTF-8") }
            return parameters
        }
        let bytes = try contents(of: String(parameters.dropFirst()))
        // Decoding without validation would replace bytes silently.
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        do throws(JSONError) {
            return try JSONReader.parse(bytes).text
        } catch {
            // It names the first of the bytes.
            throw malformed("\(error)")
        }
    }

    /// Whether Swift may have replaced bytes of the text that are not UTF-8, as it does in all arguments.
    private static func isRepaired(_ text: String) -> Bool {
        guard text.unicodeScalars.contains("\u{FFFD}") else { return false }
        let arguments = CommandLine.unsafeArgv
        return (0..<Int(CommandLine.argc)).contains { index in
            arguments[index].map { String(validatingCString: $0) == nil } ?? false
        }
    }

    private static func malformed(_ reason: String) -> CommandFailure {
        CommandFailure(
            .usage,
            code: FaultCode.badParameters.rawValue,
            "--parameters: \(TerminalText.escaped(reason))",
            fix: #"give one JSON object, such as '{"city":"Paris"}'"#
        )
    }

    private static func contents(of path: String) throws -> [UInt8] {
        let name = TerminalText.escaped(path)
        let fd = path == "-" ? dup(0) : open(path, O_RDONLY | O_CLOEXEC)
        guard fd >= 0 else { throw unreadable(name, errno) }
        defer { close(fd) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count <= ControlLimits.bodyBytesMax {
            let count = read(fd, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw unreadable(name, errno) }
            guard count > 0 else { return bytes }
            bytes += buffer[..<count]
        }
        throw CommandFailure(
            .usage,
            code: FaultCode.payloadTooLarge.rawValue,
            "--parameters: \(name) is larger than \(ControlLimits.bodyBytesMax >> 10) KiB"
        )
    }

    private static func unreadable(_ name: String, _ code: Int32) -> CommandFailure {
        CommandFailure(
            .inputMissing,
            "--parameters: cannot read \(name): \(String(cString: strerror(code)))"
        )
    }
}

/// The option for the trace that a request continues.
package struct TraceOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Continue this trace, as W3C Trace Context has it; else the variable TRACEPARENT, with"
                + " TRACESTATE, names one.",
            valueName: "traceparent"
        )
    )
    package var traceparent: String?

    package init() {}

    /// The trace that the request continues; `nil` if there is none.
    ///
    /// A faulty variable is reported and counts as none: another program has set it.
    ///
    /// - Parameters:
    ///   - environment: returns the value of a variable.
    ///   - remark: prints a line about a faulty variable.
    /// - Throws: ``CommandFailure`` if the option is no traceparent.
    package func context(
        environment: (String) -> String? = ControlLocation.variable(of:),
        _ remark: (String) -> Void
    ) throws -> TraceContext? {
        let given = traceparent ?? environment("TRACEPARENT")
        guard let given else { return nil }
        do throws(TraceContextFault) {
            // The variable TRACESTATE belongs to the other one.
            let state = traceparent == nil ? environment("TRACESTATE") ?? "" : ""
            return try TraceContext(traceparent: given, tracestate: state)
        } catch {
            guard traceparent != nil else {
                remark("TRACEPARENT is ignored: \(error.reason)")
                return nil
            }
            throw CommandFailure(
                .usage,
                "--traceparent: \(error.reason)",
                fix: "give version, trace, span and flags, such as"
                    + " 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
            )
        }
    }
}
