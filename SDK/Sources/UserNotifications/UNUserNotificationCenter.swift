// SPDX-License-Identifier: Apache-2.0

public import BackgroundFoundation
package import BackgroundTasks
internal import FoundationEssentials
internal import Synchronization

/// Posts notifications, which the task named in `tasks.json` delivers.
///
/// Use it from any thread, inside and outside runs. Calls ask the daemon, which takes a few
/// milliseconds. Unless its description says otherwise, an `async` method does not block the
/// caller's actor.
public final class UNUserNotificationCenter: NSObject, @unchecked Sendable {
    // @unchecked: the lock protects all mutable state.
    private struct State {
        var categories: [String: UNNotificationCategory] = [:]
        var delegate = Delegate()
    }

    private struct Delegate: @unchecked Sendable {
        // @unchecked: only passed on, to the runs of a serial handler.
        weak var value: (any UNUserNotificationCenterDelegate)?
    }

    private let state = Mutex(State())

    override init() {}

    /// The plugin's notification center.
    public static func current() -> UNUserNotificationCenter {
        AppObjects.current.object { UNUserNotificationCenter() }
    }

    /// The delegate, which gets users' responses.
    ///
    /// Set it while the plugin is created. The center does not retain it.
    public var delegate: (any UNUserNotificationCenterDelegate)? {
        get { state.withLock { $0.delegate }.value }
        set {
            let delegate = Delegate(value: newValue)
            state.withLock { $0.delegate = delegate }
        }
    }

    /// Sets the categories and their actions.
    ///
    /// Set them while the plugin is created; they are not stored.
    public func setNotificationCategories(_ categories: Set<UNNotificationCategory>) {
        state.withLock { state in
            state.categories = Dictionary(categories.map { ($0.identifier, $0) }) { one, _ in one }
        }
    }

    /// The categories that were set.
    public func notificationCategories() async -> Set<UNNotificationCategory> {
        state.withLock { Set($0.categories.values) }
    }

    /// Calls back with the categories that were set, on the calling thread.
    public func getNotificationCategories(
        completionHandler: (Set<UNNotificationCategory>) -> Void
    ) { completionHandler(state.withLock { Set($0.categories.values) }) }

    /// Whether this host delivers notifications.
    ///
    /// The operator grants that in `tasks.json`; there is no question to the user.
    public func requestAuthorization(
        options: UNAuthorizationOptions = []
    ) async throws -> Bool { deliversNotifications }

    /// Calls back on the calling thread whether this host delivers notifications.
    public func requestAuthorization(
        options: UNAuthorizationOptions = [],
        completionHandler: (Bool, (any Error)?) -> Void
    ) { completionHandler(deliversNotifications, nil) }

    private var deliversNotifications: Bool {
        // The only error says that this host delivers none.
        (try? Notifier()) != nil
    }

    /// Posts a notification, which the daemon has stored when this returns.
    ///
    /// It blocks the caller's thread for a few milliseconds.
    ///
    /// - Parameter request: the notification.
    /// - Throws: `UNError`.
    public func add(_ request: UNNotificationRequest) async throws {
        // On the caller's thread, since the request is not Sendable; it takes a few milliseconds.
        try post(request)
    }

    /// Posts a notification, and calls back on the calling thread.
    public func add(
        _ request: UNNotificationRequest,
        withCompletionHandler completionHandler: (((any Error)?) -> Void)? = nil
    ) {
        do {
            try post(request)
            completionHandler?(nil)
        } catch {
            completionHandler?(error)
        }
    }

    private func post(_ request: UNNotificationRequest) throws {
        let category = request.content.categoryIdentifier
        let actions = state.withLock { $0.categories[category]?.actions ?? [] }
        try Notifier().post(request, actions: actions)
    }

    /// Whether this host delivers notifications.
    public func notificationSettings() async -> UNNotificationSettings { settings }

    /// Calls back with the settings on the calling thread.
    public func getNotificationSettings(
        completionHandler: (UNNotificationSettings) -> Void
    ) { completionHandler(settings) }

    private var settings: UNNotificationSettings {
        UNNotificationSettings(deliversNotifications ? .authorized : .denied)
    }

    /// The notifications that are not delivered yet; empty if the host cannot list them.
    @concurrent
    public func pendingNotificationRequests() async -> sending [UNNotificationRequest] {
        pending()
    }

    /// Calls back with the pending notifications on the calling thread.
    public func getPendingNotificationRequests(
        completionHandler: ([UNNotificationRequest]) -> Void
    ) { completionHandler(pending()) }

    private func pending() -> [UNNotificationRequest] {
        // The only error says that this host delivers none, so none is pending.
        ((try? Notifier())?.pending() ?? []).map(\.request)
    }

    /// Withdraws pending notifications.
    public func removePendingNotificationRequests(withIdentifiers identifiers: [String]) {
        // A host without notifications has no pending ones.
        let notifier = try? Notifier()
        for identifier in identifiers { notifier?.withdraw(identifier) }
    }

    /// Withdraws all pending notifications.
    public func removeAllPendingNotificationRequests() {
        // A host without notifications has no pending ones.
        let identifiers = ((try? Notifier())?.pending() ?? []).map(\.id)
        removePendingNotificationRequests(withIdentifiers: identifiers)
    }

    /// Always empty: delivered notifications are not listed.
    public func deliveredNotifications() async -> sending [UNNotification] { [] }

    /// Calls back with an empty list: delivered notifications are not listed.
    public func getDeliveredNotifications(completionHandler: ([UNNotification]) -> Void) {
        completionHandler([])
    }

    /// Does nothing: a delivered notification cannot be withdrawn.
    public func removeDeliveredNotifications(withIdentifiers identifiers: [String]) {}

    /// Does nothing: a delivered notification cannot be withdrawn.
    public func removeAllDeliveredNotifications() {}

    /// Does nothing: there is no icon.
    public func setBadgeCount(_ newBadgeCount: Int) async throws {}

    /// Calls back at once: there is no icon.
    public func setBadgeCount(
        _ newBadgeCount: Int,
        withCompletionHandler completionHandler: (((any Error)?) -> Void)?
    ) { completionHandler?(nil) }
}

/// Gets users' responses to notifications.
public protocol UNUserNotificationCenterDelegate: AnyObject {
    /// Never called: a plugin is never in the foreground.
    func userNotificationCenter(
        _ center: UNUserNotificationCenter,
        willPresent notification: UNNotification
    ) async -> UNNotificationPresentationOptions

    /// Never called: a plugin is never in the foreground.
    func userNotificationCenter(
        _ center: UNUserNotificationCenter,
        willPresent notification: UNNotification,
        withCompletionHandler completionHandler:
            @escaping (UNNotificationPresentationOptions) -> Void
    )

    /// A user has responded to a notification.
    ///
    /// The run ends when this returns.
    func userNotificationCenter(
        _ center: UNUserNotificationCenter,
        didReceive response: UNNotificationResponse
    ) async

    /// A user has responded to a notification.
    ///
    /// The run ends when `completionHandler` is called.
    func userNotificationCenter(
        _ center: UNUserNotificationCenter,
        didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping () -> Void
    )
}

extension UNUserNotificationCenterDelegate {
    /// The default: shows nothing.
    public func userNotificationCenter(
        _ center: UNUserNotificationCenter,
        willPresent notification: UNNotification
    ) async -> UNNotificationPresentationOptions { [] }

    /// The default: shows nothing.
    public func userNotificationCenter(
        _ center: UNUserNotificationCenter,
        willPresent notification: UNNotification,
        withCompletionHandler completionHandler:
            @escaping (UNNotificationPresentationOptions) -> Void
    ) { completionHandler([]) }

    /// The default: calls the form with a completion handler.
    public func userNotificationCenter(
        _ center: UNUserNotificationCenter,
        didReceive response: UNNotificationResponse
    ) async {
        await withCheckedContinuation { continuation in
            let once = Once { continuation.resume() }
            userNotificationCenter(
                center,
                didReceive: response,
                withCompletionHandler: { once() }
            )
        }
    }

    /// The default: calls back at once.
    public func userNotificationCenter(
        _ center: UNUserNotificationCenter,
        didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping () -> Void
    ) { completionHandler() }
}

extension Handler {
    private struct Answer: Decodable, Sendable {
        var id: String
        var action: String
        var text: String?
        // An older host does not send what follows.
        var level: String?
        var title: String?
        var subtitle: String?
        var body: String?
        var thread: String?
        var category: String?
        var userInfo: JSONValue?

        var content: UNNotificationContent {
            UNMutableNotificationContent(
                title: title,
                subtitle: subtitle,
                body: body,
                thread: thread,
                category: category,
                level: level.flatMap(UNNotificationInterruptionLevel.init(name:)),
                userInfo: userInfo
            )
        }
    }

    /// The handler that passes users' responses to the delegate.
    package static var notificationAction: Handler {
        Handler(AppHandler.action, options: .serial) { (context: TaskContext, answer: Answer) in
            let center = UNUserNotificationCenter.current()
            guard let delegate = center.delegate else {
                context.log(.warning, "nothing takes `\(answer.action)` of \(answer.id)")
                return
            }
            let request = UNNotificationRequest(
                identifier: answer.id,
                content: answer.content,
                trigger: nil
            )
            let notification = UNNotification(request)
            // The host's identifier for opening a notification without an action.
            let action =
                answer.action == "default"
                ? UNNotificationDefaultActionIdentifier : answer.action
            let response =
                answer.text.map {
                    UNTextInputNotificationResponse(action, notification, text: $0)
                } ?? UNNotificationResponse(action, notification)
            await delegate.userNotificationCenter(center, didReceive: response)
        }
    }
}
