// SPDX-License-Identifier: Apache-2.0

import BackgroundTasks
import CBghost
import FoundationEssentials
import Synchronization
import Testing

/// The status that handlers can ask for.
@Suite(.timeLimit(.minutes(5)))
struct StatusTests {
    private func status(
        _ status: UInt32,
        _ reasons: UInt32 = 0,
        on host: ScriptedHost = ScriptedHost()
    ) async throws -> String {
        host.state.withLock {
            $0.refresh = bg_refresh(size: 16, status: status, reasons: reasons, reserved: 0)
        }
        let plugin = try TestPlugin(on: host) {
            Handler("a") { _ in
                Self.names(await BGTaskScheduler.shared.backgroundRefreshStatus)
            }
        }
        return try await plugin.end().payload
    }

    private static func names(_ status: BackgroundRefreshStatus) -> [String] {
        switch status {
        case .available: ["available"]
        case .denied: ["denied"]
        case .restricted(let reasons): reasons.map { "\($0)" }.sorted()
        }
    }

    @Test(
        arguments: [
            (BG_REFRESH_AVAILABLE, 0, #"["available"]"#), (BG_REFRESH_DENIED, 0, #"["denied"]"#),
            (
                BG_REFRESH_RESTRICTED, BG_RESTRICTED_BUDGET | BG_RESTRICTED_DRAIN,
                #"["budget","drain"]"#
            ),
            (BG_REFRESH_RESTRICTED, 23, #"["battery","drain","maintenance","pressure"]"#),
            // What a later host may say.
            (BG_REFRESH_RESTRICTED, 1 << 31, #"["other(2147483648)"]"#), (99, 0, "[]"),
        ] as [(UInt32, UInt32, String)]
    )
    func `The status is the host's`(code: UInt32, reasons: UInt32, expected: String) async throws {
        #expect(try await status(code, reasons) == expected)
    }

    @Test func `If the host cannot report a status, it is available`() async throws {
        #expect(try await status(2, on: ScriptedHost(extensions: [])) == #"["available"]"#)
        let failing = ScriptedHost()
        failing.state.withLock { $0.answer = BG_E_FAILED }
        #expect(try await status(2, on: failing) == #"["available"]"#)
    }

    @Test(arguments: [
        (0, "none"), (3, "3 1700000000.25"), (UInt64.max, "\(Int.max) 1700000000.25"),
    ])
    func `A run knows the missed starts that it makes up for`(count: UInt64, expected: String)
        async throws
    {
        let host = ScriptedHost()
        host.state.withLock {
            $0.missed = bg_missed(
                size: 24,
                reserved: 0,
                count: count,
                from_unix_ms: 1_700_000_000_250
            )
        }
        let plugin = try TestPlugin(on: host) {
            Handler("a") { context in
                guard let missed = await context.missed else { return ["none"] }
                return ["\(missed.count) \(missed.from.timeIntervalSince1970)"]
            }
        }
        #expect(try await plugin.end().payload == "[\"\(expected)\"]")
    }
}
