// SPDX-License-Identifier: Apache-2.0

@testable import BghostManifest
import BghostModel
import Testing

/// The sections `alerts` and `heartbeat`, and `expect` of tasks.
@Suite struct AlertManifestTests {
    private func read(_ host: String, task: String = "") -> (
        manifest: Manifest?, diagnostics: [Diagnostic]
    ) {
        ManifestFixture.read(
            """
            { "version": 1, "host": \(host),
              "plugins": { "p": { "library": "p.so" } },
              "tasks": { "t": { "plugin": "p"\(task) }, "s": { "plugin": "p", "every": "1h" },
                         "tell.*": { "plugin": "p" } },
              "notifications": { "task": "tell.*" } }
            """
        )
    }

    private static func text(_ diagnostics: [Diagnostic]) -> String {
        diagnostics.flatMap { [$0.message, $0.label ?? "", $0.help ?? ""] }.joined(separator: "; ")
    }

    @Test func `All kinds of receivers are read`() throws {
        let manifest = try #require(
            read(
                """
                { "alerts": { "to": [
                    { "webhook": "https://a.example/x", "headers": { "X-A": "b" }, "secret": "s" },
                    { "ntfy": "http://b.example/topic", "token": "t" },
                    { "command": ["/usr/sbin/sendmail", "-t"], "to": "ops@example.org" },
                    { "task": "tell.*" } ],
                  "repeat": "2h", "digest": "0s", "mute": ["sat 02:00-04:00", "mon 01:00-02:00"] },
                  "heartbeat": { "url": "https://hc-ping.com/x", "every": "30s" } }
                """
            ).manifest
        )
        let alerts = try #require(manifest.host.alerts)
        #expect(
            alerts.receivers == [
                .webhook(
                    url: "https://a.example/x",
                    headers: [AlertHeader(name: "X-A", value: "b")],
                    secret: "s"
                ),
                .ntfy(url: "http://b.example/topic", token: "t"),
                .command(arguments: ["/usr/sbin/sendmail", "-t"], to: "ops@example.org"),
                .notifications(task: "tell.*"),
            ]
        )
        #expect(alerts.repeatPeriod == .seconds(7200) && alerts.digest == .zero)
        #expect(alerts.mute.windows.count == 2)
        #expect(manifest.host.heartbeat?.every == .seconds(30))
        // A receiver's name shows no path and no token.
        #expect(alerts.receivers[0].label == "webhook https://a.example")
    }

    @Test func `Scheduled tasks have defaults, and false turns them off`() throws {
        let host = #"{ "alerts": { "to": [{ "ntfy": "https://n.example/t" }] } }"#
        func expectations(_ task: String) throws -> [TaskExpectation] {
            let reading = read(host, task: task)
            #expect(reading.diagnostics.isEmpty, "\(reading.diagnostics)")
            return try #require(reading.manifest).tasks.map(\.expect)
        }
        let plain = try expectations("")
        #expect(plain[0].isEmpty && plain[1] == .ofSchedules && plain[2].isEmpty)
        #expect(try expectations(#", "every": "1h", "expect": false"#)[0].isEmpty)
        #expect(try expectations(#", "every": "1h", "expect": true"#)[0] == .ofSchedules)
        #expect(
            try expectations(#", "every": "1h", "expect": { "every": "25h", "failures": 1 }"#)[0]
                == TaskExpectation(every: .seconds(90_000), start: .seconds(300), failures: 1)
        )
        #expect(
            try expectations(#", "expect": { "every": "25h" }"#)[0]
                == TaskExpectation(every: .seconds(90_000))
        )
    }

    @Test(arguments: [
        (#"{ "to": [] }"#, "names no receiver"),
        (#"{ "to": [{}] }"#, "names nothing to send to"),
        (#"{ "to": ["x"] }"#, "an object is needed"),
        (#"{ "to": [{ "mail": "x" }] }"#, "mail"),
        (
            #"{ "to": [{ "ntfy": "https://n.example/t", "webhook": "https://n.example/t" }] }"#,
            "both"
        ),
        (#"{ "to": [{ "ntfy": "ftp://n.example/t" }] }"#, "does not begin with"),
        (#"{ "to": [{ "ntfy": "https:///t" }] }"#, "names no host"),
        (#"{ "to": [{ "ntfy": "https://a:b@n.example/t" }] }"#, "user or password"),
        (#"{ "to": [{ "ntfy": "https://n.example/a b" }] }"#, "must be encoded"),
        (#"{ "to": [{ "ntfy": "https://n.example/t", "secret": "x" }] }"#, "says nothing beside"),
        (#"{ "to": [{ "ntfy": "https://n.example/t", "token": "a\nb" }] }"#, "control character"),
        (
            #"{ "to": [{ "webhook": "https://n.example/t", "headers": { "Host": "x" } }] }"#,
            "itself"
        ),
        (
            #"{ "to": [{ "webhook": "https://n.example/t", "headers": { "a b": "x" } }] }"#,
            "cannot name"
        ),
        (
            #"{ "to": [{ "webhook": "https://n.example/t", "headers": { "a": 1 } }] }"#,
            "a string is needed"
        ),
        (#"{ "to": [{ "command": [] }] }"#, "names no program"),
        (#"{ "to": [{ "command": ["sendmail"] }] }"#, "absolute path"),
        (#"{ "to": [{ "command": ["/x"], "to": "a b" }] }"#, "no e-mail address"),
        (#"{ "to": [{ "task": "t" }] }"#, "does not deliver notifications"),
        (#"{ "to": [{ "ntfy": "https://n.example/t" }], "mute": ["sat 1-2"] }"#, "time of day"),
        (#"{ "to": [{ "ntfy": "https://n.example/t" }], "mute": ["sat 02:00-02:00"] }"#, "empty"),
        (
            #"{ "to": [{ "ntfy": "https://n.example/t" }], "mute": ["fri 22:00-04:00", "sat 03:00-05:00"] }"#,
            "overlaps"
        ),
    ])
    func `What cannot be sent is refused with its place and reason`(alerts: String, part: String) {
        let reading = read(#"{ "alerts": \#(alerts) }"#)
        #expect(reading.manifest == nil)
        let texts = Self.text(reading.diagnostics)
        #expect(texts.contains(part), "\(texts)")
    }

    @Test(arguments: [
        (#", "expect": { "runtime": "1h" }"#, "never exceeded"),
        (#", "every": "1h", "expect": { "every": "10m" }"#, "cannot be met"),
        (#", "expect": { "failures": 0 }"#, "out of range"),
        (#", "expect": { "often": "1h" }"#, "often"),
    ])
    func `An expectation that cannot be met, or is always, is refused`(task: String, part: String) {
        let reading = read(#"{ "heartbeat": { "url": "https://h.example/x" } }"#, task: task)
        #expect(reading.manifest == nil)
        #expect(Self.text(reading.diagnostics).contains(part))
    }

    @Test func `An expectation without anybody to tell is a warning`() {
        let reading = read("{}", task: #", "expect": { "failures": 2 }"#)
        #expect(reading.manifest != nil)
        #expect(reading.diagnostics.map(\.code) == [.expectsInVain])
    }
}
