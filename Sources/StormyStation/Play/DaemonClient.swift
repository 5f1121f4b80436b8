// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Subprocess
import SystemPackage

/// A client of the daemon that uses the command-line tool, as any user can.
struct DaemonClient: Sendable {
    static let outputBytesMax = 8 << 20

    var executable: String
    var stateDirectory: String

    /// The error of a command; the text starts with the command.
    struct Failure: Error, Equatable, CustomStringConvertible {
        var description: String
    }

    func runs() async throws(Failure) -> [RunEntry] {
        let output = try await ask(["runs", "--json"])
        do {
            return try RunsReport.read(output)
        } catch {
            throw Failure(description: "bghost runs prints what is not a report of runs: \(error)")
        }
    }

    /// The dates of the waiting requests of a task, RFC 3339.
    func pending(of task: String) async throws(Failure) -> [String] {
        struct Report: Decodable {
            struct Request: Decodable {
                var task: String
                var earliestBegin: String?
            }
            var requests: [Request]
        }
        let report: Report = try read(try await ask(["pending", "--json"]), of: "pending")
        return report.requests.filter { $0.task == task }.map { $0.earliestBegin ?? "" }
    }

    /// Expires a run, as if its runtime were used up.
    func expire(_ run: String) async throws(Failure) { _ = try await ask(["expire", run]) }

    /// Answers the notification with a title.
    func act(_ action: String, on title: String) async throws(Failure) {
        struct Outbox: Decodable {
            struct Notification: Decodable { var id, title: String }
            var notifications: [Notification]
        }
        let outbox: Outbox = try read(try await ask(["notify", "outbox", "--json"]), of: "notify")
        guard let id = outbox.notifications.last(where: { $0.title == title })?.id else {
            throw Failure(description: "bghost notify outbox does not list \"\(title)\"")
        }
        _ = try await ask(["notify", "act", id, action])
    }

    /// The path of the daemon's control socket.
    var controlSocket: String { "\(stateDirectory)/control.sock" }

    /// A new link to the daemon's pages.
    func dashboardLink() async throws(Failure) -> String {
        struct Ticket: Decodable { var url: String }
        let ticket: Ticket = try read(try await ask(["dashboard", "--json"]), of: "dashboard")
        return ticket.url
    }

    /// Pauses a task until it is resumed.
    func pause(_ task: String, because reason: String) async throws(Failure) {
        _ = try await ask(["pause", task, "--reason", reason])
    }

    private func read<Value: Decodable>(
        _ output: Data,
        of command: String
    ) throws(Failure) -> Value {
        do {
            return try JSONDecoder().decode(Value.self, from: output)
        } catch {
            throw Failure(description: "bghost \(command) prints what is not its report: \(error)")
        }
    }

    private func ask(_ arguments: [String]) async throws(Failure) -> Data {
        let command = "bghost \(arguments[0])"
        do {
            let result = try await Subprocess.run(
                .path(FilePath(executable)),
                arguments: Arguments(arguments + ["--state-dir", stateDirectory]),
                output: .bytes(limit: Self.outputBytesMax),
                error: .bytes(limit: Self.outputBytesMax)
            )
            guard result.terminationStatus == .exited(0) else {
                let said = String(decoding: result.standardError, as: UTF8.self)
                let first = said.split(separator: "\n").first.map { ": \($0)" } ?? ""
                let end = DaemonEnd(result.terminationStatus)
                throw Failure(description: "\(command) \(end)\(first)")
            }
            return Data(result.standardOutput)
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(description: "\(command) cannot be run: \(error)")
        }
    }
}
