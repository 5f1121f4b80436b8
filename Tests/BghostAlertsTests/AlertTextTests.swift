// SPDX-License-Identifier: Apache-2.0

import BghostAlerts
import BghostBase
import BghostModel
import Testing

/// What people and programs read in a message.
@Suite struct AlertTextTests {
    private static let at: Int64 = 1_790_000_000_000_000_000

    private func item(_ state: AlertMessage.Item.State) -> AlertMessage.Item {
        AlertMessage.Item(
            key: AlertKey(.failures, "com.example.a"),
            state: state,
            since: Self.at,
            endedAt: state == .resolved ? Self.at : nil,
            detail: "3 runs \"in a row\" failed\nwith a line"
        )
    }

    private func text(_ items: [AlertMessage.Item], omitted: Int = 0, dropped: Int = 0) -> AlertText
    {
        let message = AlertMessage(
            number: 1,
            items: items,
            omitted: omitted,
            firing: 1,
            at: Self.at
        )
        return AlertText(message, host: "edge-7", dropped: dropped)
    }

    @Test func `The title names one alert, or counts several`() {
        #expect(text([item(.firing)]).title == "bghost on edge-7: com.example.a fails")
        #expect(text([item(.resolved)]).title == "bghost on edge-7: resolved: com.example.a fails")
        #expect(
            text([item(.firing), item(.still), item(.resolved)], omitted: 5).title
                == "bghost on edge-7: 2 alerts, 1 resolved, 5 more"
        )
    }

    @Test func `What was dropped is said`() {
        let body = text([item(.firing)], omitted: 2, dropped: 3).body
        #expect(body.contains("3 earlier messages could not be delivered here"))
        #expect(body.contains("and 2 more"))
    }

    @Test func `The body of a webhook is JSON with all parts`() throws {
        let node = try JSONReader.parse(text([item(.resolved)], dropped: 1).json)
        #expect(node["schema"]?.string == "bghost.alert/1")
        #expect(node["host"]?.string == "edge-7")
        #expect(node["dropped"]?.int64 == 1)
        #expect(node["text"]?.string?.contains("RESOLVED") == true)
        let alert = try #require(node["alerts"]?.array?.first)
        #expect(alert["rule"]?.string == "failures" && alert["state"]?.string == "resolved")
        #expect(alert["detail"]?.string?.contains("\n") == true)
    }

    @Test func `A mail has one header, whatever a handler has written`() {
        let mail = text([item(.firing)]).mail(to: "ops@example.org")
        let parts = mail.split(separator: "\n\n", maxSplits: 1)
        let header = parts[0].split(separator: "\n")
        #expect(header.allSatisfy { $0.contains(": ") } && header.count == 6)
        #expect(header[0] == "To: ops@example.org")
        #expect(parts[1].hasPrefix("FIRING com.example.a fails"))
    }

    @Test func `Each rule has words`() {
        let texts = AlertRule.allCases.map { AlertText.subject(AlertKey($0, "x")) }
        #expect(Set(texts).count == AlertRule.allCases.count)
    }
}
