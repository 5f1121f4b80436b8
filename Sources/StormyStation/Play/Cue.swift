// SPDX-License-Identifier: Apache-2.0

/// An action of the player at a certain time: as the network, the operator, or the user.
package struct Cue: Sendable {
    /// The state of the play, as the player sees it.
    struct Scene {
        var runs: [RunEntry]
        var record: StationRecord
        var mishaps: Mishaps

        func run(of task: String) -> RunEntry? {
            runs.first { Story.is($0.task, of: task) }
        }

        /// Whether a request is held at the station, and a run of the task is in progress for it, or has
        /// ended.
        func isHolding(_ place: Mishaps.Place, run task: String, hasEnded: Bool) -> Bool {
            guard mishaps.isHolding(at: place), let run = run(of: task) else { return false }
            return run.hasEnded == hasEnded
        }
    }

    /// The text to print.
    var text: String
    /// Whether to kill the daemon and start it again.
    package var kills = false
    var isDue: @Sendable (Scene) -> Bool
    /// - Throws: `DaemonClient.Failure`.
    var give: @Sendable (Scene, DaemonClient) async throws -> Void = { _, _ in }

    /// Plans the mishaps at the start of the play.
    static func prepare(_ mishaps: Mishaps) {
        mishaps.plan(.hold, at: .forecast)
        mishaps.plan(.cut, at: .photo)
        mishaps.plan(.hold, at: .offset)
    }

    package static let stormy = [
        expire(Story.noon, while: .forecast, "the station has sent half of the forecast"),
        release(.forecast, after: Story.noon, "the station sends the rest of the forecast"),
        tap,
        expire(Story.photos, while: .offset, "the station has hung up on the photo half-way"),
        Cue(
            text: "that run is over: the daemon is killed with SIGKILL, and started again",
            kills: true,
            isDue: { scene in
                scene.isHolding(.offset, run: Story.photos, hasEnded: true)
                    && scene.runs.allSatisfy(\.hasEnded)
            }
        ),
    ]

    package static let tap = Cue(
        text: "the user taps the notification",
        isDue: { scene in
            scene.record.notifications.contains { $0.title == Story.storm }
                && scene.run(of: Story.notify)?.hasEnded == true
                && scene.run(of: Story.tap) == nil
        },
        give: { _, client in try await client.act(Story.upload, on: Story.storm) }
    )

    private static func expire(_ task: String, while place: Mishaps.Place, _ text: String) -> Cue {
        Cue(
            text: "\(text): the run's time is up",
            isDue: { $0.isHolding(place, run: task, hasEnded: false) },
            give: { scene, client in
                guard let run = scene.run(of: task) else { return }
                try await client.expire(run.id)
            }
        )
    }

    private static func release(
        _ place: Mishaps.Place,
        after task: String,
        _ text: String
    ) -> Cue {
        Cue(
            text: "that run is over: \(text)",
            isDue: { $0.isHolding(place, run: task, hasEnded: true) },
            give: { scene, _ in scene.mishaps.release(at: place) }
        )
    }
}
