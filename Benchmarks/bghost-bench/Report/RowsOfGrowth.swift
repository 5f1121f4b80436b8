// SPDX-License-Identifier: Apache-2.0

extension Row {
    /// How long the rare events that look at every identifier hold the reactor's thread.
    static var growth: [Row] {
        // A look at each identifier; what checks or searches each again has no target yet.
        let events: [(name: String, metric: String, limit: Double?)] = [
            ("a requirement of no task changes", "fact-of-no-task", 5),
            ("a requirement of all changes", "fact-of-all", nil),
            ("everything is paused and resumed", "pause-and-resume", 1),
            ("the clock is set an hour forward", "clock-step", 5),
            ("reload of the same manifest", "reload", 5),
            ("reload that changes their task", "reload-of-their-task", nil),
            ("reload with a family inside theirs", "reload-with-an-inner-family", nil),
        ]
        return events.flatMap { event in
            [(100_000, "100k"), (1_000_000, "1M")].map { count, size in
                Row(
                    name: "\(event.name), \(size) identifiers",
                    unit: "ms",
                    subject: Source(step: .subject("events", count), metric: event.metric),
                    target: count == 100_000 ? event.limit.map { .noMore($0) } : nil
                )
            }
        }
    }
}
