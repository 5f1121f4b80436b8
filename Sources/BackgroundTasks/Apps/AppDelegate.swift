// SPDX-License-Identifier: Apache-2.0

/// What passes events on in Apple's source; nothing here.
open class UIResponder: NSObject {
    /// Makes an object.
    public required override init() {}
}

/// The app, of which there is only its name.
public final class UIApplication: NSObject {
    /// The one app.
    ///
    /// It has no state.
    nonisolated(unsafe) public static let shared = UIApplication()

    /// Why an app was launched.
    public struct LaunchOptionsKey: Hashable, RawRepresentable, Sendable {
        /// The name.
        public let rawValue: String
        /// Names a reason.
        public init(rawValue: String) { self.rawValue = rawValue }
    }
}

/// The delegate of an app of Apple's older source.
///
/// In place of `@UIApplicationMain`, hand it to `Plugin(id:version:delegate:)`.
public protocol UIApplicationDelegate: AnyObject, SendableMetatype {
    /// Makes the delegate.
    init()

    /// Called while the plugin is made: the place to register launch handlers.
    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool

    /// Called in a run of the handler `launch`, which a task of `tasks.json` may have at each start.
    func applicationDidEnterBackground(_ application: UIApplication)

    /// Called in the wake of a session that has no handler of its own: the run is under way until
    /// `completionHandler` is called.
    func application(
        _ application: UIApplication,
        handleEventsForBackgroundURLSession identifier: String,
        completionHandler: @escaping () -> Void
    )
}

extension UIApplicationDelegate {
    /// Registers nothing.
    public func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool { true }

    /// Does nothing.
    public func applicationDidEnterBackground(_ application: UIApplication) {}

    /// Is done at once: delegates of sessions are told all the same.
    public func application(
        _ application: UIApplication,
        handleEventsForBackgroundURLSession identifier: String,
        completionHandler: @escaping () -> Void
    ) { completionHandler() }
}
