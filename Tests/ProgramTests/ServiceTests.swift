// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import Glibc
import Testing

/// The daemon under a service manager, whose sockets the test owns.
@Suite(.ownThreads, .timeLimit(.minutes(5))) struct ServiceTests {
    private let folder: TemporaryDirectory
    private let manifest: String
    private let state: String

    init() throws {
        folder = try TemporaryDirectory()
        state = folder.file("state")
        manifest = try folder.write(Self.text(every: ""), to: "tasks.json")
    }

    private static func text(every: String) throws -> String {
        """
        {"version": 1,
         "plugins": {"misbehave": {"library": "\(try Fixture.library("misbehave"))"}},
         "tasks": {"a": {"plugin": "misbehave", "handler": "succeed"\(every)},
                   "b": {"plugin": "misbehave", "handler": "honour-cancel",
                         "limits": {"runtime": "600s", "grace": "20s"}}}}
        """
    }

    private func arguments(_ more: [String] = []) -> [String] {
        [
            Artifact.path("bghost"), "--config", manifest, "--state-dir", state, "--log-format",
            "text",
        ]
            + more
    }

    private func command(_ arguments: [String]) throws -> Command.Result {
        try Command.run([Artifact.path("bghost")] + arguments + ["--state-dir", state])
    }

    /// The next message, without signs of life and requests for more time.
    private func message(_ receiver: DatagramReceiver) throws -> String {
        while true {
            let text = try #require(receiver.text(), "the daemon sends nothing")
            if text != "WATCHDOG=1", !text.hasPrefix("EXTEND_TIMEOUT_USEC=") { return text }
        }
    }

    /// Reads statuses until there is one with a text; other messages fail.
    ///
    /// A slow daemon reports what is between, such as a request before its run.
    private func status(_ text: String, _ receiver: DatagramReceiver) throws {
        while true {
            let message = try message(receiver)
            try #require(message.hasPrefix("STATUS="), "\(message)")
            if message == "STATUS=" + text { return }
        }
    }

    /// The next message that is not only a status.
    private func change(_ receiver: DatagramReceiver) throws -> String {
        while true {
            let message = try message(receiver)
            if !message.hasPrefix("STATUS=") { return message }
        }
    }

    @Test(arguments: [false, true])
    func `The service reports ready, its status, reloads and the stop in order`(
        isAbstract: Bool
    ) throws {
        let receiver = try DatagramReceiver(
            isAbstract ? "@bghost-test-\(getpid())-daemon" : folder.file("notify")
        )
        let daemon = try RunningProgram(
            command: arguments(),
            environment: ["NOTIFY_SOCKET=\(receiver.address)"]
        )
        #expect(
            try message(receiver)
                == "READY=1\nSTATUS=0 runs in progress, 0 requests pending"
        )
        // The socket accepts clients by then.
        #expect(try command(["trigger", "b"]).exitCode == 0)
        try status("1 run in progress, 0 requests pending", receiver)

        try folder.write(try Self.text(every: #", "every": "1h""#), to: "tasks.json")
        #expect(try command(["reload"]).exitCode == 0)
        let reloading = try change(receiver)
        #expect(reloading.hasPrefix("RELOADING=1\nMONOTONIC_USEC="))
        #expect(reloading.hasSuffix("\nSTATUS=reloading the manifest"))
        #expect(try change(receiver).hasPrefix("READY=1\nSTATUS=1 run in progress"))
        // A manifest that is refused leaves it ready, too.
        try folder.write("{", to: "tasks.json")
        #expect(try command(["reload"]).exitCode == 78)
        #expect(try change(receiver).hasPrefix("RELOADING=1\n"))
        #expect(try change(receiver).hasPrefix("READY=1"))

        daemon.signal(SIGTERM)
        #expect(try change(receiver) == "STOPPING=1\nSTATUS=stopping: 1 run in progress")
        #expect(daemon.end() == 0)
    }

    @Test func `The service pings the watchdog, and its children do not see NOTIFY_SOCKET`() throws
    {
        let receiver = try DatagramReceiver(folder.file("notify"))
        let daemon = try RunningProgram(
            command: arguments(["--log-level", "debug"]),
            environment: [
                "NOTIFY_SOCKET=\(receiver.address)", "WATCHDOG_USEC=200000",
            ]
        )
        for _ in 0..<5 {
            while try #require(receiver.text(), "no sign of life") != "WATCHDOG=1" {}
        }
        #expect(try command(["trigger", "b"]).exitCode == 0)
        try #require(daemon.line(containing: "in worker") != nil)
        let workers = descendants(of: daemon.pid)
        try #require(!workers.isEmpty)
        for worker in workers {
            let environment = String(
                decoding: try File.read("/proc/\(worker)/environ"),
                as: UTF8.self
            )
            #expect(!environment.contains("NOTIFY_SOCKET") && !environment.contains("WATCHDOG"))
        }
        daemon.signal(SIGTERM)
        #expect(daemon.end() == 0)
    }

    @Test func `A stopped process does not ping the watchdog`() throws {
        let receiver = try DatagramReceiver(folder.file("notify"))
        let daemon = try RunningProgram(
            command: arguments(),
            environment: ["NOTIFY_SOCKET=\(receiver.address)", "WATCHDOG_USEC=200000"]
        )
        // It pings before it is ready, and from then on a signal drains it.
        while try !#require(receiver.text(), "no sign of life").hasPrefix("READY=1") {}
        while try #require(receiver.text(), "no sign of life") != "WATCHDOG=1" {}
        daemon.signal(SIGSTOP)
        while receiver.text(within: 1) != nil {}
        #expect(receiver.text(within: 1) == nil)
        daemon.signal(SIGCONT)
        while try #require(receiver.text(), "no sign of life") != "WATCHDOG=1" {}
        daemon.signal(SIGTERM)
        #expect(daemon.end() == 0)
    }

    @Test func `The daemon ignores the watchdog of another process`() throws {
        let receiver = try DatagramReceiver(folder.file("notify"))
        let daemon = try RunningProgram(
            command: arguments(),
            environment: [
                "NOTIFY_SOCKET=\(receiver.address)", "WATCHDOG_USEC=100000", "WATCHDOG_PID=1",
            ]
        )
        #expect(try message(receiver).hasPrefix("READY=1"))
        while let text = receiver.text(within: 1) { #expect(text != "WATCHDOG=1") }
        daemon.signal(SIGTERM)
        #expect(daemon.end() == 0)
    }

    // MARK: Socket activation

    /// A socket that children inherit, bound to a path.
    private func inheritable(
        _ path: String,
        listens: Bool = true
    ) throws -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let answer = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(answer == 0)
        if listens { try #require(listen(descriptor, 16) == 0) }
        return descriptor
    }

    /// Starts the daemon as systemd does: the socket is descriptor 3, and the variables name the process.
    private func activated(
        _ descriptor: Int32,
        name: String = "control",
        _ more: [String] = []
    ) throws -> RunningProgram {
        try RunningProgram(
            command: [
                "bash", "-c",
                "exec 3<&\(descriptor) \(descriptor)<&-; LISTEN_PID=$$ LISTEN_FDS=1"
                    + " LISTEN_FDNAMES=\(name) exec \"$@\"",
                "bash",
            ] + arguments(more)
        )
    }

    @Test func `The daemon serves an inherited socket and does not delete its file`() throws {
        try #require(mkdir(folder.file("run"), 0o700) == 0)
        let path = folder.file("run") + "/control.sock"
        let descriptor = try inheritable(path)
        defer { close(descriptor) }
        let daemon = try activated(descriptor)
        #expect(daemon.line(containing: "listening on \(path)") != nil, "\(daemon.lines)")
        let control = ["--control", path]
        func bghost(_ arguments: [String]) throws -> Command.Result {
            try Command.run([Artifact.path("bghost")] + arguments + control)
        }
        #expect(try bghost(["wait", "ready"]).exitCode == 0)
        let status = try bghost(["status"])
        #expect(status.exitCode == 0 && status.output.contains("process \(daemon.pid),"))
        // The lock holds as ever: another daemon at the path ends at once.
        let second = try Command.run([
            Artifact.path("bghost"), "--config", manifest, "--state-dir", folder.file("other"),
            "--control", path,
        ])
        #expect(second.exitCode == 73 && second.error.contains("\(daemon.pid)"), "\(second.error)")
        daemon.signal(SIGTERM)
        #expect(daemon.end() == 0)
        #expect(access(path, F_OK) == 0, "the socket's file is its owner's")
        // The next daemon serves clients that came meanwhile.
        let next = try activated(descriptor)
        #expect(next.line(containing: "listening on \(path)") != nil)
        #expect(try bghost(["wait", "ready"]).exitCode == 0)
        next.signal(SIGTERM)
        #expect(next.end() == 0)
    }

    @Test func `An unsuitable inherited socket is refused with the reason`() throws {
        let silent = try inheritable(folder.file("silent"), listens: false)
        defer { close(silent) }
        let deaf = try activated(silent)
        #expect(deaf.line(containing: "it does not listen") != nil)
        #expect(deaf.end() == 73)
        let good = try inheritable(folder.file("good"))
        defer { close(good) }
        let nameless = try activated(good, name: "web")
        #expect(nameless.line(containing: "FileDescriptorName=control") != nil)
        #expect(nameless.end() == 73)
        let elsewhere = try activated(good, ["--control", folder.file("elsewhere")])
        #expect(elsewhere.line(containing: "name the same path in both") != nil)
        #expect(elsewhere.end() == 73)
    }
}
