// SPDX-License-Identifier: Apache-2.0

import BghostWire
import BghostWireMessages

/// The frames of the ABI's extensions for transfers and notifications.
extension GoldenTests {
    static let notifications: [Sample] = [
        Sample(
            name: "call, post",
            message: call(
                .post(
                    NotificationPost(
                        id: "a",
                        level: 2,
                        title: "t",
                        subtitle: "",
                        body: "b",
                        thread: "",
                        category: "c",
                        userInfo: "{}",
                        actions: "",
                        atUnixMilliseconds: 1,
                        everyMilliseconds: 2,
                        calendar: "",
                        timeZone: ""
                    )
                )
            ),
            hex: """
                5a000000 87 01 2000 0700000000000000  0500000000000000
                01000000 61  02000000  01000000 74  00000000  01000000 62  00000000  01000000 63
                02000000 7b7d  00000000  0100000000000000 0200000000000000  00000000 00000000
                """
        ),
        Sample(
            name: "call, withdraw notification",
            message: call(.withdrawNotification(id: "a")),
            hex: "1d000000 87 01 2100 0700000000000000  0500000000000000  01000000 61"
        ),
        Sample(
            name: "call, notifications",
            message: call(.notifications),
            hex: "18000000 87 01 2200 0700000000000000  0500000000000000"
        ),
    ]

    static let transfers = [
        Sample(
            name: "call, begin a transfer",
            message: call(
                .transfer(.begin(TransferBegin(flags: 9, session: "s", url: "u")))
            ),
            hex: """
                6e000000 87 01 1000 0700000000000000  0500000000000000
                09000000 01000000 73 01000000 75 00000000 00000000 00000000
                00000000 00000000 00000000 00000000 00000000 00000000 00000000
                0000000000000000 0000000000000000 0000000000000000 0000000000000000
                """
        ),
        Sample(
            name: "call, wait for a transfer",
            message: call(.transfer(.wait(id: "A"))),
            hex: "1d000000 87 01 1100 0700000000000000  0500000000000000  01000000 41"
        ),
        Sample(
            name: "call, cancel a transfer",
            message: call(.transfer(.cancel(id: "A"))),
            hex: "1d000000 87 01 1200 0700000000000000  0500000000000000  01000000 41"
        ),
        Sample(
            name: "call, list transfers",
            message: call(.transfer(.list(session: "s", after: "A", bytesMax: 255))),
            hex: """
                26000000 87 01 1300 0700000000000000  0500000000000000
                01000000 73  01000000 41  ff000000
                """
        ),
        Sample(
            name: "call, acknowledge a transfer",
            message: call(.transfer(.acknowledge(id: "A"))),
            hex: "1d000000 87 01 1400 0700000000000000  0500000000000000  01000000 41"
        ),
        Sample(
            name: "call, an end has come",
            message: call(.transfer(.took(call: 6))),
            hex: "20000000 87 01 1500 0700000000000000  0500000000000000  0600000000000000"
        ),
        Sample(
            name: "call, keep ends",
            message: call(.transfer(.keep(ids: ["A", "BC"]))),
            hex: """
                27000000 87 01 1600 0700000000000000  0500000000000000
                02000000  01000000 41  02000000 4243
                """
        ),
        Sample(
            name: "call, claim the ends of a session",
            message: call(.transfer(.claim(session: "s", bytesMax: 255))),
            hex: """
                21000000 87 01 1700 0700000000000000  0500000000000000
                01000000 73  ff000000
                """
        ),
        Sample(
            name: "reply, a transfer",
            message: .reply(Reply(call: 9, status: 0, body: .transfer(id: "A"))),
            hex: "1a000000 11 01 0000 0900000000000000  00000000 10 01000000 41"
        ),
        Sample(
            name: "reply, transfers",
            message: .reply(Reply(call: 9, status: 0, body: .transfers(.inline([0x5B, 0x5D])))),
            hex: "1c000000 11 01 0000 0900000000000000  00000000 11 00 02000000 5b5d"
        ),
        Sample(
            name: "reply, transfers in parts",
            message: .reply(
                Reply(call: 9, status: 0, body: .transfers(.parts(bytes: 255)))
            ),
            hex: "1e000000 11 01 0000 0900000000000000  00000000 11 02 ff00000000000000"
        ),
        Sample(
            name: "reply, too little room",
            message: .reply(Reply(call: 9, status: -15, body: .needs(255))),
            hex: "1d000000 11 01 0000 0900000000000000  f1ffffff 12 ff00000000000000"
        ),
    ]
}
