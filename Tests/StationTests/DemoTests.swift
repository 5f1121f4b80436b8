// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import StormyStation
import Synchronization
import Testing

/// Demos that cannot begin, with a script in the daemon's place.
@Suite(.ownThreads, .timeLimit(.minutes(5))) struct DemoTests {
    private final class Lines: Sendable {
        private let lines = Mutex<[String]>([])
        func add(_ line: String) { lines.withLock { $0.append(line) } }
        var text: String { lines.withLock { $0.joined(separator: "\n") } }
    }

    private static func run(_ setting: Demo.Setting) async -> (status: Int32, said: String) {
        let said = Lines()
        let style = TerminalStyle(isTerminal: false) { _ in nil }
        let output = Player.Output(
            answer: said.add,
            answerStyle: style,
            comment: said.add,
            commentStyle: style
        )
        return (await Demo(setting: setting, output: output).run(), said.text)
    }

    private static func setting(_ standIn: StandIn) -> Demo.Setting {
        var setting = Demo.Setting(
            bghost: standIn.folder.file("bghost"),
            config: standIn.folder.file("tasks.json")
        )
        (setting.port, setting.drain) = (0, .seconds(120))
        return setting
    }

    @Test func `Says what a daemon said that ended by itself`() async throws {
        let standIn = try StandIn(daemon: "echo no manifest >&2; exit 78")
        let (status, said) = await Self.run(Self.setting(standIn))
        #expect(status == 1)
        #expect(said.contains("the daemon exited with 78 before it was told to stop"), "\(said)")
        #expect(said.contains("  no manifest"), "\(said)")
    }

    @Test func `Stops a daemon that does not serve its pages`() async throws {
        let standIn = try StandIn(daemon: StandIn.patient)
        var setting = Self.setting(standIn)
        setting.start = .zero
        let (status, said) = await Self.run(setting)
        #expect(status == 1)
        #expect(
            said.contains("the daemon does not serve its pages: bghost dashboard exited with 3"),
            "\(said)"
        )
    }

    @Test func `Names what is missing`() async throws {
        let (status, said) = await Self.run(
            Demo.Setting(bghost: "/nonexistent/bghost", config: "/nonexistent/demo.json")
        )
        #expect(status == 66)
        #expect(said.contains("the daemon /nonexistent/bghost: No such file"), "\(said)")
    }

    @Test func `Quotes what the shell would split`() {
        let guide = DemoGuide(
            link: "http://127.0.0.1:1/#x",
            programs: "/opt/it's here",
            control: "/tmp/s-1/control.sock",
            station: 8653,
            hasPaused: false
        )
        #expect(
            guide.lines.contains(
                #"  export PATH='/opt/it'\''s here':$PATH BGHOST_CONTROL=/tmp/s-1/control.sock"#
            )
        )
        #expect(!guide.lines.contains { $0.contains("demo.paused") })
    }
}
