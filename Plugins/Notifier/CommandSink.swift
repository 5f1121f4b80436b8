// SPDX-License-Identifier: Apache-2.0

import BackgroundTasks
import FoundationEssentials
import Subprocess
import SystemPackage

/// A command that gets the notification's JSON on its stdin, and takes it by exiting with 0.
///
/// It runs in the plugin's worker: within its limits, and with what its sandbox lets it reach.
struct CommandSink: Sink, Decodable {
    /// The program, absolute, and its arguments.
    var command: [String]

    var name: String { "exec \(command.first ?? "")" }

    func send(_ notification: Notification, _ context: TaskContext) async throws -> Receipt {
        guard let program = command.first, program.hasPrefix("/") else {
            throw DeliveryError(description: "`command` must begin with an absolute path")
        }
        try await Program.run(
            program,
            Array(command.dropFirst()),
            input: context.rawParameters,
            environment: ["BGHOST_NOTIFICATION_KEY": notification.key ?? ""],
            folder: context.dataDirectory
        )
        return Receipt()
    }
}

/// The desktop of the user whose daemon this is, through `notify-send`.
///
/// A daemon of the system has no desktop: its worker cannot reach the user's bus.
struct DesktopSink: Sink, Decodable {
    /// Where it is, if not where Debian has it; absolute.
    var program: String?

    var name: String { "desktop" }

    func send(_ notification: Notification, _ context: TaskContext) async throws -> Receipt {
        let urgency =
            switch notification.level {
            case "passive": "low"
            case "critical": "critical"
            default: "normal"
            }
        var arguments = ["--app-name=bghost", "--urgency=\(urgency)"]
        if let id = notification.id {
            // Servers that know this hint show a later one in its place. Another plugin's may have the same id.
            let name = [notification.plugin, id].compactMap { $0 }.joined(separator: "/")
            arguments.append("--hint=string:x-canonical-private-synchronous:\(name)")
        }
        arguments += ["--", notification.headline]
        if notification.title != nil, let text = notification.text {
            arguments.append(Self.escaped(text))
        }
        try await Program.run(
            program ?? "/usr/bin/notify-send",
            arguments,
            input: "",
            environment: [:],
            folder: context.dataDirectory
        )
        return Receipt()
    }

    /// The text for a place that takes markup, as the body of a desktop's notification does.
    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
            .replacing(">", with: "&gt;")
    }
}

/// A program that is run to its end.
private enum Program {
    private static let errorBytesMax = 4096

    /// - Parameter folder: where its input lies while it runs.
    static func run(
        _ path: String,
        _ arguments: [String],
        input: String,
        environment: [Subprocess.Environment.Key: String?],
        folder: URL
    ) async throws {
        let result = try await Subprocess.run(
            .path(FilePath(path)),
            arguments: Arguments(arguments),
            environment: .inherit.updating(environment),
            input: .fileDescriptor(
                try file(with: input, in: folder),
                closeAfterSpawningProcess: true
            ),
            output: .discarded,
            error: .string(limit: errorBytesMax)
        )
        guard result.terminationStatus == .exited(0) else {
            let said = result.standardError.split(separator: "\n").first.map { ": \($0)" } ?? ""
            throw RetryLater("\(path) \(result.terminationStatus)\(said)")
        }
    }

    /// A file that has no name any more.
    ///
    /// Not a pipe: a program that does not read it to its end would take this process with it, by
    /// SIGPIPE.
    private static func file(with text: String, in folder: URL) throws -> FileDescriptor {
        let path = folder.appending(path: "stdin-\(UUID().uuidString)")
        let file = try FileDescriptor.open(
            FilePath(path.path),
            .readWrite,
            options: [.create, .exclusiveCreate, .closeOnExec],
            permissions: .ownerReadWrite
        )
        do {
            try FileManager.default.removeItem(at: path)
            try file.writeAll(text.utf8)
            try file.seek(offset: 0, from: .start)
            return file
        } catch {
            // The first error is thrown; the file has no name any more.
            try? file.close()
            throw error
        }
    }
}
