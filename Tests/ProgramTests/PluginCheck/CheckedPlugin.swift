// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Testing

/// What `bghost plugin check --json` says of one plugin.
struct CheckedPlugin {
    struct Check {
        var name: String
        var handler: String?
        var level: Int
        var verdict: String
        var message: String
        var fix: String
    }

    let exitCode: Int32?
    let json: JSONNode
    let checks: [Check]

    /// Checks a file with times that are short, and at the highest strictness unless told otherwise.
    init(_ path: String, _ arguments: [String] = []) async throws {
        let strictness = arguments.contains("--strictness") ? [] : ["--strictness", "10"]
        let result = try await Command.runApart(
            [Artifact.path("bghost"), "plugin", "check", path, "--json"] + strictness
                + (arguments.contains("--runtime") ? [] : ["--runtime", "1s"])
                + ["--grace", "600ms"] + arguments
        )
        exitCode = result.exitCode
        json = try JSONReader.parse(Array(result.output.utf8), dialect: .strict)
        checks = try #require(json["checks"]?.array).map { node in
            Check(
                name: node["check"]?.string ?? "",
                handler: node["handler"]?.string,
                level: node["level"].flatMap { Int($0.text) } ?? 0,
                verdict: node["verdict"]?.string ?? "",
                message: node["message"]?.string ?? "",
                fix: node["fix"]?.string ?? ""
            )
        }
    }

    /// The checks that are neither passed nor skipped, as `name verdict`.
    var troubles: [String] {
        checks.filter { $0.verdict != "passed" && $0.verdict != "skipped" }.map {
            "\($0.name) \($0.verdict)"
        }
    }

    /// What was said, for a failure's text.
    var account: String {
        checks.filter { $0.verdict != "passed" }.map { "\($0.name) \($0.verdict): \($0.message)" }
            .joined(separator: "\n")
    }

}
