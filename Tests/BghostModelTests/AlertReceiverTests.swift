// SPDX-License-Identifier: Apache-2.0

import BghostModel
import Testing

/// What people may read of a receiver's address.
@Suite struct AlertReceiverTests {
    @Test(arguments: [
        ("https://h.example/hooks/geheim", "https://h.example"),
        ("https://h.example?token=geheim", "https://h.example"),
        ("https://h.example:8443?token=geheim/x", "https://h.example:8443"),
        ("http://h.example#geheim", "http://h.example"),
        ("https://user:geheim@h.example/x", "https://h.example"),
        ("https://user:geheim@[::1]:80?a=@geheim", "https://[::1]:80"),
        ("http://127.0.0.1:9", "http://127.0.0.1:9"),
    ])
    func `The name has nothing of the address but scheme, host and port`(
        url: String,
        server: String
    ) {
        let webhook = AlertReceiver.webhook(url: url, headers: [], secret: nil)
        #expect(webhook.server == server && webhook.label == "webhook " + server)
        let topic = AlertReceiver.ntfy(url: url, token: nil)
        #expect(topic.server == server && topic.label == "ntfy " + server)
    }
}
