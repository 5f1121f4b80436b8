// SPDX-License-Identifier: Apache-2.0

/// What somebody is told; `UNMutableNotificationContent` is the one to fill in.
public class UNNotificationContent: NSObject {
    /// The first line.
    public internal(set) var title = ""
    /// The second line.
    public internal(set) var subtitle = ""
    /// The text; with title and subtitle at most 4 KiB.
    public internal(set) var body = ""
    /// Notifications of one are shown together.
    public internal(set) var threadIdentifier = ""
    /// Which category's actions it has.
    public internal(set) var categoryIdentifier = ""
    /// How much it may disturb.
    public internal(set) var interruptionLevel = UNNotificationInterruptionLevel.active
    /// What an answer to it comes with: keys that are text, values as JSON has them, at most 4 KiB.
    public internal(set) var userInfo: [AnyHashable: Any] = [:]
    /// Is not delivered: how a notification sounds is whoever's who delivers it.
    public internal(set) var sound: UNNotificationSound?
    /// Is not delivered: there is no icon.
    public internal(set) var badge: Int?
}

/// What somebody is told.
public final class UNMutableNotificationContent: UNNotificationContent {
    /// The first line.
    public override var title: String {
        get { super.title }
        set { super.title = newValue }
    }
    /// The second line.
    public override var subtitle: String {
        get { super.subtitle }
        set { super.subtitle = newValue }
    }
    /// The text; with title and subtitle at most 4 KiB.
    public override var body: String {
        get { super.body }
        set { super.body = newValue }
    }
    /// Notifications of one are shown together.
    public override var threadIdentifier: String {
        get { super.threadIdentifier }
        set { super.threadIdentifier = newValue }
    }
    /// Which category's actions it has.
    public override var categoryIdentifier: String {
        get { super.categoryIdentifier }
        set { super.categoryIdentifier = newValue }
    }
    /// How much it may disturb.
    public override var interruptionLevel: UNNotificationInterruptionLevel {
        get { super.interruptionLevel }
        set { super.interruptionLevel = newValue }
    }
    /// What an answer to it comes with: keys that are text, values as JSON has them, at most 4 KiB.
    public override var userInfo: [AnyHashable: Any] {
        get { super.userInfo }
        set { super.userInfo = newValue }
    }
    /// Is not delivered.
    public override var sound: UNNotificationSound? {
        get { super.sound }
        set { super.sound = newValue }
    }
    /// Is not delivered.
    public override var badge: Int? {
        get { super.badge }
        set { super.badge = newValue }
    }
}

/// How much a notification may disturb.
public enum UNNotificationInterruptionLevel: Int, Sendable {
    case passive, active, timeSensitive, critical
}

/// A sound, which is not delivered.
public final class UNNotificationSound: NSObject, @unchecked Sendable {
    // @unchecked: there is nothing in it.
    /// The usual one.
    public static let `default` = UNNotificationSound()
    /// The usual one of what is critical.
    public static let defaultCritical = UNNotificationSound()
}

/// Something that somebody can do with a notification.
public final class UNNotificationAction: NSObject, @unchecked Sendable {
    // @unchecked: nothing of it changes.
    /// What a response names.
    public let identifier: String
    /// What is shown.
    public let title: String

    /// How an action is carried out, which makes no difference here.
    public struct Options: OptionSet, Sendable {
        /// The bits.
        public let rawValue: UInt
        /// Makes a set of its bits.
        public init(rawValue: UInt) { self.rawValue = rawValue }
        /// The device is unlocked first.
        public static let authenticationRequired = Options(rawValue: 1)
        /// It destroys something.
        public static let destructive = Options(rawValue: 2)
        /// The app is opened.
        public static let foreground = Options(rawValue: 4)
    }

    /// Makes an action.
    public init(identifier: String, title: String, options: Options = []) {
        self.identifier = identifier
        self.title = title
    }
}

/// Notifications that have the same actions.
public final class UNNotificationCategory: NSObject, @unchecked Sendable {
    // @unchecked: nothing of it changes.
    /// What `categoryIdentifier` of the content names.
    public let identifier: String
    /// At most 8.
    public let actions: [UNNotificationAction]

    /// What a category is told of, which makes no difference here.
    public struct Options: OptionSet, Sendable {
        /// The bits.
        public let rawValue: UInt
        /// Makes a set of its bits.
        public init(rawValue: UInt) { self.rawValue = rawValue }
        /// A dismissal is told.
        public static let customDismissAction = Options(rawValue: 1)
    }

    /// Makes a category.
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
