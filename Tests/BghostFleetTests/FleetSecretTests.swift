// SPDX-License-Identifier: Apache-2.0

@testable import BghostFleet
import BghostModel
import BghostTestSupport
import Testing

/// Passwords that a URL does not set off: libpq would take a part of them for a server, and name it.
@Suite(.serialized, .ownThreads, .postgreSQL) struct FleetSecretTests {
    @Test(
        .timeLimit(.minutes(5)),
        arguments: ["Hush/hush", "Hush@hush", "H@ush/hush", "Hush/hu@sh", "Hush%zzhush"]
    )
    func `No part of a password is in an error`(secret: String) throws {
        let database = try FleetDatabase()
        for user in ["bghost:\(secret)", secret] {
            for server in ["localhost:1/fleet", "localhost:1/fleet?sslmode=disable"] {
                let way = "postgresql://\(user)@\(server)"
                let host = database.host("web-1", connection: way)
                let problem = try #require(refusal { _ = try host.renew() })
                #expect(problem.kind == .refused, "\(problem)")
                #expect(!problem.reason.lowercased().contains("ush"), "\(problem)")
                #expect(problem.reason.contains("host.fleet.connection"), "\(problem)")
            }
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `A percent-encoded password is the one that the server gets`() throws {
        let database = try FleetDatabase()
        try database.query("CREATE ROLE guarded LOGIN SUPERUSER PASSWORD 'Hush/@?#hush'")
        let folder = database.server.socket.dropLast("/.s.PGSQL.5432".count)
        let way = "postgresql://guarded:Hush%2F%40?#hush@/\(database.name)?host=\(folder)"
        let host = database.host("web-1", connection: way)
        #expect(throws: Never.self) { try host.renew() }
    }
}
