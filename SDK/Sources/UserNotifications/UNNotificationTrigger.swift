// SPDX-License-Identifier: Apache-2.0

public import BackgroundFoundation
internal import BackgroundTasks
public import FoundationEssentials

/// When a notification is delivered.
public class UNNotificationTrigger: NSObject {
    /// Whether it is delivered repeatedly.
    public let repeats: Bool

    init(repeats: Bool) { self.repeats = repeats }
}

/// Delivers after an interval.
public final class UNTimeIntervalNotificationTrigger: UNNotificationTrigger {
    /// The interval in seconds; at least 60 if it repeats.
    public let timeInterval: TimeInterval

    /// Creates a trigger.
    public init(timeInterval: TimeInterval, repeats: Bool) {
        self.timeInterval = timeInterval
        super.init(repeats: repeats)
    }

    /// The next delivery; `nil` if the interval is negative.
    public func nextTriggerDate() -> Date? {
        timeInterval < 0 ? nil : Date.currentForRun.addingTimeInterval(timeInterval)
    }
}

/// Delivers at a calendar date.
///
/// A trigger uses the time zone of its components; otherwise a repeating one uses that of the host's
/// manifest, and another one that of this machine.
public final class UNCalendarNotificationTrigger: UNNotificationTrigger {
    /// The components that the date must match.
    public let dateComponents: DateComponents
    /// What the host's list says of a pending notification; `nil` for a trigger of the plugin's.
    let listed: (calendar: String, zone: String)?

    /// Creates a trigger.
    public init(dateMatching dateComponents: DateComponents, repeats: Bool) {
        self.dateComponents = dateComponents
        listed = nil
        super.init(repeats: repeats)
    }

    /// The trigger of a pending notification, with the components that the text names.
    init(listed calendar: String, zone: String) {
        dateComponents = DateComponents(calendarText: calendar, zone: zone)
        listed = (calendar, zone)
        super.init(repeats: true)
    }

    /// The next delivery; `nil` if there is none.
    ///
    /// For a repeating trigger without a time zone it is that in the zone of this machine.
    public func nextTriggerDate() -> Date? {
        let now = Date.currentForRun
        let zone = dateComponents.timeZone ?? dateComponents.calendar?.timeZone
        guard let zone, zone != .ofMachine(at: now) else {
            // A zone is a fixed distance from UTC here; at the date it may be another one than now.
            return nextDate(after: now, in: .ofMachine(at: now)).flatMap { date in
                nextDate(after: now, in: .ofMachine(at: date))
            }
        }
        return nextDate(after: now, in: zone)
    }

    private func nextDate(after now: Date, in zone: TimeZone) -> Date? {
        var calendar = dateComponents.calendar ?? Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        var parts = dateComponents
        parts.calendar = nil
        parts.timeZone = nil
        return calendar.nextDate(after: now, matching: parts, matchingPolicy: .nextTime)
    }

    /// The schedule in the form of `tasks.json`: minute, hour, day, month and weekday.
    ///
    /// Components smaller than the given ones are at their minimum, larger ones match any value.
    ///
    /// - Throws: `UNError` for components that this form does not have.
    func calendarText() throws -> String {
        if let listed { return listed.calendar }
        let parts = dateComponents
        let others = [
            parts.era, parts.year, parts.quarter, parts.weekdayOrdinal, parts.weekOfMonth,
            parts.weekOfYear, parts.yearForWeekOfYear,
        ]
        guard others.allSatisfy({ $0 == nil }), parts.second ?? 0 == 0, parts.nanosecond ?? 0 == 0,
            parts.day == nil || parts.weekday == nil
        else {
            throw UNError(
                .notificationInvalidNoDate,
                "a repeating trigger has a minute, an hour, a month, and a day or a weekday"
            )
        }
        let named = [parts.minute, parts.hour, parts.day ?? parts.weekday, parts.month]
        let smallest = named.firstIndex { $0 != nil } ?? 0
        func field(_ value: Int?, _ place: Int, from least: Int) -> String {
            if let value { return "\(value)" }
            return place < smallest ? "\(least)" : "*"
        }
        let day = parts.weekday == nil ? field(parts.day, 2, from: 1) : "*"
        // Sunday is 1 for Apple and 0 for cron.
        let weekday = parts.weekday.map { "\(($0 + 6) % 7)" } ?? "*"
        return [
            field(parts.minute, 0, from: 0), field(parts.hour, 1, from: 0), day,
            field(parts.month, 3, from: 1), weekday,
        ].joined(separator: " ")
    }

    /// The zone of a repeating trigger in the form of `tasks.json`; empty for the host's.
    ///
    /// - Throws: `UNError` for a zone that has no name there.
    func zoneText() throws -> String {
        if let listed { return listed.zone }
        guard let zone = dateComponents.timeZone else { return "" }
        guard let name = zone.name(at: .currentForRun) else {
            throw UNError(
                .notificationInvalidNoDate,
                "no time zone is always \(zone.secondsFromGMT() / 60) minutes from UTC; name one, or whole hours"
            )
        }
        return name
    }
}

extension DateComponents {
    /// The components that a calendar of five fields names; a field of another form names none.
    fileprivate init(calendarText text: String, zone: String) {
        self.init()
        if !zone.isEmpty { timeZone = TimeZone(identifier: zone) }
        let fields = text.split(separator: " ").map { Int($0) }
        guard fields.count == 5 else { return }
        (minute, hour, day, month) = (fields[0], fields[1], fields[2], fields[3])
        // Sunday is 1 for Apple and 0 for cron.
        weekday = fields[4].map { $0 % 7 + 1 }
    }
}

extension Date {
    /// The current time; in a run, that of the host's clock.
    static var currentForRun: Date { TaskContext.current?.now ?? Date() }
}

/// A request to deliver a notification.
///
/// It replaces a pending one with the same identifier.
public final class UNNotificationRequest: NSObject {
    /// The identifier, 1 to 128 bytes.
    public let identifier: String
    /// The content.
    public let content: UNNotificationContent
    /// When it is delivered; `nil` means now.
    public let trigger: UNNotificationTrigger?

    /// Creates a request.
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

/// A delivered notification.
public final class UNNotification: NSObject {
    /// The request, as far as a response contains it: its identifier and content, without a trigger.
    public let request: UNNotificationRequest

    init(_ request: UNNotificationRequest) { self.request = request }
}

/// The action of a user who opens a notification.
public let UNNotificationDefaultActionIdentifier = "com.apple.UNNotificationDefaultActionIdentifier"
/// The action of a user who dismisses a notification.
public let UNNotificationDismissActionIdentifier = "com.apple.UNNotificationDismissActionIdentifier"

/// A user's response to a notification.
public class UNNotificationResponse: NSObject {
    /// The identifier of the action; `UNNotificationDefaultActionIdentifier` if it is none of the
    /// category's.
    public let actionIdentifier: String
    /// The notification.
    public let notification: UNNotification

    init(_ action: String, _ notification: UNNotification) {
        actionIdentifier = action
        self.notification = notification
    }
}

/// A user's response with a text.
public final class UNTextInputNotificationResponse: UNNotificationResponse {
    /// The text that the user entered.
    public let userText: String

    init(_ action: String, _ notification: UNNotification, text: String) {
        userText = text
        super.init(action, notification)
    }
}
