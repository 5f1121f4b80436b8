// SPDX-License-Identifier: Apache-2.0

internal import CBghost

extension CHost {
    static let transferTable = bg_transfers(
        size: UInt32(MemoryLayout<bg_transfers>.size),
        reserved: 0,
        begin: { host, run, request, out in
            CHost.ask(host) { calls in
                guard let request = request?.pointee, let out else { return BG_E_ARG }
                let (status, id) = calls.beginTransfer(TransferCall(run, request))
                if status == BG_OK { out.pointee = bg_transfer(text: id) }
                return status
            }
        },
        wait: { host, run, transfer, done, context in
            CHost.ask(host) { calls in
                guard let transfer = transfer?.pointee, let done else { return BG_E_ARG }
                return calls.waitForTransfer(
                    TransferWaitCall(run: run, id: transfer.text, done: done, context: context)
                )
            }
        },
        cancel: { host, transfer in
            CHost.ask(host) { calls in
                guard let transfer = transfer?.pointee else { return BG_E_ARG }
                return calls.cancelTransfer(transfer.text)
            }
        },
        list: { host, session, after, buffer, capacity, need in
            CHost.ask(host) { calls in
                let session = String(copying: session)
                let all = calls.transfers(of: session, after: after?.pointee.text)
                // As many as fit, with two brackets and commas between them.
                var list = "["
                for transfer in all {
                    let next = list.count > 1 ? "," + transfer : transfer
                    guard capacity == 0 || list.utf8.count + next.utf8.count < capacity else {
                        break
                    }
                    list += next
                }
                return CHost.hand(list + "]", buffer, capacity, need)
            }
        },
        acknowledge: { host, transfer in
            CHost.ask(host) { calls in
                guard let transfer = transfer?.pointee else { return BG_E_ARG }
                return calls.acknowledgeTransfer(transfer.text)
            }
        }
    )

    static let wakeTable = bg_wakes(
        size: UInt32(MemoryLayout<bg_wakes>.size),
        reserved: 0,
        keep: { host, run, transfers, count in
            CHost.ask(host) { calls in
                guard count <= 1024 else { return BG_E_LIMIT }
                guard let transfers else { return count == 0 ? BG_OK : BG_E_ARG }
                return calls.keepEnds(run, (0..<count).map { transfers[$0].text })
            }
        },
        claim: { host, run, session, buffer, capacity, need in
            CHost.ask(host) { calls in
                let session = String(copying: session)
                let (status, json) = calls.claimEnds(run, of: session, bytesMax: capacity)
                guard status == BG_OK else { return status }
                return CHost.hand(json, buffer, capacity, need)
            }
        }
    )

    static let notifyTable = bg_notifier(
        size: UInt32(MemoryLayout<bg_notifier>.size),
        reserved: 0,
        post: { host, _, notification in
            CHost.ask(host) { calls in
                guard let notification = notification?.pointee else { return BG_E_ARG }
                return calls.post(NotificationCall(notification))
            }
        },
        withdraw: { host, id in CHost.ask(host) { $0.withdraw(String(copying: id)) } },
        pending: { host, buffer, capacity, need in
            CHost.ask(host) { CHost.hand($0.pendingNotifications(), buffer, capacity, need) }
        }
    )

    /// Copies a text to the plugin's buffer.
    private static func hand(
        _ text: String,
        _ buffer: UnsafeMutablePointer<CChar>?,
        _ capacity: Int,
        _ need: UnsafeMutablePointer<Int>?
    ) -> bg_status {
        let bytes = Array(text.utf8)
        need?.pointee = bytes.count
        guard capacity > 0 else { return BG_OK }
        guard let buffer, bytes.count <= capacity else { return BG_E_SMALL }
        for (index, byte) in bytes.enumerated() { buffer[index] = CChar(bitPattern: byte) }
        return BG_OK
    }
}
