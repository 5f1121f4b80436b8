// SPDX-License-Identifier: Apache-2.0

package import BghostBase

/// Data that only few runs have.
///
/// It is a reference, so that the record of a run without details stays small.
package final class RunDetails: Equatable, Sendable {
    /// The most bytes of a run's output that are stored; the first and the last ones are kept.
    package static let outputBytesMax = 64 << 10

    package let crash: CrashReport?
    /// The lines that the run printed or logged, each with its line break.
    package let output: String
    /// The checkpoint that the run's request has now; only in the answer about one run.
    package let checkpoint: CheckpointSummary?

    package init(
        crash: CrashReport? = nil,
        output: String = "",
        checkpoint: CheckpointSummary? = nil
    ) {
        self.crash = crash
        self.output = output
        self.checkpoint = checkpoint
    }

    package static func == (a: RunDetails, b: RunDetails) -> Bool {
        a.crash == b.crash && a.output == b.output && a.checkpoint == b.checkpoint
    }
}

/// The reason for which a worker crashed or did not stop, as far as it is known.
package struct CrashReport: Equatable, Sendable {
    /// The last line on stderr, where runtimes print the reason for an abort; "" if there is none.
    package var line: String
    /// The faulting instruction as library and offset, and its function if it has a name; "" if unknown.
    package var place: String
    /// The faulting memory address, hexadecimal; "" if the signal has none.
    package var address: String
    /// The stacks of the threads that could be read.
    package var stacks: [ThreadStack]

    package struct ThreadStack: Equatable, Sendable {
        /// The name and the id of the thread.
        package var thread: String
        /// The frames in the format of `place`, the innermost first.
        package var frames: [String]

        package init(thread: String, frames: [String]) {
            self.thread = thread
            self.frames = frames
        }
    }

    static let threadsMax = 32
    static let framesMax = 32
    private static let textBytesMax = 512

    package init(
        line: String = "",
        place: String = "",
        address: String = "",
        stacks: [ThreadStack] = []
    ) {
        self.line = line
        self.place = place
        self.address = address
        self.stacks = stacks
    }

    package var isEmpty: Bool {
        line.isEmpty && place.isEmpty && address.isEmpty && stacks.isEmpty
    }

    /// One line for people: the last line, the place and the address.
    package var sentence: String {
        let at = place.isEmpty ? "" : "at \(place)"
        let memory = address.isEmpty ? "" : "memory address \(address)"
        return [line, at, memory].filter { !$0.isEmpty }.joined(separator: ", ")
    }

    // MARK: JSON

    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("line", line)
            writer.member("place", place)
            writer.member("address", address)
            writer.member("stacks") { writer in
                writer.array { writer in
                    for stack in stacks {
                        writer.object { writer in
                            writer.member("thread", stack.thread)
                            writer.member("frames") { writer in
                                writer.array { writer in stack.frames.forEach { writer.value($0) } }
                            }
                        }
                    }
                }
            }
        }
    }

    /// Parses the format of `write`; parts beyond the limits are omitted.
    package init(json: JSONNode) {
        func text(_ node: JSONNode?) -> String {
            String(decoding: (node?.string ?? "").utf8.prefix(Self.textBytesMax), as: UTF8.self)
        }
        self.init(
            line: text(json["line"]),
            place: text(json["place"]),
            address: text(json["address"]),
            stacks: (json["stacks"]?.array ?? []).prefix(Self.threadsMax).map { stack in
                ThreadStack(
                    thread: text(stack["thread"]),
                    frames: (stack["frames"]?.array ?? []).prefix(Self.framesMax).map { text($0) }
                )
            }
        )
    }

    /// The text for the store.
    package var stored: String {
        var writer = JSONWriter()
        write(to: &writer)
        return writer.text
    }

    package init?(stored: String) {
        // A caller that reads a store takes `nil` for damage.
        guard let json = try? JSONReader.parse(stored) else { return nil }
        self.init(json: json)
    }
}
