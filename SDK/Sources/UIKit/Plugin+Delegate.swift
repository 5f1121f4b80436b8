// SPDX-License-Identifier: Apache-2.0

public import BackgroundTasks

extension Plugin {
    /// Creates a plugin from an app delegate, with the handlers of `init(id:version:vendor:app:)`.
    public convenience init<Delegate: UIApplicationDelegate>(
        id: String,
        version: String,
        vendor: String = "",
        delegate: Delegate.Type
    ) {
        let collector = HandlerCollector()
        let parts = collector.collect {
            AppDelegates.adopt(Delegate())
            return AppDelegates.launch()
        }
        let handlers = AppHandlers(parts, collector).all
        self.init(id: id, version: version, vendor: vendor, handlers)
    }
}
