// SPDX-License-Identifier: Apache-2.0

import Glibc

// A release is built with the static runtime, which brings no tests along.
#if canImport(Testing)
    package import Testing

    /// Starts a server before the tests of a suite, and stops it after them.
    package struct WithPostgreSQL: SuiteTrait, TestScoping {
        @TaskLocal package static var server: PostgreSQLServer?

        package func provideScope(
            for test: Test,
            testCase: Test.Case?,
            performing function: @Sendable @concurrent () async throws -> Void
        ) async throws {
            let server = try PostgreSQLServer()
            try await Self.$server.withValue(server) { try await function() }
        }
    }

    extension Trait where Self == WithPostgreSQL {
        /// The tests use one server, each with a database of its own.
        package static var postgreSQL: WithPostgreSQL { WithPostgreSQL() }
    }
#endif

/// A real PostgreSQL server in a temporary folder, on a Unix socket; with TLS on loopback, too.
///
/// Debian's programs refuse to run as root, so root starts them as the user of the package.
package final class PostgreSQLServer: Sendable {
    package struct Failure: Error {
        package let text: String

        package init(text: String) { self.text = text }
    }

    private let folder: TemporaryDirectory
    private let programs: String
    /// The port on loopback; `nil` if it has only its socket.
    private let tlsPort: Int?

    /// Makes a cluster and starts it.
    ///
    /// - Parameter tlsPort: a free port of loopback on which it takes connections with TLS and a password.
    package init(tlsPort: Int? = nil) throws {
        folder = try TemporaryDirectory()
        programs = try Self.programs()
        self.tlsPort = tlsPort
        if getuid() == 0 {
            let user = try Self.identity()
            guard chown(folder.path, user.0, user.1) == 0 else {
                throw SystemCallError(call: "chown", code: errno)
            }
        }
        try run([
            "initdb", "--pgdata", data, "--username", "fleet", "--auth", "trust", "--no-sync",
            "--no-instructions", "--encoding", "UTF8", "--locale", "C",
        ])
        // The user `guarded` needs a password, all others none.
        let access = """
            local all guarded scram-sha-256
            local all all trust
            hostssl all all 127.0.0.1/32 scram-sha-256

            """
        _ = try folder.write(access, to: "data/pg_hba.conf")
        if tlsPort != nil { try makeCertificate() }
        try start()
    }

    /// The certificate of the server for the name `localhost`, which is its own authority.
    package var certificate: String { folder.file("data/server.crt") }

    private func makeCertificate() throws {
        let key = folder.file("data/server.key")
        let made = try Command.run([
            "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-sha256",
            "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", key,
            "-out", certificate,
        ])
        guard made.exitCode == 0 else { throw Failure(text: "openssl: " + made.error) }
        guard getuid() == 0 else { return }
        let user = try Self.identity()
        guard chown(key, user.0, user.1) == 0, chown(certificate, user.0, user.1) == 0 else {
            throw SystemCallError(call: "chown", code: errno)
        }
    }

    deinit {
        // One that hangs does not stop.
        signal(SIGCONT)
        // A test that stopped it leaves nothing to stop.
        _ = try? run(["pg_ctl", "stop", "--pgdata", data, "--mode", "immediate", "--silent"])
    }

    private var data: String { folder.file("data") }

    private var log: String { folder.file("log") }

    /// A connection string of a database of its own, which is empty.
    package func database(_ name: String) throws -> String {
        try query("CREATE DATABASE \(name)", in: "postgres")
        return connection(name)
    }

    package func connection(_ name: String, user: String = "fleet") -> String {
        "host=\(folder.path) dbname=\(name) user=\(user)" + (tlsPort.map { " port=\($0)" } ?? "")
    }

    /// The path of its socket.
    package var socket: String { folder.file(".s.PGSQL.\(tlsPort ?? 5432)") }

    /// Changes a setting for all sessions, and waits until they have it.
    package func set(_ setting: String, to value: String, in database: String) throws {
        try query("ALTER SYSTEM SET \(setting) = \(value)", in: database)
        try query("SELECT pg_reload_conf()", in: database)
        for _ in 0..<5000 where try query("SHOW \(setting)", in: database) == [value] { return }
        throw Failure(text: "\(setting) is not \(value)")
    }

    /// Makes each host get each start that it claims, so that a test shows that it finds what it looks for.
    ///
    /// Each host writes into rows of its own.
    package func takeOutFence(in database: String) throws {
        try query(
            """
            CREATE FUNCTION apart() RETURNS trigger LANGUAGE plpgsql AS
            'BEGIN NEW.task := NEW.task || NEW.host; RETURN NEW; END';
            CREATE TRIGGER b_apart BEFORE INSERT ON bghost.start
            FOR EACH ROW EXECUTE FUNCTION public.apart()
            """,
            in: database
        )
    }

    /// Lets no host claim a start of a task, from a time on at which all that were claimed have ended.
    ///
    /// A host that has served a start and cannot record it leaves it to another one, which is permitted:
    /// starts are served at least once. Tests that count them take the server away after this.
    package func hold(startsOf task: String, in database: String) throws {
        try query(
            """
            CREATE TABLE IF NOT EXISTS public.held (task text);
            CREATE OR REPLACE FUNCTION public.hold() RETURNS trigger LANGUAGE plpgsql AS
            'BEGIN IF EXISTS (SELECT FROM public.held h WHERE h.task = NEW.task) THEN RETURN NULL; END IF;
            RETURN NEW; END';
            CREATE OR REPLACE TRIGGER a_hold BEFORE INSERT ON bghost.start
            FOR EACH ROW EXECUTE FUNCTION public.hold()
            """,
            in: database
        )
        let hold = """
            BEGIN;
            LOCK TABLE bghost.start IN SHARE MODE;
            INSERT INTO public.held SELECT '\(task)' WHERE NOT EXISTS
                (SELECT FROM bghost.start s WHERE s.task = '\(task)' AND s.ended_at IS NULL);
            COMMIT;
            SELECT count(*) FROM public.held WHERE task = '\(task)'
            """
        for _ in 0..<1000 where try query(hold, in: database) == ["1"] { return }
        throw Failure(text: "the starts of \(task) do not end")
    }

    /// Lets hosts claim starts of a task again.
    package func release(startsOf task: String, in database: String) throws {
        try query("DELETE FROM public.held WHERE task = '\(task)'", in: database)
    }

    /// Starts it and waits until it takes connections.
    package func start() throws {
        let tls = tlsPort.map { "-c listen_addresses=127.0.0.1 -c port=\($0) -c ssl=on" }
        try run([
            "pg_ctl", "start", "--pgdata", data, "--wait", "--timeout", "300", "--silent", "--log",
            log,
            "--options",
            (tls ?? "-c listen_addresses=''") + " -c unix_socket_directories='\(folder.path)'"
                + " -c fsync=off -c shared_buffers=4MB -c max_connections=30",
        ])
    }

    /// Stops it at once, with its connections; a crash for its clients.
    package func stop() throws {
        try run([
            "pg_ctl", "stop", "--pgdata", data, "--mode", "immediate", "--silent", "--wait",
            "--timeout", "300",
        ])
    }

    /// Sends a signal to all its processes: with SIGSTOP it hangs, its connections stay, and none is refused.
    package func signal(_ number: Int32) {
        // A test that stopped it leaves no process.
        guard let file = try? File.read(folder.file("data/postmaster.pid")),
            let line = String(decoding: file, as: UTF8.self).split(separator: "\n").first,
            let main = Int32(line)
        else { return }
        // First the one that starts the others.
        kill(main, number)
        // It may have ended just now.
        let list = (try? File.read("/proc/\(main)/task/\(main)/children")) ?? []
        for child in String(decoding: list, as: UTF8.self).split(separator: " ") {
            if let process = Int32(child) { kill(process, number) }
        }
    }

    /// Runs SQL as its superuser and returns the rows, the columns parted by `|`.
    @discardableResult
    package func query(_ sql: String, in database: String) throws -> [String] {
        try run([
            "psql", "--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set",
            "ON_ERROR_STOP=1", "--command", sql, connection(database),
        ]).split(separator: "\n").map(String.init)
    }

    @discardableResult
    private func run(_ arguments: [String]) throws -> String {
        var command = arguments
        command[0] = programs + "/" + arguments[0]
        // The folder of the caller may be closed to the other user.
        let prefix = getuid() == 0 ? ["runuser", "-u", "postgres", "--"] : []
        let shell = ["/bin/sh", "-c", "cd / && exec \"$@\"", "sh"]
        let result = try Command.run(prefix + shell + command)
        guard result.exitCode == 0 else {
            throw Failure(text: arguments[0] + ": " + result.output + result.error)
        }
        return result.output
    }

    /// The folder of the newest server's programs.
    private static func programs() throws -> String {
        let root = "/usr/lib/postgresql"
        let versions = ((try? File.list(root)) ?? []).compactMap { Int($0) }.sorted()
        guard let newest = versions.last else {
            throw Failure(text: "there is no PostgreSQL server; `make test` installs it")
        }
        return "\(root)/\(newest)/bin"
    }

    private static func identity() throws -> (uid_t, gid_t) {
        guard let user = getpwnam("postgres") else {
            throw Failure(text: "there is no user postgres")
        }
        return (user.pointee.pw_uid, user.pointee.pw_gid)
    }
}
