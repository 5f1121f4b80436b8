import BackgroundTasks
import Foundation
import SwiftUI

/// The app as it is on iOS: the flags in Package.swift make a plugin of it.
@main
struct TemplateNameIOSApp: App {
    var body: some Scene {
        WindowGroup {}
            .backgroundTask(.appRefresh("org.example.template-name.primes")) {
                try await refresh()
            }
    }
}

/// The parameters of a run, from the manifest and from requests: check them.
///
/// iOS has no parameters: what `TaskContext` gives, also progress and the log, is bghost's own.
struct PrimeRange: Codable, Sendable {
    /// The largest number to look at; 1,000,000 if there is none.
    var limit: Int?
}

/// The background task: requests the next one, and counts prime numbers.
func refresh() async throws {
    let context = TaskContext.current
    let limit = try context?.parameters(as: PrimeRange.self).limit ?? 1_000_000
    guard (2...100_000_000).contains(limit) else {
        // Another attempt would fail too.
        throw PermanentFailure("`limit` must be an integer of 2 to 100000000")
    }
    scheduleNext()
    var count = 0
    for number in 2...limit {
        if number.isMultiple(of: 1024) {
            try Task.checkCancellation()  // throws when the run's time is over
            context?.progress(number, of: limit, "counting")
        }
        if isPrime(number) { count += 1 }
    }
    // A closure of `.backgroundTask` returns nothing: the result is stored.
    UserDefaults.standard.set(count, forKey: "primes")
}

func scheduleNext() {
    let request = BGAppRefreshTaskRequest(
        identifier: "org.example.template-name.primes"
    )
    request.earliestBeginDate = Date(timeIntervalSinceNow: 24 * 3600)
    do {
        try BGTaskScheduler.shared.submit(request)
    } catch {
        // Its description names what tasks.json lacks.
        TaskContext.current?.log(.warning, "no next run: \(error)")
    }
}

func isPrime(_ number: Int) -> Bool {
    guard !number.isMultiple(of: 2) else { return number == 2 }
    var divisor = 3
    while divisor * divisor <= number {
        guard !number.isMultiple(of: divisor) else { return false }
        divisor += 2
    }
    return true
}
