// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import Testing

/// Real daemons whose PostgreSQL is reached by TLS.
@Suite(.ownThreads) struct FleetTLSTests {
    private let folder: TemporaryDirectory
    private let server: PostgreSQLServer
    private let port: Int
    /// The path of the certificate.
    private let certificate: String

    init() throws {
        folder = try TemporaryDirectory()
        port = try Loopback.freePort()
        server = try PostgreSQLServer(tlsPort: port)
        // That of the server's own folder belongs to the server's user, who could change it.
        certificate = try folder.write(try File.read(server.certificate), to: "server.crt")
        _ = try server.database("fleet")
        try server.query("CREATE ROLE anna LOGIN SUPERUSER PASSWORD 's3cret'", in: "fleet")
    }

    private func connection(
        host: String = "localhost",
        mode: String = "verify-full",
        authority: String? = nil,
        password: String = "s3cret"
    ) -> String {
        "host=\(host) hostaddr=127.0.0.1 port=\(port) dbname=fleet user=anna password=\(password)"
            + " sslmode=\(mode)"
            + (mode == "disable"
                ? "" : " channel_binding=require sslrootcert=\(authority ?? certificate)")
    }

    @Test(.timeLimit(.minutes(10)))
    func `A host joins by TLS, with its password bound to the server's certificate`() throws {
        let member = try FleetDaemon("web-1", connection(), in: folder)
        #expect(member.line("fleet.joined") != nil)
        _ = try FleetDaemon.starter(of: "quick", [member])
        // On a busy machine it may be about to connect again.
        var sessions: [String] = []
        for _ in 0..<1000 where sessions.isEmpty {
            sessions = try server.query(
                """
                SELECT DISTINCT ssl, version FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
                WHERE usename = 'anna'
                """,
                in: "fleet"
            )
        }
        #expect(sessions == ["t|TLSv1.3"])
        // Its server goes away, and the session after that is as safe.
        try server.stop()
        #expect(try member.hasNoLease())
        let joins = member.count("fleet.joined")
        try server.start()
        #expect(try member.hasJoined(before: joins))
        #expect(!member.daemon.program.lines.contains { $0.contains("s3cret") })
        #expect(member.daemon.stop() == 0)
    }

    @Test(.timeLimit(.minutes(10)))
    func `A server that cannot be trusted is not used, and the daemon says why`() throws {
        let stranger = folder.file("stranger.crt")
        let made = try Command.run([
            "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
            "/CN=localhost", "-keyout", folder.file("stranger.key"), "-out", stranger,
        ])
        try #require(made.exitCode == 0, "\(made)")
        for (connection, reason) in [
            (connection(authority: stranger), "certificate verify failed"),
            (connection(host: "db.example"), "does not match host name"),
            (connection(mode: "disable"), "no pg_hba.conf entry"),
            (connection(password: "wr0ng"), "password authentication failed"),
        ] {
            let away = try FleetDaemon("web-1", connection, in: folder, calendar: "0 0 1 1 *")
            let line = try #require(away.line("fleet.lost"))
            #expect(try away.names(reason), "\(reason): \(line)")
            #expect(try away.runs(of: "quick").isEmpty)
            let leaks = away.daemon.program.lines.filter {
                $0.contains("s3cret") || $0.contains("wr0ng")
            }
            #expect(leaks.isEmpty)
            #expect(away.daemon.stop() == 0)
        }
    }
}
