import BackgroundTasks
import BackgroundTasksTesting
import SwiftUI
import Testing

@testable import TemplateNameIOS

private let plugin = Plugin(
    id: TemplateNameIOSApp.pluginID,
    version: TemplateNameIOSApp.pluginVersion,
    app: TemplateNameIOSApp.self
)

struct TemplateNameIOSAppTests {
    private let task = "org.example.template-name.primes"

    @Test func `A run counts primes and requests the next one`() async throws {
        let host = try TestHost(plugin)
        let run = try await host.launch(task, parameters: PrimeRange(limit: 10_000))
        #expect(run.outcome == .succeeded)
        #expect(run.progress?.total == 10_000)
        #expect(host.pending.map(\.identifier) == [task])
    }

    @Test func `A run stops when its time is over`() async throws {
        // The host expires a run that neither waits nor ends within its patience.
        let host = try TestHost(plugin, patience: .milliseconds(100))
        let long = PrimeRange(limit: 100_000_000)
        let run = try await host.launchAndExpire(task, parameters: long)
        #expect(run.outcome == .cancelled)
    }
}
