// SPDX-License-Identifier: Apache-2.0
// swift-format-ignore-file

// "SwiftUIアプリでバックグラウンドタスクの実行": the optional modifier, as it stands there.

import SwiftUI

extension Scene {
    func backgroundTaskIfAvailable(_ taskIdentifier: String, action: @Sendable @escaping () async -> Void) -> some Scene {
        if #available(iOS 16.0, *) {
            return self
                .backgroundTask(.appRefresh(taskIdentifier), action: action)
        } else {
            return self
        }
    }
}
