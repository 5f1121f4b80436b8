// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import BghostTerminal

extension VirtualBehavior: ExpressibleByArgument {}

/// A reload of another manifest during a simulation.
struct VirtualReload: Sendable {
    /// The virtual time from the start to the reload.
    let after: Duration
    let file: String

    init(text: String) throws {
        let parts = text.split(separator: "=", maxSplits: 1)
        guard parts.count == 2, let after = HumanText.duration(from: String(parts[0])) else {
            throw ValidationError("'\(text)' is no reload such as 30d=other.json")
        }
        (self.after, file) = (after, String(parts[1]))
    }
}

/// The options of `bghost run` for a virtual clock.
struct VirtualClockOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Play the manifest's schedules under a virtual clock instead, with no plugin and no"
                + " state; the same seed, manifest and --from bring the same events, whatever the"
                + " present date.",
            valueName: "seed=N"
        ),
        transform: Self.seed(from:)
    )
    var virtualClock: UInt64?

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp(
            "With --virtual-clock: how much time is played.",
            valueName: "time"
        ),
        transform: Self.length(from:)
    )
    var length = Duration.seconds(365 * 86_400)

    @Option(
        help: ArgumentHelp(
            "With --virtual-clock: when it begins (default: 2026-01-01T00:00:00Z).",
            valueName: "time"
        ),
        transform: Submit.time(from:)
    )
    var from: Int64?

    /// The default start of a simulation, Unix nanoseconds: 2026-01-01T00:00:00Z.
    ///
    /// It is a fixed date, so that a seed leads to the same events on each day.
    static let defaultStart: Int64 = 1_767_225_600_000_000_000

    @Option(
        help: ArgumentHelp(
            "With --virtual-clock: how handlers behave, perfect, usual or hostile.",
            valueName: "how"
        )
    )
    var behavior = VirtualBehavior.usual

    @Option(
        name: .customLong("reload"),
        help: ArgumentHelp(
            "With --virtual-clock: take up another manifest after so much time; may be repeated.",
            valueName: "time=file"
        ),
        transform: VirtualReload.init(text:)
    )
    var reloads: [VirtualReload] = []

    @Flag(help: "With --virtual-clock: write each event, and not only the sums.")
    var trace = false

    @Flag(help: "With --virtual-clock: write JSON, one object in each line.")
    var json = false

    private static func seed(from text: String) throws -> UInt64 {
        let digits = text.hasPrefix("seed=") ? String(text.dropFirst(5)) : text
        guard let seed = UInt64(digits) else {
            throw ValidationError("'\(text)' is no seed such as seed=7")
        }
        return seed
    }

    private static func length(from text: String) throws -> Duration {
        guard let length = HumanText.duration(from: text), length > .zero else {
            throw ValidationError("'\(text)' is no length of time such as 365d or 12h")
        }
        return length
    }

    /// Whether an option requires a virtual clock and there is none.
    var isMisplaced: Bool {
        virtualClock == nil
            && (from != nil || trace || json || behavior != .usual || !reloads.isEmpty)
    }
}
