// SPDX-License-Identifier: Apache-2.0

/// The text of a demo: the link, what to click, and the commands that do the same.
package struct DemoGuide: Sendable {
    /// The page's address with its ticket.
    package var link: String
    /// The folder of the programs, absolute.
    package var programs: String
    /// The path of the daemon's control socket.
    package var control: String
    /// The station's port.
    package var station: Int
    /// Whether the demo has paused its task.
    package var hasPaused: Bool

    package init(
        link: String,
        programs: String,
        control: String,
        station: Int,
        hasPaused: Bool
    ) {
        self.link = link
        self.programs = programs
        self.control = control
        self.station = station
        self.hasPaused = hasPaused
    }

    private struct Row {
        var place: String
        var action: String
        var command: String
    }

    private var rows: [Row] {
        let task = "com.example.demo"
        var rows = [
            Row(
                place: "Overview",
                action: "see what fails, runs and comes",
                command: "bghost status"
            ),
            Row(
                place: "Tasks › minutely",
                action: "Run now, or wait for the minute",
                command: "bghost trigger \(task).minutely --wait"
            ),
            Row(
                place: "Tasks › vpn",
                action: "read why it waits",
                command: "bghost why \(task).vpn"
            ),
            Row(
                place: "Waiting › retried",
                action: "see its attempts and the next one",
                command: "bghost pending \(task).retried"
            ),
            Row(
                place: "Dead › dead",
                action: "Redrive, or Discard",
                command: "bghost redrive --task \(task).dead"
            ),
            Row(
                place: "Runs",
                action: "open one: its output, limits and use",
                command: "bghost runs; bghost show RUN"
            ),
            Row(
                place: "Tasks › overrun",
                action: "open its run: killed after its grace",
                command: "bghost runs --state killed"
            ),
            Row(
                place: "System",
                action: "see the upload that outlives its run",
                command: "bghost transfers list"
            ),
            Row(
                place: "Logs",
                action: "follow what happens",
                command: "bghost logs -f"
            ),
        ]
        if hasPaused {
            rows.insert(
                Row(
                    place: "Tasks › paused",
                    action: "Resume",
                    command: "bghost resume \(Demo.pausedTask)"
                ),
                at: 3
            )
        }
        return rows
    }

    package var lines: [String] {
        let widths = [
            rows.map(\.place.count).max() ?? 0, rows.map(\.action.count).max() ?? 0,
        ]
        let table = rows.map { row in
            "  \(padded(row.place, widths[0]))  \(padded(row.action, widths[1]))  \(row.command)"
        }
        return [
            "The demo runs. Open this link within a minute; it works once:",
            "",
            "  \(link)",
            "",
            "Another link, and the commands below, in another terminal:",
            "",
            "  export PATH=\(quoted(programs)):$PATH BGHOST_CONTROL=\(quoted(control))",
            "  bghost dashboard",
            "",
            "What to look at in the page, and the command for the same:",
            "",
        ] + table + [
            "",
            "The server of the sample holds the answer to the upload. It sends it after:",
            "",
            "  curl -X DELETE http://\(StationServer.address):\(station)/mishaps",
            "",
            "Ctrl-C ends the daemon and its workers, and removes their files.",
        ]
    }

    private func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: width - text.count)
    }

    /// A word of the shell.
    private func quoted(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."),
                UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        return isPlain ? text : "'\(text.replacing("'", with: #"'\''"#))'"
    }
}
