// SPDX-License-Identifier: Apache-2.0

extension Row {
    /// Files from a server and to one, against the usual programs, with the same server.
    ///
    /// What comes and what goes lies in memory, so that the disk is not what is compared.
    static var transfers: [Row] {
        large("download of 1 GiB", "down", "curl, to a file", 1.2)
            + large("upload of 1 GiB", "up", "curl -T", 1)
            + files + flights
    }

    private static func large(
        _ name: String,
        _ way: String,
        _ client: String,
        _ target: Double
    ) -> [Row] {
        let (subject, floor) = (
            Step.subject("transfer", 1024, way), Step.subject("client", 1024, way)
        )
        func row(_ name: String, _ unit: String, _ metric: String, _ target: Target?) -> Row {
            Row(
                name: name,
                unit: unit,
                subject: Source(step: subject, metric: metric),
                floor: Floor(name: client, source: Source(step: floor, metric: metric)),
                target: target,
                reason: "each piece is handed from the connection to the disk's threads and back"
            )
        }
        return [
            row(name, "MiB/s", "mib-per-second", .atLeast(target)),
            row("\(name), processor time", "s", "processor-per-gib", nil),
        ]
    }

    private static var files: [Row] {
        func row(
            _ name: String,
            _ unit: String,
            _ metric: String,
            _ client: (name: String, word: String),
            _ place: String = "memory",
            _ target: Target? = nil
        ) -> Row {
            Row(
                name: name,
                unit: unit,
                subject: Source(step: .subject("files", 10_000, place), metric: metric),
                floor: Floor(
                    name: client.name,
                    source: Source(
                        step: .subject("client", 10_000, client.word, place),
                        metric: metric
                    )
                ),
                target: target,
                reason: "each file is two commits of the journal, a file of its own that is synced"
                    + " and renamed, and a dozen changes of task; curl syncs nothing"
            )
        }
        let curl = (name: "curl, 16 in parallel", word: "curl-files")
        let aria2 = (name: "aria2c, 16 in parallel", word: "aria2-files")
        let name = "files of 1 KiB, a transfer each, 16 in parallel"
        var rows = [
            row(name, "/s", "per-second", curl, "memory", .atLeast(1)),
            row("\(name), processor time", "us", "processor-us", curl),
            row("\(name), on a disk", "/s", "per-second", curl, "disk"),
        ]
        if Client.hasAria2 { rows.append(row(name, "/s", "per-second", aria2)) }
        return rows
    }

    private static var flights: [Row] {
        let flight = Step.subject("in-flight", 1000)
        return [
            Row(
                name: "RSS with 1,000 transfers in flight",
                unit: "KiB",
                subject: Source(step: flight, metric: "rss-kib")
            ),
            Row(
                name: "RSS of each of them",
                unit: "KiB",
                subject: Source(step: flight, metric: "each-kib")
            ),
            Row(
                name: "file of 128 KiB that is cut in the middle",
                unit: "us",
                subject: Source(step: .subject("resume", 1000, "cut"), metric: "p50"),
                floor: Floor(
                    name: "the same uncut",
                    source: Source(step: .subject("resume", 1000), metric: "p50")
                )
            ),
        ]
    }
}
