// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The objects of one plugin in the modules with Apple's names, such as its notification center.
///
/// A test process may have several plugins. This module does not know the objects' types: a plugin that
/// uses none of Apple's names links nothing of them.
package final class AppObjects: Sendable {
    private static let last = Mutex(AppObjects())

    /// The objects of the plugin that is being created, or whose run this is; otherwise of the plugin
    /// that was created last.
    package static var current: AppObjects {
        HandlerCollector.current?.objects ?? TaskContext.current?.objects ?? last.withLock { $0 }
    }

    private let objects = Mutex<[ObjectIdentifier: any AnyObject & Sendable]>([:])

    /// Sets them as the objects of the plugin that was created last.
    package func becomeLast() { Self.last.withLock { $0 = self } }

    /// The plugin's object of a type, created when first needed.
    package func object<Object: AnyObject & Sendable>(_ make: @Sendable () -> Object) -> Object {
        objects.withLock { objects in
            let key = ObjectIdentifier(Object.self)
            if let made = objects[key] as? Object { return made }
            let made = make()
            objects[key] = made
            return made
        }
    }
}
