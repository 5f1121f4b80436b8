// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostBase
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
        let text: String
        if parameters.hasPrefix("@") {
            text = try Self.contents(of: String(parameters.dropFirst()))
        } else {
            text = parameters
        }
        do {
            let node = try JSONReader.parse(text)
            guard node.object != nil else { throw JSONError(.notAnObject, at: node.span) }
            return node.text
        } catch {
            throw CommandFailure(
                .usage,
                code: FaultCode.badParameters.rawValue,
                "--parameters: \(TerminalText.escaped("\(error)"))",
                fix: #"give one JSON object, such as '{"city":"Paris"}'"#
            )
        }
    }

    private static func contents(of path: String) throws -> String {
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
            guard count > 0 else { return String(decoding: bytes, as: UTF8.self) }
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
