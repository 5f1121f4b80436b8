// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import Glibc
import Testing

/// A manifest that is wrong, and what the daemon says of it before it ends.
struct BadManifest: Sendable, CustomTestStringConvertible {
    var name: String
    var text: String?
    var code: String
    /// Line and column; `nil` if it is about the file as a whole.
    var place: String?
    /// In what is said: what is wrong, and what helps.
    var words: [String]

    var testDescription: String { name }
}

// One after the other: each blocks a thread of the pool until its programs have ended.
/// The daemon with a manifest that it cannot use.
@Suite(.ownThreads, .serialized) struct BadManifestTests {
    private static let head = #"{"version": 1, "plugins": {"p": {"library": "p.so"}},"#

    private static let all = [
        BadManifest(
            name: "missing",
            text: nil,
            code: "BG1001",
            words: ["No such file or directory", "name the file with --config FILE"]
        ),
        BadManifest(
            name: "directory",
            text: nil,
            code: "BG1001",
            words: ["Is a directory", "name the file with --config FILE"]
        ),
        BadManifest(
            name: "empty",
            text: "",
            code: "BG1003",
            place: "1:1",
            words: ["the text is empty", #"the smallest manifest is {"version": 1}"#]
        ),
        BadManifest(
            name: "cut off",
            text: head + #""tasks": {"a": {"plu"#,
            code: "BG1006",
            place: "1:74",
            words: ["ends before its JSON is complete", "close what is open, or restore the file"]
        ),
        BadManifest(
            name: "YAML",
            text: "version: 1\nplugins:\n  p:\n    library: p.so\n",
            code: "BG1007",
            place: "1:1",
            words: ["this looks like YAML; bghost reads JSON", "yq -o json"]
        ),
        BadManifest(
            name: "singular",
            text: head + #""task": {"a": {"plugin": "p"}}}"#,
            code: "BG1021",
            place: "1:54",
            words: ["unknown key `task`", "did you mean `tasks`?"]
        ),
        BadManifest(
            name: "duplicate key",
            text: head + #""host": {}, "host": {}}"#,
            code: "BG1020",
            place: "1:66",
            words: ["the key `host` stands twice", "remove one of the two"]
        ),
        BadManifest(
            name: "unknown key",
            text: head + #""tusks": {}}"#,
            code: "BG1021",
            place: "1:54",
            words: ["unknown key `tusks`", "did you mean `tasks`?"]
        ),
        BadManifest(
            name: "bare number",
            text: head + #""tasks": {"a": {"plugin": "p", "limits": {"grace": 5}}}}"#,
            code: "BG1024",
            place: "1:105",
            words: ["`grace`", "number without a unit", #"write "5s""#]
        ),
        BadManifest(
            name: "wrong unit",
            text: head + #""tasks": {"a": {"plugin": "p", "limits": {"grace": "5sec"}}}}"#,
            code: "BG1025",
            place: "1:105",
            words: ["`grace`", #"did you mean "5s"?"#]
        ),
        BadManifest(
            name: "wrong unit of a size",
            text: #"{"version": 1, "plugins": {"p": {"library": "p.so","#
                + #" "limits": {"memory": "64M"}}}}"#,
            code: "BG1026",
            place: "1:74",
            words: ["`memory`", #"did you mean "64MiB"?"#]
        ),
        BadManifest(
            name: "bad identifier",
            text: head + #""tasks": {"a b": {"plugin": "p"}}}"#,
            code: "BG1031",
            place: "1:64",
            words: ["`a b` cannot name a task: it contains ` `", "1 to 128 of A-Z a-z 0-9 . _ -"]
        ),
        BadManifest(
            name: "two tasks of one name",
            text: head + #""tasks": {"a": {"plugin": "p"}, "a": {"plugin": "p"}}}"#,
            code: "BG1032",
            place: "1:86",
            words: ["task `a` is defined twice", "remove or rename one of the two"]
        ),
    ]

    @Test(.timeLimit(.minutes(5)), arguments: all)
    func `The daemon does not start with an invalid manifest`(bad: BadManifest) throws {
        let folder = try TemporaryDirectory()
        let manifest = folder.file("tasks.json")
        if let text = bad.text {
            try folder.write(text, to: "tasks.json")
        } else if bad.name == "directory" {
            try #require(mkdir(manifest, 0o755) == 0)
        }
        for command in [[], ["check"]] {
            let state = command.isEmpty ? ["--state-dir", folder.file("state")] : []
            let result = try Command.run(
                [Artifact.path("bghost")] + command + ["--config", manifest] + state
            )
            #expect(result.exitCode == (bad.code == "BG1001" ? 66 : 78))
            let said = result.error + result.output
            #expect(said.contains("error[\(bad.code)]: "), "\(said)")
            let place = bad.place.map { "\(manifest):\($0)\n" } ?? "\(manifest)\n"
            #expect(said.contains("--> \(place)"), "\(said)")
            for word in bad.words { #expect(said.contains(word), "\(said)") }
        }
        // Nothing has been made.
        #expect(access(folder.file("state"), F_OK) != 0)
    }
}
