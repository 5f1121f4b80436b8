// SPDX-License-Identifier: Apache-2.0

import BackgroundFoundation
public import BackgroundTasks

/// Each statement of the text is a handler; `list` has the number of requests that it found.
public let seed002Requests = Plugin(id: "org.example.requests", version: "1.0.0") {
    Handler("com.test.test.appRefreshTest") { _ in }
    Handler("status") { _ in RequestList().status() == .available }
    Handler("schedule") { _ in RequestList().schedule() }
    Handler("list") { _ in
        let list = RequestList()
        list.list()
        // Behind the work that the listing has sent there.
        return await withCheckedContinuation { continuation in
            DispatchQueue.main.async {
                continuation.resume(returning: list.allUpdateRequests.map(\.identifier))
            }
        }
    }
    Handler("print") { _ in RequestList().printAll() }
    Handler("cancel") { _ in RequestList().cancel() }
    Handler("cancelAll") { _ in RequestList().cancelAll() }
}
