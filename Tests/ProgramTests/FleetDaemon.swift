// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport

/// A daemon of a fleet, with a folder of its own and the shortest lease.
///
/// Its tasks run once in the fleet: `quick` each second, and `slow`, whose runs last until they are stopped.
struct FleetDaemon {
    let name: String
    let daemon: TestDaemon
    /// Exists as long as the daemon.
    private let folder: TemporaryDirectory

    init(
        _ name: String,
        _ connection: String,
        in parent: TemporaryDirectory,
        calendar: String = "*/5 * * * * *"
    ) throws {
        try self.init(name, connection, in: parent, tasks: Self.tasks(calendar: calendar))
    }

    /// - Parameter tasks: the section `tasks`, with the plugin `misbehave`.
    init(
        _ name: String,
        _ connection: String,
        in parent: TemporaryDirectory,
        tasks: String
    ) throws {
        self.name = name
        folder = try TemporaryDirectory(in: parent.path)
        let path = try folder.write(
            try Self.manifest(name, connection, tasks: tasks),
            to: "tasks.json"
        )
        daemon = try TestDaemon(
            manifest: path,
            folder: folder,
            arguments: ["--log-format", "json", "--log-level", "debug"]
        )
    }

    private static func manifest(
        _ name: String,
        _ connection: String,
        tasks: String
    ) throws -> String {
        """
        {"version": 1,
         "host": {"slots": 8, "fleet": {"connection": "\(connection)", "name": "\(name)", "lease": "5s"},
                  "alerts": {"to": [{"command": ["/bin/cat"]}]}},
         "plugins": {"misbehave": {"library": "\(try Fixture.library("misbehave"))"}},
         "tasks": \(tasks)}
        """
    }

    private static func tasks(calendar: String) -> String {
        """
        {"quick": {"plugin": "misbehave", "handler": "succeed", "runs": "onceInFleet",
                   "calendar": "* * * * * *", "limits": {"grace": "1s"}},
         "slow": {"plugin": "misbehave", "handler": "honour-cancel", "runs": "onceInFleet",
                  "calendar": "\(calendar)", "limits": {"runtime": "10m", "grace": "1s"}}}
        """
    }

    func line(_ text: String, within seconds: Int32 = 120) -> String? {
        daemon.program.line(containing: text, within: seconds)
    }

    /// The number of lines that contain a text, as far as its log has come by now.
    func count(_ text: String) -> Int {
        daemon.program.readAll()
        return daemon.program.lines.count { $0.contains(text) }
    }

    /// Asks until the answer is as wanted; on a busy machine it may have lost its lease once more.
    ///
    /// - Returns: the last answer.
    func answer(
        _ arguments: [String],
        _ isWanted: (Command.Result) -> Bool
    ) throws -> Command.Result {
        var answer = try daemon.command(arguments)
        for _ in 0..<1000 where !isWanted(answer) { answer = try daemon.command(arguments) }
        return answer
    }

    /// Waits until it has no valid lease.
    ///
    /// On a busy machine it may have lost one before, and have another.
    func hasNoLease() throws -> Bool {
        for _ in 0..<1000 {
            if try daemon.command(["status"]).output.contains("no valid lease in the fleet") {
                return true
            }
        }
        return false
    }

    /// Waits until it says why it has none.
    ///
    /// On a busy machine, the server may not have answered in time at first.
    func names(_ reason: String) throws -> Bool {
        for _ in 0..<1000 {
            let answer = try daemon.command(["status", "--fleet", "--json"]).output
            if try JSONReader.parse(answer)["problem"]?.string?.contains(reason) == true {
                return true
            }
        }
        return false
    }

    /// Waits until it has a valid lease.
    ///
    /// - Parameter before: how often it had joined when there was no server.
    func hasJoined(before: Int) throws -> Bool {
        guard daemon.program.has(before + 1, linesContaining: "fleet.joined") else { return false }
        for _ in 0..<1000 {
            let metrics = try daemon.command(["metrics"]).output
            if metrics.contains("\nbghost_fleet_lease_held 1\n") { return true }
        }
        return false
    }

    /// The number of runs of a task that it has started, as far as its log says by now.
    func starts(of task: String) -> Int {
        daemon.program.readAll()
        return daemon.program.lines.count {
            $0.contains("\"run.started\"") && $0.contains("\"task\":\"\(task)\"")
        }
    }

    /// Waits until a run of a task has ended.
    ///
    /// - Returns: whether one did before the daemon was silent for two minutes.
    func hasEnded(_ task: String) -> Bool {
        let program = daemon.program
        while true {
            let ends = program.lines.filter { $0.contains("\"run.ended\"") }
            if ends.contains(where: { $0.contains("\"task\":\"\(task)\"") }) { return true }
            guard program.has(ends.count + 1, linesContaining: "\"run.ended\"") else {
                return false
            }
        }
    }

    /// The requests of a task whose runs succeeded on this host, by its own history.
    func runs(of task: String) throws -> [String] {
        let answer = try daemon.command(["runs", task, "--json", "--limit", "1000"])
        let runs = try JSONReader.parse(answer.output)["runs"]?.array ?? []
        return runs.filter { $0["outcome"]?.string == "succeeded" }
            .compactMap { $0["request"]?.string }
    }

    /// The same once no run of the task is under way; no other one may begin.
    func endedRuns(of task: String) throws -> [String] {
        for _ in 0..<1000 {
            let answer = try daemon.command(["runs", task, "--json", "--limit", "1000"])
            let runs = try JSONReader.parse(answer.output)["runs"]?.array ?? []
            if runs.allSatisfy({ $0["state"]?.string == "ended" }) {
                return try self.runs(of: task)
            }
        }
        throw DaemonFailure(lines: daemon.program.lines)
    }

    /// Waits until one of the daemons has started more runs of a task than before.
    static func starter(
        of task: String,
        _ members: [FleetDaemon],
        before: [Int] = [0, 0, 0]
    ) throws -> FleetDaemon {
        for _ in 0..<1000 {
            for (member, count) in zip(members, before) where member.starts(of: task) > count {
                return member
            }
            // Each daemon logs each second what becomes of the start.
            let program = members[0].daemon.program
            guard program.has(program.lines.count + 1, linesContaining: "schema") else { break }
        }
        throw DaemonFailure(lines: members.flatMap(\.daemon.program.lines))
    }
}

/// Finds starts that more than one host served.
///
/// It does not rely on the claims: the database notes which start each request asks for, also in vain if
/// another host claims the start at the same time, and the histories of the daemons have which requests ran.
struct FleetJudge {
    let server: PostgreSQLServer
    let database: String

    /// Notes from now on; the schema must be there.
    init(_ server: PostgreSQLServer, _ database: String) throws {
        (self.server, self.database) = (server, database)
        try server.query(
            """
            CREATE TABLE asked (request text, task text, slot bigint);
            CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS
            'BEGIN INSERT INTO public.asked VALUES (NEW.request, NEW.task, NEW.slot);
            RETURN NEW; END';
            CREATE TRIGGER a_note BEFORE INSERT ON bghost.start
            FOR EACH ROW EXECUTE FUNCTION public.note()
            """,
            in: database
        )
    }

    /// The starts of a task that were served, and those of them that were served more than once.
    func verdict(
        on task: String,
        _ members: [FleetDaemon]
    ) throws -> (served: Int, doubled: [String]) {
        let rows = try server.query(
            "SELECT DISTINCT request, slot FROM asked WHERE task = '\(task)'",
            in: database
        )
        let slots = rows.reduce(into: [String: String]()) { slots, row in
            let columns = row.split(separator: "|").map(String.init)
            slots[columns[0]] = columns[1]
        }
        var served: [String: Int] = [:]
        for member in members {
            for request in try member.runs(of: task) {
                // A start from before the judge noted anything has no slot.
                if let slot = slots[request] { served[slot, default: 0] += 1 }
            }
        }
        return (served.count, served.filter { $0.value > 1 }.keys.sorted())
    }
}

/// A real PostgreSQL, and a folder for the daemons of its fleet.
struct FleetSite {
    let server: PostgreSQLServer
    private let folder: TemporaryDirectory
    private let connection: String

    init() throws {
        folder = try TemporaryDirectory()
        server = try PostgreSQLServer()
        connection = try server.database("fleet")
    }

    func daemon(_ name: String, calendar: String = "*/5 * * * * *") throws -> FleetDaemon {
        try FleetDaemon(name, connection, in: folder, calendar: calendar)
    }

    /// - Parameter tasks: the section `tasks`, with the plugin `misbehave`.
    func daemon(_ name: String, tasks: String) throws -> FleetDaemon {
        try FleetDaemon(name, connection, in: folder, tasks: tasks)
    }
}
