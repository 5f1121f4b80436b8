// SPDX-License-Identifier: Apache-2.0

public import BackgroundFoundation
internal import BackgroundTasks

/// The base class of responders in source for Apple's platforms.
///
/// It does nothing here.
open class UIResponder: NSObject {
    /// Creates a responder.
    public required override init() {}
}

/// The app object.
///
/// Here it has no state.
public final class UIApplication: NSObject {
    /// The only app object.
    nonisolated(unsafe) public static let shared = UIApplication()

    /// A key of the launch options.
    public struct LaunchOptionsKey: Hashable, RawRepresentable, Sendable {
        /// The name of the key.
        public let rawValue: String
        /// Creates a key.
        public init(rawValue: String) { self.rawValue = rawValue }
    }
}

/// An app delegate, for apps without a SwiftUI `App`.
///
/// Mark it with `@main`, as on iOS, or pass it to `Plugin(id:version:delegate:)`. The target of an app with
/// `@main` needs a flag of the compiler, which docs/IOS.md has.
public protocol UIApplicationDelegate: AnyObject, SendableMetatype {
    /// The id of the plugin of an app with `@main`: a reverse DNS name; by default `app.` and the name of
    /// the module.
    ///
    /// Apple's protocol has no such property. An extension in a file of its own can state it.
    static var pluginID: String { get }
    /// The version of the plugin of an app with `@main`; by default 1.0.0.
    static var pluginVersion: String { get }

    /// Creates the delegate.
    init()

    /// Called while the plugin is created: register launch handlers here.
    ///
    /// - Parameters:
    ///   - application: the app object.
    ///   - launchOptions: always `nil` here.
    /// - Returns: ignored.
    func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool

    /// Called in a run of the handler `launch`.
    ///
    /// A task of `tasks.json` may have that handler, for example at each start of the daemon.
    func applicationDidEnterBackground(_ application: UIApplication)

    /// Called in the wake of a session that has no handler of its own.
    ///
    /// - Parameters:
    ///   - application: the app object.
    ///   - identifier: the identifier of the session.
    ///   - completionHandler: ends the run. Call it when the session's events are handled.
    func application(
        _ application: UIApplication,
        handleEventsForBackgroundURLSession identifier: String,
        completionHandler: @escaping () -> Void
    )
}

extension UIApplicationDelegate {
    /// The default: `app.` and the name of the module.
    public static var pluginID: String { AppMain.identifier(of: Self.self) }
    /// The default: 1.0.0.
    public static var pluginVersion: String { "1.0.0" }

    /// Makes the plugin of the app; what the compiler makes of `@main` calls it.
    public static func main() {
        AppMain.use(Plugin(id: pluginID, version: pluginVersion, delegate: Self.self))
    }

    /// The default: registers no handlers.
    public func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool { true }

    /// The default: does nothing.
    public func applicationDidEnterBackground(_ application: UIApplication) {}

    /// The default: ends the run at once.
    ///
    /// Delegates of sessions get their events nevertheless.
    public func application(
        _ application: UIApplication,
        handleEventsForBackgroundURLSession identifier: String,
        completionHandler: @escaping () -> Void
    ) { completionHandler() }
}
