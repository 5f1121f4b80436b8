import BackgroundTasks
import BackgroundTasksTesting
import Testing

@testable import TemplateName

struct PrimesTests {
    @Test func `A run counts primes and reports its progress`() async throws {
        let host = try TestHost(plugin)
        let run = try await host.launch("primes", parameters: PrimeRange(limit: 10_000))
        #expect(run.outcome == .succeeded)
        #expect(try run.result(as: Primes.self) == Primes(count: 1229, largest: 9973))
        #expect(run.progress?.total == 10_000)
    }

    @Test func `A wrong limit is refused`() async throws {
        let run = try await TestHost(plugin).launch("primes", parameters: PrimeRange(limit: 1))
        #expect(run.outcome == .failed)
        #expect(run.message.contains("`limit`"))
    }

    @Test func `A run stops when its time is over`() async throws {
        // The host expires a run that neither waits nor ends within its patience.
        let host = try TestHost(plugin, patience: .milliseconds(100))
        let long = PrimeRange(limit: 100_000_000)
        let run = try await host.launchAndExpire("primes", parameters: long)
        #expect(run.outcome == .cancelled)
    }
}
