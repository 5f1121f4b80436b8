// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import StormyStation
import Testing

@Suite struct StoryTests {
    @Test func `Finds nothing when both sides agree`() {
        #expect(Story.stormy.disagreements(PlayFixture.evidence).isEmpty)
    }

    /// A change of the evidence, and what must then be said.
    struct Spoilt: Sendable, CustomTestStringConvertible {
        var says: [String]
        var change: @Sendable (inout Evidence) -> Void

        init(_ says: String..., change: @escaping @Sendable (inout Evidence) -> Void) {
            self.says = says
            self.change = change
        }

        var testDescription: String { says.joined(separator: "; ") }
    }

    static let spoilt = [
        Spoilt("noon: 0 runs, 1 expected") { $0.runs.removeFirst() },
        Spoilt("stormy.notify: 1 run, 2 expected") { $0.runs.removeLast() },
        Spoilt("photos: 2 runs, 1 expected") { $0.runs.append($0.runs[5]) },
        Spoilt("notificationAction.weather-check.*: 0 runs, 1 expected") { $0.runs.remove(at: 4) },
        Spoilt("run 01A: failed (no network), succeeded expected") {
            $0.runs[0].outcome = "failed"
            $0.runs[0].message = "no network"
        },
        Spoilt("run 01A: was asked to stop: not, expired expected") { $0.runs[0].stopReason = nil },
        Spoilt("run 01A: was asked to stop: drain, expired expected") {
            $0.runs[0].stopReason = "drain"
        },
        Spoilt("run 01B: was asked to stop: expired, not expected") {
            $0.runs[1].stopReason = "expired"
        },
        Spoilt("run 01B: has not ended, it is running") {
            $0.runs[1].state = "running"
            $0.runs[1].outcome = nil
        },
        Spoilt("run 01C: crashed(SIGSEGV), succeeded expected") {
            $0.runs[2].outcome = "crashed(SIGSEGV)"
        },
        Spoilt("run 01D: cancelledClean, killed(graceExceeded) expected") {
            $0.runs[3].outcome = "cancelledClean"
        },
        Spoilt("run 01D: held its slot for 4.01 s, at most 4 s allowed") {
            $0.runs[3].durationSeconds = 4.01
        },
        Spoilt("run 01D: was killed after 1.99 s, before its 2 s were over") {
            $0.runs[3].durationSeconds = 1.99
        },
        Spoilt("run 01D: was killed, but its run time or limits are not told") {
            $0.runs[3].graceSeconds = nil
        },
        Spoilt("com.example.other, run 01Z: lost, succeeded expected") {
            $0.runs.append(RunEntry(id: "01Z", task: "com.example.other", outcome: "lost"))
        },
        Spoilt("noon: its next run is to begin at noon, and this is what waits: none") {
            $0.next = []
        },
        Spoilt("this is what waits: 2026-11-22T13:00:00.000Z") {
            $0.next = ["2026-11-22T13:00:00.000Z"]
        },
        Spoilt("was asked for 0 forecasts, 1 expected") { $0.record.forecasts = [] },
        Spoilt("was asked for 2 forecasts, 1 expected") {
            $0.record.forecasts += $0.record.forecasts
        },
        Spoilt("the storm is not in it") { $0.record.forecasts[0].stormHours = 0 },
        Spoilt("has sent 600 B for one of 400 B: not one body") {
            $0.record.forecasts[0].bytesSent = 600
        },
        Spoilt("the forecast was there at 2026-11-21T14:25:30.000Z, and its run over only at") {
            $0.runs[0].endedAt = "2026-11-21T14:25:30.000Z"
        },
        Spoilt("its run over only at no time") { $0.runs[0].endedAt = nil },
        Spoilt("the photo storm.jpg (sha-256 \(PhotoTests.hex)) reached the station not at all") {
            $0.record.photos = []
        },
        Spoilt("reached the station 2 times") { $0.record.photos += $0.record.photos },
        Spoilt("not at all", "storm.jpg reached the station with a wrong digest") {
            $0.record.photos[0].verified = false
        },
        Spoilt("not at all", "storm.jpg reached the station and is not in the spool folder") {
            $0.record.photos[0].sha256 = "00"
        },
        Spoilt("holds no photo", "is not in the spool folder") { $0.spool = [] },
        Spoilt("no photo came in two pieces") { $0.record.photos[0].pieces = [3] },
        Spoilt("storm.jpg came in pieces that are not 3 B together: [2, 3]") {
            $0.record.photos[0].pieces = [2, 3]
        },
        Spoilt("the photo was there at 2026-11-21T14:25:30.000Z, and its run over only at") {
            $0.runs[5].endedAt = "2026-11-21T14:25:31.000Z"
        },
        Spoilt("got 0 notifications \"Photo uploaded\", 1 expected") {
            $0.record.notifications.removeLast()
        },
        Spoilt(
            "got 0 notifications \"A storm is coming\", 1 expected",
            "got 2 notifications \"Photo uploaded\", 1 expected"
        ) {
            $0.record.notifications[0] = $0.record.notifications[1]
        },
        Spoilt("that is not in the story: \"Hello\"") {
            $0.record.notifications.append(PlayFixture.notification("Hello"))
        },
        Spoilt("the station refused 1 request") { $0.record.refused = 1 },
        Spoilt("more reached the station") { $0.record.unrecorded = 1 },
        Spoilt("told to stop, it exited with 1") { $0.daemonEnd = .exited(1) },
        Spoilt("told to stop, it was killed (signal 9)") { $0.daemonEnd = .signalled(9) },
    ]

    @Test(arguments: spoilt) func `Names each disagreement`(_ spoilt: Spoilt) {
        var evidence = PlayFixture.evidence
        spoilt.change(&evidence)
        let said = Story.stormy.disagreements(evidence).map(\.text)
        #expect(said.count == spoilt.says.count, "\(said)")
        for (text, part) in zip(said, spoilt.says) {
            #expect(text.contains(part))
        }
    }

    @Test(arguments: [2.0, 4.0]) func `Allows the bounds of a kill`(duration: Double) {
        var evidence = PlayFixture.evidence
        evidence.runs[3].durationSeconds = duration
        #expect(Story.stormy.disagreements(evidence).isEmpty)
    }

    /// An at-least-once sender may send twice; its key makes that one notification.
    @Test func `Allows repeats and other tasks that succeed`() {
        var evidence = PlayFixture.evidence
        evidence.record.notifications[0].repeats = 3
        evidence.runs.append(RunEntry(id: "01Z", task: "com.example.other", outcome: "succeeded"))
        #expect(Story.stormy.disagreements(evidence).isEmpty)
    }

    @Test func `Knows how far the daemon is`() {
        var runs = PlayFixture.runs
        #expect(Story.stormy.progress(of: []) == .quiet)
        #expect(Story.stormy.progress(of: runs) == .complete)
        #expect(Story.stormy.progress(of: runs.dropLast()) == .quiet)
        runs[3].state = "cancelling"
        #expect(Story.stormy.progress(of: runs) == .active)
    }

    /// The sample manifest names the tasks of the story, the station's port, and a photo.
    @Test func `Fits the sample manifest`() throws {
        let folder = "\(PackageRoot.path)/Config"
        let manifest = try String(decoding: File.read("\(folder)/tasks.json"), as: UTF8.self)
        #expect(manifest.contains("127.0.0.1:\(StationServer.defaultPort)"))
        for part in Story.stormy.parts {
            // The host names the others, after sessions and plugins.
            let own = part.task.split(separator: ".").first {
                !["urlSession", "notificationAction"].contains($0)
            }
            let key = part.task.hasPrefix("com.") ? part.task : String(own ?? "")
            #expect(manifest.contains("\"\(key)\": {"), "\(key)")
        }
        #expect(try SpooledPhoto.all(in: "\(folder)/spool").count == 1)
    }
}
