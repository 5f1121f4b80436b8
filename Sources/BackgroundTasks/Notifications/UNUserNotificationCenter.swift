// SPDX-License-Identifier: Apache-2.0

internal import FoundationEssentials
internal import Synchronization

/// Has people notified, by the task that `tasks.json` names for that.
///
/// Use it from any thread, inside runs and outside. Calls ask the daemon, which takes a few
/// milliseconds; those that are `async` do not hold up the caller's actor.
public final class UNUserNotificationCenter: NSObject, @unchecked Sendable {
    // @unchecked: what changes is under the lock.
    private struct State {
        var categories: [String: UNNotificationCategory] = [:]
        var delegate = Delegate()
    }

    private struct Delegate: @unchecked Sendable {
        // @unchecked: only handed on, to the runs of a serial handler.
        weak var value: (any UNUserNotificationCenterDelegate)?
    }

    /// For what belongs to no run: the one of the plugin that was made last.
    static let latest = Mutex(UNUserNotificationCenter())

    private let state = Mutex(State())

    override init() {}

    /// The one of the plugin.
    public static func current() -> UNUserNotificationCenter {
        HandlerCollector.current?.center ?? TaskContext.current?.center ?? latest.withLock { $0 }
    }

    /// Who is told what somebody did with a notification: set it while the plugin is made, and keep
    /// it.
    public var delegate: (any UNUserNotificationCenterDelegate)? {
        get { state.withLock { $0.delegate }.value }
        set {
            let delegate = Delegate(value: newValue)
            state.withLock { $0.delegate = delegate }
        }
    }

    /// Says which actions there are; set them while the plugin is made: they do not outlive it.
    public func setNotificationCategories(_ categories: Set<UNNotificationCategory>) {
        state.withLock { state in
            state.categories = Dictionary(categories.map { ($0.identifier, $0) }) { one, _ in one }
        }
    }

    /// What was set.
    public func notificationCategories() async -> Set<UNNotificationCategory> {
        state.withLock { Set($0.categories.values) }
    }

    /// Whether this host notifies; the operator has been asked by `tasks.json`.
    public func requestAuthorization(
        options: UNAuthorizationOptions = []
    ) async throws -> Bool { (try? Notifier()) != nil }

    /// The same, by a call back on the calling thread.
    public func requestAuthorization(
        options: UNAuthorizationOptions = [],
        completionHandler: (Bool, (any Error)?) -> Void
    ) { completionHandler((try? Notifier()) != nil, nil) }

    /// Adds a notification, which is stored for good once this returns.
    ///
    /// - Throws: `UNError`.
    public func add(_ request: UNNotificationRequest) async throws {
        // On the caller's thread, as the request is not Sendable; it takes some milliseconds.
        try post(request)
    }

    /// Adds a notification, and calls back on the calling thread.
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

    /// What waits for its delivery; none if the host cannot tell.
    @concurrent
    public func pendingNotificationRequests() async -> sending [UNNotificationRequest] {
        pending()
    }

    /// The same, by a call back on the calling thread.
    public func getPendingNotificationRequests(
        completionHandler: ([UNNotificationRequest]) -> Void
    ) { completionHandler(pending()) }

    private func pending() -> [UNNotificationRequest] {
        ((try? Notifier())?.pending() ?? []).map(\.request)
    }

    /// Withdraws what waits for its delivery.
    public func removePendingNotificationRequests(withIdentifiers identifiers: [String]) {
        let notifier = try? Notifier()
        for identifier in identifiers { notifier?.withdraw(identifier) }
    }

    /// Withdraws all that waits for its delivery.
    public func removeAllPendingNotificationRequests() {
        let identifiers = ((try? Notifier())?.pending() ?? []).map(\.id)
        removePendingNotificationRequests(withIdentifiers: identifiers)
    }
}

/// How people may be notified, which is the operator's to say.
public struct UNAuthorizationOptions: OptionSet, Sendable {
    /// The bits.
    public let rawValue: UInt
    /// Makes a set of its bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// On the icon.
    public static let badge = UNAuthorizationOptions(rawValue: 1)
    /// By a sound.
    public static let sound = UNAuthorizationOptions(rawValue: 2)
    /// By a text.
    public static let alert = UNAuthorizationOptions(rawValue: 4)
}

/// Who is told what somebody did with a notification.
public protocol UNUserNotificationCenterDelegate: AnyObject {
    /// Somebody did something; the run is under way until this returns.
    func userNotificationCenter(
        _ center: UNUserNotificationCenter,
        didReceive response: UNNotificationResponse
    ) async

    /// The same for source that calls back: the run is under way until it does.
    func userNotificationCenter(
        _ center: UNUserNotificationCenter,
        didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping () -> Void
    )
}

extension UNUserNotificationCenterDelegate {
    /// Calls the form that calls back.
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

    /// Is done at once.
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
        var userInfo: JSONValue?
    }

    /// The handler that tells the delegate what somebody did with a notification.
    static var notificationAction: Handler {
        Handler(AppHandler.action, options: .serial) { (context: TaskContext, answer: Answer) in
            let center = UNUserNotificationCenter.current()
            guard let delegate = center.delegate else {
                context.log(.warning, "nothing takes `\(answer.action)` of \(answer.id)")
                return
            }
            let content = UNMutableNotificationContent()
            content.userInfo = answer.userInfo?.object ?? [:]
            let request = UNNotificationRequest(
                identifier: answer.id,
                content: content,
                trigger: nil
            )
            let notification = UNNotification(request)
            // The host's word for a notification that was opened, and none of its actions.
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
