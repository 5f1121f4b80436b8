// SPDX-License-Identifier: Apache-2.0

import BghostAlerts
@testable import BghostDispatch
import BghostModel
import BghostNotify
import Testing

/// Messages for the receiver `task`, of which one with the id of another replaces it while it waits.
@Suite struct AlertNotificationTests {
    private static let start = AlertOwnersFixture.start

    private func id(_ subjects: [String], number: UInt64 = 1, at: Int64 = start) -> String {
        let items = subjects.map {
            AlertMessage.Item(key: AlertKey(.failures, $0), state: .firing, since: at, detail: "")
        }
        let message = AlertMessage(number: number, items: items, firing: items.count, at: at)
        return NotificationContent(AlertDelivery(message: message, host: "h")).id
    }

    @Test func `A message about several alerts replaces none, over restarts too`() {
        let ids = [
            id(["a", "b"]), id(["c", "d"], number: 2), id(["a", "b"], at: Self.start + 1),
            id(["a"]),
        ]
        #expect(Set(ids).count == ids.count, "\(ids)")
        #expect(id(["a", "b"]) == id(["a", "b"]), "another attempt is the same message")
    }

    @Test func `A message about one alert replaces one about the same alone`() {
        #expect(id(["a"]) == id(["a"], number: 2, at: Self.start + 1))
        #expect(id(["a"]) != id(["b"]))
        let long = String(repeating: "ä", count: 100)
        let ids = [id([long + "1"]), id([long + "2"]), id([long])]
        #expect(Set(ids).count == 3)
        #expect(ids.allSatisfy { $0.utf8.count <= 128 && $0.hasPrefix("alert:failures:ä") })
        #expect(id([long]) == id([long], number: 2))
    }
}
