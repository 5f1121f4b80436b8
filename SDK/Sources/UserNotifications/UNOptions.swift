// SPDX-License-Identifier: Apache-2.0

public import BackgroundFoundation

/// The kinds of notification that an app requests.
///
/// The operator decides; they have no effect here.
public struct UNAuthorizationOptions: OptionSet, Sendable {
    /// The raw bits.
    public let rawValue: UInt
    /// Creates a set from its bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// A badge on the icon.
    public static let badge = UNAuthorizationOptions(rawValue: 1)
    /// A sound.
    public static let sound = UNAuthorizationOptions(rawValue: 2)
    /// A text.
    public static let alert = UNAuthorizationOptions(rawValue: 4)
    /// Notifications in a car.
    public static let carPlay = UNAuthorizationOptions(rawValue: 8)
    /// Notifications on a muted device.
    public static let criticalAlert = UNAuthorizationOptions(rawValue: 16)
    /// The app has its own settings for notifications.
    public static let providesAppNotificationSettings = UNAuthorizationOptions(rawValue: 32)
    /// Provisional authorization without a question to the user.
    public static let provisional = UNAuthorizationOptions(rawValue: 64)
    /// Notifications that are read aloud.
    public static let announcement = UNAuthorizationOptions(rawValue: 128)
    /// Notifications while the device must not disturb.
    public static let timeSensitive = UNAuthorizationOptions(rawValue: 256)
}

/// How a notification is shown while the app is in the foreground, which never happens here.
public struct UNNotificationPresentationOptions: OptionSet, Sendable {
    /// The raw bits.
    public let rawValue: UInt
    /// Creates a set from its bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// A badge on the icon.
    public static let badge = UNNotificationPresentationOptions(rawValue: 1)
    /// A sound.
    public static let sound = UNNotificationPresentationOptions(rawValue: 2)
    /// A text.
    public static let alert = UNNotificationPresentationOptions(rawValue: 4)
    /// An entry in the list of notifications.
    public static let list = UNNotificationPresentationOptions(rawValue: 8)
    /// A banner.
    public static let banner = UNNotificationPresentationOptions(rawValue: 16)
}

/// The options of an action.
public typealias UNNotificationActionOptions = UNNotificationAction.Options
/// The options of a category.
public typealias UNNotificationCategoryOptions = UNNotificationCategory.Options

/// Whether a plugin may post notifications.
public enum UNAuthorizationStatus: Int, Sendable {
    /// Undecided; not used here.
    case notDetermined
    /// The host does not deliver notifications, or not for this plugin.
    case denied
    /// The host delivers notifications.
    case authorized
    /// Provisional; not used here.
    case provisional
    /// Temporary; not used here.
    case ephemeral
}

/// Whether a plugin may post notifications.
public final class UNNotificationSettings: NSObject, @unchecked Sendable {
    // @unchecked: it is immutable.
    /// Whether the host delivers notifications.
    public let authorizationStatus: UNAuthorizationStatus

    init(_ status: UNAuthorizationStatus) { authorizationStatus = status }

    /// Enabled if the host delivers notifications.
    public var alertSetting: UNNotificationSetting {
        authorizationStatus == .authorized ? .enabled : .disabled
    }
    /// Not supported: sounds are not delivered.
    public var soundSetting: UNNotificationSetting { .notSupported }
    /// Not supported: there is no icon.
    public var badgeSetting: UNNotificationSetting { .notSupported }
    /// Not supported: there is no screen.
    public var lockScreenSetting: UNNotificationSetting { .notSupported }
    /// Not supported: the host keeps no list of delivered notifications.
    public var notificationCenterSetting: UNNotificationSetting { .notSupported }
    /// Not supported: there is no car.
    public var carPlaySetting: UNNotificationSetting { .notSupported }
    /// Not supported: the operator decides what is delivered.
    public var criticalAlertSetting: UNNotificationSetting { .notSupported }
    /// Not supported: nothing is read aloud.
    public var announcementSetting: UNNotificationSetting { .notSupported }
    /// Not supported: the operator decides what is delivered.
    public var timeSensitiveSetting: UNNotificationSetting { .notSupported }
    /// Not supported: there is no summary.
    public var scheduledDeliverySetting: UNNotificationSetting { .notSupported }
    /// Not supported: there are no messages.
    public var directMessagesSetting: UNNotificationSetting { .notSupported }
    /// False: the app shows no settings.
    public var providesAppNotificationSettings: Bool { false }
}

/// The state of a setting.
public enum UNNotificationSetting: Int, Sendable {
    case notSupported, disabled, enabled
}
