// SPDX-License-Identifier: Apache-2.0

internal import Glibc

// What the sandbox of a worker costs: the same with it and without.
extension Row {
    static var sandboxes: [Row] {
        func start(_ count: Int, _ words: String...) -> Source {
            Source(
                step: Step(
                    program: .bench,
                    words: ["first-instruction"] + words,
                    count: count
                ),
                metric: "p50"
            )
        }
        var rows = [
            Row(
                name: "cold C worker, with its sandbox",
                unit: "us",
                subject: start(60, "cold", "c"),
                floor: Floor(name: "the same without", source: start(60, "cold", "c", "open"))
            ),
            Row(
                name: "warm C worker, with its sandbox",
                unit: "us",
                subject: start(10_000, "c"),
                floor: Floor(name: "the same without", source: start(10_000, "c", "open")),
                target: .atMost(1.1),
                reason: "the filter is asked at each system call"
            ),
        ]
        if Bubblewrap.path != nil {
            rows.append(
                Row(
                    name: "cold C worker, against bwrap",
                    unit: "us",
                    subject: start(60, "cold", "c"),
                    floor: Floor(
                        name: "bwrap with an empty program",
                        source: Source(step: .subject("bwrap", 60), metric: "p50")
                    ),
                    target: .atMost(1)
                )
            )
        }
        return rows
    }
}
