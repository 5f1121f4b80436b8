// SPDX-License-Identifier: Apache-2.0

import BghostAPI
import BghostBase

extension MemoryHost {
    func transfers() -> [TransferView] { views }

    func set(_ views: [TransferView]) { self.views = views }

    func cancelTransfer(_ prefix: String) throws(OperatorRefusal) -> TransferView {
        try change(prefix, to: "cancelled")
    }

    func retryTransfer(_ prefix: String) throws(OperatorRefusal) -> TransferView {
        try change(prefix, to: "active")
    }

    private func change(
        _ prefix: String,
        to state: String
    ) throws(OperatorRefusal) -> TransferView {
        guard let index = views.firstIndex(where: { $0.id.description.hasPrefix(prefix) }) else {
            throw OperatorRefusal(.noSuchTransfer, "there is no transfer \(prefix)")
        }
        views[index].stateName = state
        return views[index]
    }
}
