// SPDX-License-Identifier: Apache-2.0

public import BackgroundTasks
internal import UIKit

extension Plugin {
    /// Creates a plugin from an app.
    ///
    /// Its handlers are those that its scenes and its `init` declare, and these:
    ///
    /// | handler | handles |
    /// | --- | --- |
    /// | `urlSession.ID` | wakes of a session |
    /// | `notificationAction` | a user's response to a notification |
    /// | `launch` | the app's code for launch and for entering the background |
    ///
    /// - Parameters:
    ///   - id: a reverse DNS name, such as `org.example.hello`.
    ///   - version: the version of the plugin.
    ///   - vendor: the name of the vendor.
    ///   - app: the type of the app.
    public convenience init<Main: App>(
        id: String,
        version: String,
        vendor: String = "",
        app: Main.Type
    ) {
        let collector = HandlerCollector()
        let parts = collector.collect {
            let main = Main()
            let adapted = AppDelegates.launch()
            return main.body.parts.parts + adapted
        }
        let handlers = AppHandlers(parts, collector).all
        self.init(id: id, version: version, vendor: vendor, handlers)
    }
}
