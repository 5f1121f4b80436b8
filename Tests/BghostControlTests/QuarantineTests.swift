// SPDX-License-Identifier: Apache-2.0

import BghostControl
import BghostCore
import BghostTestSupport
import Testing

/// How an operator learns of a plugin that is not run any more.
@Suite(.timeLimit(.minutes(1)))
struct QuarantineTests {
    private static let quarantine = Quarantine(
        plugin: "storm",
        library: String(repeating: "0f", count: 32),
        host: "0.1.0 1.2.3",
        since: 1_700_000_000_000_000_000,
        reason: "its worker ended by itself (SIGSEGV)\u{1B}[31m"
    )

    @Test func theStatusCarriesIt() async throws {
        try await Serving.with { serving in
            let before = try await serving.ask { try await $0.status() }
            #expect(before.value.plugins.map(\.quarantine) == [nil])
            await serving.host.set(Self.quarantine)
            let status = try await serving.ask { try await $0.status() }
            #expect(status.value.plugins.map(\.quarantine) == [Self.quarantine])
            #expect(status.json.contains(#""since":"2023-11-14T22:13:20"#))
        }
    }

    @Test func theDoctorNamesItAndWhatLiftsIt() async throws {
        try await Serving.with { serving in
            await serving.host.set(Self.quarantine)
            let arguments = ["doctor", "--control", serving.socketPath]
            let text = try await Bghost.run(arguments)
            #expect(text.output.contains("plugin storm has been quarantined since "), "\(text)")
            #expect(
                text.output.contains(
                    #"its worker ended by itself (SIGSEGV)\u{1B}[31m; lift it with: bghost enable storm"#
                )
            )
            let result = try await Bghost.run(arguments + ["--json"])
            let json = try JSONReader.parse(Array(result.output.utf8), dialect: .strict)
            let quarantined = try #require(json["quarantined"]?.array)
            #expect(quarantined.map { $0["plugin"]?.string } == ["storm"])
            #expect(quarantined.map { $0["lift"]?.string } == ["bghost enable storm"])
        }
    }
}
