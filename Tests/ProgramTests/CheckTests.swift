// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import Testing

/// What `bghost check` finds by loading plugins, before any daemon does.
@Suite(.ownThreads) struct CheckTests {
    @Test(.timeLimit(.minutes(1)))
    func `A check names every plugin that cannot be used, and survives each`() throws {
        let folder = try TemporaryDirectory()
        let bad = [
            ("absent", "`libNowhere.so` is not there; looked for "),
            ("no-note", "has no bghost note"),
            ("null-start", #"handler "succeed" has no start(). Set it"#),
            ("crash-in-constructor", "loading it ended its worker (SIGSEGV); look at its constr"),
            ("crash-in-entry", "loading it ended its worker (SIGSEGV); look at its constructors"),
            ("exit-in-constructor", "loading it ended its worker (exit 0); look at its constr"),
            ("fail-in-open", "open() answered -1234; the plugin's log says why"),
        ]
        var plugins: [String] = []
        for (name, _) in bad + [("good", "")] {
            let library = name == "absent" ? "libNowhere.so" : try Fixture.library(name)
            plugins.append(#""\#(name)": {"library": "\#(library)"}"#)
        }
        let tasks = (bad.map(\.0) + ["good"]).map {
            #""\#($0)": {"plugin": "\#($0)", "handler": "succeed"}"#
        }
        let manifest = try folder.write(
            """
            {"version": 1, "plugins": {\(plugins.joined(separator: ",\n"))},
             "tasks": {\(tasks.joined(separator: ",\n"))}}
            """,
            to: "tasks.json"
        )
        let result = try Command.run([Artifact.path("bghost"), "check", "--config", manifest])
        #expect(result.exitCode == 78)
        let lines = result.output.split(separator: "\n")
        for (name, words) in bad {
            let line = lines.first { $0.contains("plugin \(name)  ") }
            #expect(line?.contains(words) == true, "\(name): \(result.output)")
        }
        let good = lines.first { $0.contains("plugin good  ") }
        #expect(good?.contains("test.good 1.0.0, ABI 1, 1 handlers") == true, "\(result.output)")
        #expect(lines.last == "\(bad.count) errors, 0 warnings")
    }
}
