import BackgroundTasks

/// The plugin: its id, its version, and a handler for each sort of work.
let plugin = Plugin(id: "org.example.template-name", version: "0.1.0") {
    Handler("primes") { (context, range: PrimeRange) in
        try countPrimes(in: range, context)
    }
}

/// The parameters of a run, from the manifest and from requests: check them.
struct PrimeRange: Codable, Sendable {
    /// The largest number to look at; 1,000,000 if there is none.
    var limit: Int?
}

/// The result of a run.
struct Primes: Codable, Equatable {
    var count = 0
    var largest = 0
}

/// Counts the prime numbers up to a limit.
func countPrimes(in range: PrimeRange, _ context: TaskContext) throws -> Primes {
    let limit = range.limit ?? 1_000_000
    guard (2...100_000_000).contains(limit) else {
        // Another attempt would fail too.
        throw PermanentFailure("`limit` must be an integer of 2 to 100000000")
    }
    context.log(.info, "counting")
    var primes = Primes()
    for number in 2...limit {
        if number.isMultiple(of: 1024) {
            try Task.checkCancellation()  // throws when the run's time is over
            context.progress(number, of: limit, "counting")
        }
        guard isPrime(number) else { continue }
        primes.count += 1
        primes.largest = number
    }
    return primes
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
