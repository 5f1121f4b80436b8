// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostModel
import Testing

@testable import BghostBundle

/// What is shown is what is written, and an update that wants more is known as one.
@Suite struct GrantTests {
    static let plugin = #"""
        {"permissions": {"network": ["a.example:443"], "read": ["/srv/in"], "notify": true,
        "jit": false}, "limits": {"memory": "64MiB", "processes": 2}, "config": {"a": [1, {}]},
        "require": ["landlock"], "runsPerWorker": 2}
        """#
    static let tasks = #"""
        {"a.b": {"handler": "upload", "every": "1h", "limits": {"runtime": "20s"}},
        "a.c.*": {"handler": "upload", "parameters": {"x": 1}}}
        """#

    static let sessions = #"{"uploads": {"discretionary": true}}"#

    private func list(
        _ plugin: String = plugin,
        _ tasks: String = tasks,
        _ sessions: String = sessions
    ) throws -> GrantList {
        var description = SampleBundle.description
        description.plugin = SampleBundle.node(plugin)
        description.tasks = SampleBundle.node(tasks)
        description.sessions = SampleBundle.node(sessions)
        return try GrantList(description)
    }

    @Test func `The grants are all that the manifest gets`() throws {
        let list = try list()
        var expected = SampleBundle.node(Self.plugin)
        // `false` is the default of each permission.
        expected = SampleBundle.node(expected.text.replacing(#","jit":false"#, with: ""))
        #expect(list.plugin == expected)
        #expect(list.tasks == SampleBundle.node(Self.tasks))
        #expect(
            list.grants.map { "\($0.task ?? $0.session ?? "") \($0.subject): \($0.text)" } == [
                " network: the daemon speaks to a.example:443 for it", " read: it reads /srv/in",
                " notify: it posts notifications", " memory: 64MiB",
                " processes: it starts programs: 2 processes with itself",
                #" config: {"a":[1,{}]}"#, #" require: ["landlock"]"#, " runsPerWorker: 2",
                "a.b handler: upload", "a.b every: 1h", #"a.b limits: {"runtime":"20s"}"#,
                "a.c.* handler: upload", #"a.c.* parameters: {"x":1}"#,
                "uploads discretionary: true",
            ]
        )
        let manifest = try list.manifest(SampleBundle.zones)
        #expect(manifest.plugins.first?.limits.memoryBytes == 64 << 20)
        #expect(manifest.tasks.count == 2)
        #expect(manifest.sessions.first?.plugin == "photos")
        var description = SampleBundle.description
        description.sessions = list.sessions
        #expect(try BundleDescription(description.bytes) == description)
    }

    @Test func `A session that leaves all to the defaults is shown and written`() throws {
        let list = try list("{}", "{}", #"{"uploads": {}}"#)
        #expect(
            list.grants.map { "\($0.session ?? "") \($0.subject): \($0.text)" }
                == ["uploads defaults: the usual settings"]
        )
        #expect(list.sessions == SampleBundle.node(#"{"uploads": {}}"#))
        #expect(try list.manifest(SampleBundle.zones).sessions.count == 1)
        let none = try self.list("{}", "{}", "{}")
        let difference = try GrantDifference(from: none, to: list, SampleBundle.zones)
        #expect(difference.more == ["session uploads: {}"])
    }

    @Test(
        arguments: [
            // More.
            (#""a.example:443""#, #""a.example:443", "b.example:443""#, true),
            (#""/srv/in""#, #""/srv""#, true), (#""jit": false"#, #""jit": true"#, true),
            ("64MiB", "65MiB", true), (#""memory": "64MiB","#, "", true),
            (#""processes": 2"#, #""processes": 3"#, true),
            (#""require": ["landlock"], "#, "", true),
            (#""runsPerWorker": 2"#, #""runsPerWorker": 3"#, true),
            (#""every": "1h""#, #""every": "1m""#, true), (#""20s""#, #""30s""#, true),
            (#""a.c.*""#, #""a.*""#, true),
            (#""every": "1h""#, #""every": "1h", "priority": 900"#, true),
            (#""discretionary": true"#, #""discretionary": false"#, true),
            (#""uploads""#, #""downloads""#, true),
            // The same or less.
            (#""uploads": {"discretionary": true}"#, "", false),
            (#""/srv/in""#, "", false), (#""notify": true"#, #""notify": false"#, false),
            ("64MiB", "32MiB", false), (#""processes": 2"#, #""processes": 1"#, false),
            (#", "processes": 2"#, "", false),
            (#"["landlock"]"#, #"["landlock", "mounts"]"#, false),
            (#""20s""#, #""10s""#, false), (#"{"x": 1}"#, #"{"x": 2}"#, false),
            (#"[1, {}]"#, "[2]", false), (#""a": "#, #""a" : "#, false),
        ]
    )
    func `An update that wants more is told from others`(
        old: String,
        new: String,
        isMore: Bool
    ) throws {
        let all = [Self.plugin, Self.tasks, Self.sessions].joined(separator: "\u{1}")
        #expect(all.contains(old))
        let changed = all.replacing(old, with: new, maxReplacements: 1).split(separator: "\u{1}")
        let other = try list(String(changed[0]), String(changed[1]), String(changed[2]))
        let difference = try GrantDifference(from: try list(), to: other, SampleBundle.zones)
        #expect(!difference.more.isEmpty == isMore, "\(difference)")
        let same = try GrantDifference(from: other, to: other, SampleBundle.zones)
        #expect(same.more.isEmpty && same.less.isEmpty && same.other.isEmpty)
    }
}
