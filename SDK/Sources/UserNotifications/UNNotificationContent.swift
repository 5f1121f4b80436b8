// SPDX-License-Identifier: Apache-2.0

public import BackgroundFoundation

/// The content of a notification; to create one, use `UNMutableNotificationContent`.
public class UNNotificationContent: NSObject {
    /// The title.
    public internal(set) var title = ""
    /// The subtitle.
    public internal(set) var subtitle = ""
    /// The body; with title and subtitle at most 4 KiB.
    public internal(set) var body = ""
    /// The thread; notifications of one thread are shown together.
    public internal(set) var threadIdentifier = ""
    /// The category, which determines the actions.
    public internal(set) var categoryIdentifier = ""
    /// How much the notification may disturb.
    public internal(set) var interruptionLevel = UNNotificationInterruptionLevel.active
    /// Data that a response contains: string keys and JSON values, at most 4 KiB.
    ///
    /// In a response, a whole number is an `Int`, also if it was a `Double`.
    public internal(set) var userInfo: [AnyHashable: Any] = [:]
    /// How it ranks among others; it is not delivered.
    public internal(set) var relevanceScore = 0.0
    /// The window that it belongs to; it is not delivered.
    public internal(set) var targetContentIdentifier: String?
    /// What a focus filters by; it is not delivered.
    public internal(set) var filterCriteria: String?
    /// The sound.
    ///
    /// It is not delivered: the task that delivers the notification decides.
    public internal(set) var sound: UNNotificationSound?
    /// The badge.
    ///
    /// It is not delivered: there is no icon.
    public internal(set) var badge: Int?
}

/// The content of a new notification.
public final class UNMutableNotificationContent: UNNotificationContent {
    /// The title.
    public override var title: String {
        get { super.title }
        set { super.title = newValue }
    }
    /// The subtitle.
    public override var subtitle: String {
        get { super.subtitle }
        set { super.subtitle = newValue }
    }
    /// The body; with title and subtitle at most 4 KiB.
    public override var body: String {
        get { super.body }
        set { super.body = newValue }
    }
    /// The thread; notifications of one thread are shown together.
    public override var threadIdentifier: String {
        get { super.threadIdentifier }
        set { super.threadIdentifier = newValue }
    }
    /// The category, which determines the actions.
    public override var categoryIdentifier: String {
        get { super.categoryIdentifier }
        set { super.categoryIdentifier = newValue }
    }
    /// How much the notification may disturb.
    public override var interruptionLevel: UNNotificationInterruptionLevel {
        get { super.interruptionLevel }
        set { super.interruptionLevel = newValue }
    }
    /// Data that a response contains: string keys and JSON values, at most 4 KiB.
    public override var userInfo: [AnyHashable: Any] {
        get { super.userInfo }
        set { super.userInfo = newValue }
    }
    /// How it ranks among others; it is not delivered.
    public override var relevanceScore: Double {
        get { super.relevanceScore }
        set { super.relevanceScore = newValue }
    }
    /// The window that it belongs to; it is not delivered.
    public override var targetContentIdentifier: String? {
        get { super.targetContentIdentifier }
        set { super.targetContentIdentifier = newValue }
    }
    /// What a focus filters by; it is not delivered.
    public override var filterCriteria: String? {
        get { super.filterCriteria }
        set { super.filterCriteria = newValue }
    }
    /// The sound.
    ///
    /// It is not delivered.
    public override var sound: UNNotificationSound? {
        get { super.sound }
        set { super.sound = newValue }
    }
    /// The badge.
    ///
    /// It is not delivered.
    public override var badge: Int? {
        get { super.badge }
        set { super.badge = newValue }
    }
}

extension UNMutableNotificationContent {
    /// The content as the host tells it; `nil` is the default.
    convenience init(
        title: String?,
        subtitle: String?,
        body: String?,
        thread: String?,
        category: String?,
        level: UNNotificationInterruptionLevel?,
        userInfo: JSONValue?
    ) {
        self.init()
        self.title = title ?? ""
        self.subtitle = subtitle ?? ""
        self.body = body ?? ""
        threadIdentifier = thread ?? ""
        categoryIdentifier = category ?? ""
        interruptionLevel = level ?? .active
        self.userInfo = userInfo?.object ?? [:]
    }
}

/// How much a notification may disturb.
public enum UNNotificationInterruptionLevel: Int, Sendable {
    case passive, active, timeSensitive, critical

    /// The level with the name that the host gives it.
    init?(name: String) {
        let names = ["passive", "active", "timeSensitive", "critical"]
        guard let index = names.firstIndex(of: name) else { return nil }
        self.init(rawValue: index)
    }
}

/// A sound.
///
/// It is not delivered.
public final class UNNotificationSound: NSObject, @unchecked Sendable {
    // @unchecked: it has no state.
    /// The default sound.
    public static let `default` = UNNotificationSound()
    /// The default sound of critical notifications.
    public static let defaultCritical = UNNotificationSound()

    /// Creates the sound of a file.
    public init(named name: UNNotificationSoundName) {}

    private override init() {}
}

/// The name of the file of a sound.
public struct UNNotificationSoundName: Hashable, RawRepresentable, Sendable {
    /// The name.
    public let rawValue: String
    /// Creates a name.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// Creates a name.
    public init(_ rawValue: String) { self.rawValue = rawValue }
}

/// An action of a notification.
public final class UNNotificationAction: NSObject, @unchecked Sendable {
    // @unchecked: it is immutable.
    /// The identifier, which a response contains.
    public let identifier: String
    /// The title that is shown.
    public let title: String

    /// Options of an action.
    ///
    /// They have no effect here.
    public struct Options: OptionSet, Sendable {
        /// The raw bits.
        public let rawValue: UInt
        /// Creates a set from its bits.
        public init(rawValue: UInt) { self.rawValue = rawValue }
        /// The device must be unlocked first.
        public static let authenticationRequired = Options(rawValue: 1)
        /// The action is destructive.
        public static let destructive = Options(rawValue: 2)
        /// The action opens the app.
        public static let foreground = Options(rawValue: 4)
    }

    /// Creates an action.
    public init(identifier: String, title: String, options: Options = []) {
        self.identifier = identifier
        self.title = title
    }
}

/// A category of notifications, with their actions.
public final class UNNotificationCategory: NSObject, @unchecked Sendable {
    // @unchecked: it is immutable.
    /// The identifier, which a content's `categoryIdentifier` refers to.
    public let identifier: String
    /// The actions; at most 8.
    public let actions: [UNNotificationAction]

    /// Options of a category.
    ///
    /// They have no effect here.
    public struct Options: OptionSet, Sendable {
        /// The raw bits.
        public let rawValue: UInt
        /// Creates a set from its bits.
        public init(rawValue: UInt) { self.rawValue = rawValue }
        /// The app is told of a dismissal.
        public static let customDismissAction = Options(rawValue: 1)
        /// It may be shown in a car.
        public static let allowInCarPlay = Options(rawValue: 2)
        /// Its title is shown where its text is hidden.
        public static let hiddenPreviewsShowTitle = Options(rawValue: 4)
        /// Its subtitle is shown where its text is hidden.
        public static let hiddenPreviewsShowSubtitle = Options(rawValue: 8)
        /// It may be read aloud.
        public static let allowAnnouncement = Options(rawValue: 16)
    }

    /// Creates a category.
    public init(
        identifier: String,
        actions: [UNNotificationAction],
        intentIdentifiers: [String] = [],
        options: Options = []
    ) {
        self.identifier = identifier
        self.actions = actions
    }
}
