// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Subprocess
import SystemPackage

/// Asks the daemon as anybody can: with the command-line tool.
struct DaemonClient: Sendable {
    static let outputBytesMax = 8 << 20

    var executable: String
    var stateDirectory: String

    enum Answer: Sendable {
        case runs([RunEntry])
        /// It does not answer, or not yet; in words that complete "bghost runs …".
        case none(String)
    }

    func runs() async -> Answer {
        do {
            let result = try await Subprocess.run(
                .path(FilePath(executable)),
                arguments: ["runs", "--json", "--state-dir", stateDirectory],
                output: .bytes(limit: Self.outputBytesMax),
                error: .bytes(limit: Self.outputBytesMax)
            )
            guard result.terminationStatus == .exited(0) else {
                let said = String(decoding: result.standardError, as: UTF8.self)
                let first = said.split(separator: "\n").first.map { ": \($0)" } ?? ""
                return .none("\(DaemonEnd(result.terminationStatus))\(first)")
            }
            return .runs(try RunsReport.read(Data(result.standardOutput)))
        } catch let error as RunsReport.Unreadable {
            return .none("prints what is not a report of runs: \(error)")
        } catch {
            return .none("cannot be run: \(error)")
        }
    }
}
