// SPDX-License-Identifier: Apache-2.0

import BackgroundTasks
import Foundation
import UserNotifications

/// Begins a new day: resets what is done, and plans the day's reminders.
enum DayChange {
    static let identifier = "com.example.habits.daychange"

    static func schedule() {
        let calendar = Calendar.current
        let today = calendar.startOfDay(for: .now)
        let request = BGAppRefreshTaskRequest(identifier: identifier)
        request.earliestBeginDate = calendar.date(byAdding: .day, value: 1, to: today)
        try? BGTaskScheduler.shared.submit(request)
    }

    static func run() async {
        let center = UNUserNotificationCenter.current()
        let isAllowed = try? await center.requestAuthorization(options: [.alert, .sound, .badge])
        guard isAllowed == true else { return }
        var habits = HabitStore.all
        for index in habits.indices {
            if !habits[index].isDone { habits[index].streak = 0 }
            habits[index].isDone = false
        }
        HabitStore.all = habits
        center.removeAllPendingNotificationRequests()
        for habit in habits { await remind(of: habit, center) }
        await summarize(habits, center)
    }

    private static func remind(of habit: Habit, _ center: UNUserNotificationCenter) async {
        let content = content("Time to \(habit.name.lowercased())", of: habit)
        let time = DateComponents(hour: habit.hour, minute: habit.minute)
        let trigger = UNCalendarNotificationTrigger(dateMatching: time, repeats: true)
        let request = UNNotificationRequest(
            identifier: habit.id,
            content: content,
            trigger: trigger
        )
        do {
            try await center.add(request)
        } catch {
            print("Could not plan \(habit.name): \(error)")
        }
    }

    private static func summarize(_ habits: [Habit], _ center: UNUserNotificationCenter) async {
        guard let first = habits.first else { return }
        let content = content("\(habits.count) habits for today", of: first)
        let request = UNNotificationRequest(identifier: "summary", content: content, trigger: nil)
        try? await center.add(request)
    }

    private static func content(_ title: String, of habit: Habit) -> UNNotificationContent {
        let content = UNMutableNotificationContent()
        content.title = title
        content.body = habit.streak > 0 ? "\(habit.streak) days in a row" : "Begin today"
        content.categoryIdentifier = "reminder"
        content.userInfo = ["habit": habit.name]
        content.interruptionLevel = .timeSensitive
        return content
    }
}
