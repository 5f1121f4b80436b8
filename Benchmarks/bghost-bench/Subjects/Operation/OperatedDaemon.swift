// SPDX-License-Identifier: Apache-2.0

import BghostBase
internal import BghostLinux
internal import Glibc

/// The shipped daemon with many tasks, a dashboard, and a long history if that is asked for.
struct OperatedDaemon {
    private static let state = "/operated-state"

    let subject: Subject
    let socket: String
    let child: Spawner.Spawned

    /// Starts the daemon, and returns when it accepts work.
    ///
    /// - Parameters:
    ///   - plugins: among which the tasks are divided.
    ///   - history: of so many runs; 0 for none.
    init(_ subject: Subject, plugins: Int = 1, history: Int = 0) throws {
        self.subject = subject
        let state = subject.files + Self.state
        try subject.remove(state)
        if history > 0 {
            let history = try BenchHistory(subject, count: history)
            try subject.run("/bin/cp", "-r", history.folder, state)
        }
        let manifest = subject.files + "/operated.json"
        try TextFile.write(Self.manifest(subject, plugins), to: manifest)
        let program = subject.programs + "/bghost"
        let null = Glibc.open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(null) }
        child = try subject.start(
            program,
            [
                program, "--config", manifest, "--state-dir", state, "--log-format", "text",
                "--log-level", "error",
            ],
            [null, null, 2]
        )
        socket = state + "/control.sock"
        do {
            try subject.awaitSocket(socket)
            try awaitReady()
        } catch {
            subject.end(child)
            throw error
        }
    }

    /// Ends the daemon and removes its state.
    func end() throws {
        subject.end(child)
        try subject.remove(subject.files + Self.state)
    }

    private static func manifest(_ subject: Subject, _ plugins: Int) -> String {
        let library = "\(subject.files)/bench.so"
        let pending = #""maxPending": { "processing": 100000 }"#
        let definitions = (0..<plugins).map { number in
            #""bench\#(number)": { "library": "\#(library)", \#(pending) }"#
        }
        let tasks = (0..<BenchHistory.tasks).map { number in
            let plugin = "bench\(number % plugins)"
            return #""bench.\#(number)": { "plugin": "\#(plugin)", "handler": "nop","#
                + #" "kind": "processing", "overlap": "allow" }"#
        }
        return """
            {
              "version": 1,
              "host": {
                "slots": 8,
                "dashboard": { "listen": "127.0.0.1:0" },
                "history": \(BenchHistory.settings)
              },
              "plugins": { \(definitions.joined(separator: ",\n    ")) },
              "tasks": { \(tasks.joined(separator: ",\n    ")) }
            }

            """
    }

    private func awaitReady() throws {
        let deadline = Monotonic.now + 60_000_000_000
        while Monotonic.now < deadline {
            // It refuses until it is ready.
            if (try? UnixClient(socket).call("GET", "/readyz")) != nil, (try? ticket()) != nil {
                return
            }
            usleep(10_000)
        }
        throw BenchFailure(description: "the daemon is not ready")
    }

    /// A link to the dashboard, with a ticket that can be used once.
    func ticket() throws -> String {
        let answer = try UnixClient(socket).call("POST", "/v1/web/tickets")
        guard let url = try JSONReader.parse(Array(answer))["url"]?.string else {
            throw BenchFailure(description: "there is no link to the dashboard")
        }
        return url
    }

    /// A client with a session of its own.
    func dashboard() throws -> DashboardClient {
        let url = try ticket()
        guard let address = DashboardAddress(url), let mark = url.lastIndex(of: "#") else {
            throw BenchFailure(description: "`\(url)` is no link to the dashboard")
        }
        return try DashboardClient(address, ticket: String(url[url.index(after: mark)...]))
    }

    /// What the daemon has used of the processors, seconds, without its workers.
    var processorTime: Double {
        get throws { try Processor.seconds(of: child.pid) }
    }

    /// The values of all series, by the name with its labels.
    func metrics() throws -> [String: Double] {
        let text = String(decoding: try UnixClient(socket).call("GET", "/metrics"), as: UTF8.self)
        var values: [String: Double] = [:]
        for line in text.split(separator: "\n") where line.first != "#" {
            guard let space = line.lastIndex(of: " ") else { continue }
            values[String(line[..<space])] = Double(line[line.index(after: space)...])
        }
        return values
    }
}
