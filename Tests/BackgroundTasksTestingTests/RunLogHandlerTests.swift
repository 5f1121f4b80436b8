// SPDX-License-Identifier: Apache-2.0

import BackgroundTasks
@testable import BackgroundTasksLogging
import BackgroundTasksTesting
import Logging
import Testing

/// What handlers log with swift-log.
@Suite(.timeLimit(.minutes(5)))
struct RunLogHandlerTests {
    private struct Gone: Error {}

    private func host(_ body: @escaping @Sendable (Logging.Logger) -> Void) throws -> TestHost {
        try TestHost(
            Plugin(id: "org.example.log", version: "1") {
                Handler("a") { _ in
                    var logger = Logging.Logger(label: "db") { RunLogHandler(label: $0) }
                    logger[metadataKey: "pool"] = "main"
                    body(logger)
                }
            },
            tasks: """
                {"version": 1, "plugins": {"p": {"library": "p.so"}},
                 "tasks": {"t": {"plugin": "p", "handler": "a"}}}
                """
        )
    }

    @Test func `A line has the level, the label, and the metadata sorted and quoted`()
        async throws
    {
        let host = try host { logger in
            logger.debug("not written")
            logger.notice("opened", metadata: ["rows": "3", "by": "a \"b\"\n=", "none": ""])
            logger.warning("slow", metadata: ["pool": "other", "list": ["1", "2"]])
            logger.error("failed", error: Gone())
            logger.critical("bad")
        }
        try await host.submit("t")
        #expect(
            host.logs.map(\.message) == [
                #"db: opened by="a \"b\"\n=" none="" pool=main rows=3"#,
                #"db: slow list="[\"1\", \"2\"]" pool=other"#,
                "db: failed error=Gone() error.type=Gone pool=main",
                "db: bad pool=main",
            ]
        )
        #expect(host.logs.map(\.level) == [.info, .warning, .error, .fault])
        #expect(host.logs.allSatisfy { $0.identifier == "t" })
    }

    @Test func `The provider gives metadata, and the level can be lowered`() async throws {
        let host = try host { logger in
            var logger = logger
            logger.handler.metadataProvider = Logging.Logger.MetadataProvider { ["pool": "given"] }
            logger.logLevel = .trace
            logger.trace("step")
        }
        try await host.submit("t")
        #expect(host.logs.map(\.message) == ["db: step pool=given"])
        #expect(host.logs.map(\.level) == [.trace])
    }

    /// The host may open a plugin more than once in a process.
    @Test func `It is taken up once`() async {
        await #expect(processExitsWith: .success) {
            RunLogHandler.bootstrap()
            RunLogHandler.bootstrap()
            #expect(Logging.Logger(label: "x").handler is RunLogHandler)
        }
    }
}
