// SPDX-License-Identifier: Apache-2.0

public import FoundationEssentials

/// When a notification is delivered.
public class UNNotificationTrigger: NSObject {
    /// Whether it is delivered again and again.
    public let repeats: Bool

    init(repeats: Bool) { self.repeats = repeats }
}

/// After a time.
public final class UNTimeIntervalNotificationTrigger: UNNotificationTrigger {
    /// Seconds; at least 60 for one that repeats.
    public let timeInterval: TimeInterval

    /// Makes a trigger.
    public init(timeInterval: TimeInterval, repeats: Bool) {
        self.timeInterval = timeInterval
        super.init(repeats: repeats)
    }

    /// The next time; `nil` if the interval is negative.
    public func nextTriggerDate() -> Date? {
        timeInterval < 0 ? nil : Date.currentForRun.addingTimeInterval(timeInterval)
    }
}

/// At a time of the calendar.
///
/// One that repeats is in the zone of the host, or of the components; one that does not is in the
/// zone of `Calendar.current`, which is UTC as long as only `FoundationEssentials` is there.
public final class UNCalendarNotificationTrigger: UNNotificationTrigger {
    /// What the time must match.
    public let dateComponents: DateComponents

    /// Makes a trigger.
    public init(dateMatching dateComponents: DateComponents, repeats: Bool) {
        self.dateComponents = dateComponents
        super.init(repeats: repeats)
    }

    /// The next time; `nil` if there is none.
    public func nextTriggerDate() -> Date? {
        var calendar = dateComponents.calendar ?? .current
        if let zone = dateComponents.timeZone { calendar.timeZone = zone }
        return calendar.nextDate(
            after: .currentForRun,
            matching: dateComponents,
            matchingPolicy: .nextTime
        )
    }

    /// The same in the words of `tasks.json`: minute, hour, day, month and weekday.
    ///
    /// What is smaller than what is named is at its beginning, and what is larger is any.
    var calendarText: String {
        let parts = dateComponents
        let named = [parts.minute, parts.hour, parts.day ?? parts.weekday, parts.month]
        let smallest = named.firstIndex { $0 != nil } ?? 0
        func field(_ value: Int?, _ place: Int, from least: Int) -> String {
            if let value { return "\(value)" }
            return place < smallest ? "\(least)" : "*"
        }
        let day = parts.weekday == nil ? field(parts.day, 2, from: 1) : "*"
        // Sunday is Apple's 1 and cron's 0.
        let weekday = parts.weekday.map { "\(($0 + 6) % 7)" } ?? "*"
        return [
            field(parts.minute, 0, from: 0), field(parts.hour, 1, from: 0), day,
            field(parts.month, 3, from: 1), weekday,
        ].joined(separator: " ")
    }
}

extension Date {
    /// Now, on the host's clock in a run.
    static var currentForRun: Date { TaskContext.current?.now ?? Date() }
}

/// A notification to be delivered; one of the same identifier takes its place.
public final class UNNotificationRequest: NSObject {
    /// 1 to 128 bytes.
    public let identifier: String
    /// What somebody is told.
    public let content: UNNotificationContent
    /// When; `nil` is now.
    public let trigger: UNNotificationTrigger?

    /// Makes a request.
    public init(
        identifier: String,
        content: UNNotificationContent,
        trigger: UNNotificationTrigger?
    ) {
        self.identifier = identifier
        self.content = content
        self.trigger = trigger
    }
}

/// A notification that was delivered.
public final class UNNotification: NSObject {
    /// What was asked for, as far as an answer tells of it: identifier and `userInfo`.
    public let request: UNNotificationRequest

    init(_ request: UNNotificationRequest) { self.request = request }
}

/// The action of whoever just opens a notification.
public let UNNotificationDefaultActionIdentifier = "com.apple.UNNotificationDefaultActionIdentifier"
/// The action of whoever dismisses a notification.
public let UNNotificationDismissActionIdentifier = "com.apple.UNNotificationDismissActionIdentifier"

/// What somebody did with a notification.
public class UNNotificationResponse: NSObject {
    /// The action's identifier; `UNNotificationDefaultActionIdentifier` for none of the category's.
    public let actionIdentifier: String
    /// Which notification.
    public let notification: UNNotification

    init(_ action: String, _ notification: UNNotification) {
        actionIdentifier = action
        self.notification = notification
    }
}

/// What somebody wrote into a notification.
public final class UNTextInputNotificationResponse: UNNotificationResponse {
    /// The text.
    public let userText: String

    init(_ action: String, _ notification: UNNotification, text: String) {
        userText = text
        super.init(action, notification)
    }
}
