// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import BghostCore

extension VirtualManners: ExpressibleByArgument {}

/// Another manifest, taken up in the midst of a play.
struct VirtualReload: Sendable {
    /// After how much of its time.
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

/// What `bghost run` needs to know to play under a virtual clock.
struct VirtualClockOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Play the manifest's schedules under a virtual clock instead, with no plugin and no"
                + " state; the same seed brings the same events.",
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
            "With --virtual-clock: when it begins (default: now).",
            valueName: "time"
        ),
        transform: Submit.time(from:)
    )
    var from: Int64?

    @Option(
        help: ArgumentHelp(
            "With --virtual-clock: how handlers behave, perfect, usual or hostile.",
            valueName: "how"
        )
    )
    var manners = VirtualManners.usual

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

    /// Whether something was asked that only a virtual clock has.
    var isMisplaced: Bool {
        virtualClock == nil
            && (from != nil || trace || json || manners != .usual || !reloads.isEmpty)
    }
}
