// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Something to do each day.
struct Habit: Codable, Identifiable {
    var id: String { name }
    var name: String
    var hour: Int
    var minute: Int
    var streak = 0
    var isDone = false
}

/// The habits, in one file.
enum HabitStore {
    private static var file: URL {
        URL.applicationSupportDirectory.appending(path: "habits.json")
    }

    static var all: [Habit] {
        get {
            guard let data = try? Data(contentsOf: file),
                let habits = try? JSONDecoder().decode([Habit].self, from: data)
            else {
                return [
                    Habit(name: "Read", hour: 20, minute: 30),
                    Habit(name: "Walk", hour: 7, minute: 0),
                ]
            }
            return habits
        }
        set {
            do {
                let folder = file.deletingLastPathComponent()
                try FileManager.default.createDirectory(
                    at: folder,
                    withIntermediateDirectories: true
                )
                try JSONEncoder().encode(newValue).write(to: file, options: .atomic)
            } catch {
                print("Could not save the habits: \(error)")
            }
        }
    }

    static func complete(_ name: String) {
        var habits = all
        guard let index = habits.firstIndex(where: { $0.name == name }) else { return }
        habits[index].isDone = true
        habits[index].streak += 1
        all = habits
    }
}
