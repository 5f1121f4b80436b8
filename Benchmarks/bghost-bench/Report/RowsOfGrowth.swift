// SPDX-License-Identifier: Apache-2.0

extension Row {
    /// How long the rare events that look at every identifier hold the reactor's thread.
    static var growth: [Row] {
        let events = [
            ("a requirement of no task changes", "fact-of-no-task"),
            ("a requirement of all changes", "fact-of-all"),
            ("everything is paused and resumed", "pause-and-resume"),
            ("the clock is set an hour forward", "clock-step"),
            ("reload of the same manifest", "reload"),
            ("reload that changes their task", "reload-of-their-task"),
            ("reload with a family inside theirs", "reload-with-an-inner-family"),
        ]
        return events.flatMap { name, metric in
            [(100_000, "100k", 5.0), (1_000_000, "1M", nil)].map { count, size, limit in
                Row(
                    name: "\(name), \(size) identifiers",
                    unit: "ms",
                    subject: Source(step: .subject("events", count), metric: metric),
                    target: limit.map { .noMore($0) }
                )
            }
        }
    }
}
