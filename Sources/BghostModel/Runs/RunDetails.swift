// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// Data that only few runs have.
///
/// It is a reference, so that the record of a run without details stays small.
package final class RunDetails: Equatable, Sendable {
    /// The most bytes of a run's output that are stored; the first and the last ones are kept.
    package static let outputBytesMax = 64 << 10

    package let crash: CrashReport?
    /// What its handler says that it failed with.
    package let error: RunError?
    /// The lines that the run printed or logged, each with its line break.
    package let output: String
    /// The checkpoint that the run's request has now; only in the answer about one run.
    package let checkpoint: CheckpointSummary?

    package init(
        crash: CrashReport? = nil,
        error: RunError? = nil,
        output: String = "",
        checkpoint: CheckpointSummary? = nil
    ) {
        self.crash = crash
        self.error = error
        self.output = output
        self.checkpoint = checkpoint
    }

    package static func == (a: RunDetails, b: RunDetails) -> Bool {
        a.crash == b.crash && a.error == b.error && a.output == b.output
            && a.checkpoint == b.checkpoint
    }

    // MARK: The store

    /// The crash and the error as text for the store; `nil` without either.
    package var stored: String? {
        guard crash != nil || error != nil else { return nil }
        var writer = JSONWriter()
        writer.object { writer in
            (crash ?? CrashReport()).writeMembers(to: &writer)
            if let error { writer.member("error") { error.write(to: &$0) } }
        }
        return writer.text
    }

    package convenience init?(stored: String) {
        // A caller that reads a store takes `nil` for damage.
        guard let json = try? JSONReader.parse(stored) else { return nil }
        let crash = CrashReport(json: json)
        self.init(
            crash: crash.isEmpty ? nil : crash,
            error: json["error"].map { RunError(json: $0) }
        )
    }
}

/// What the handler of a run says that the run failed with; a part that is "" or 0 is unknown.
package struct RunError: Equatable, Sendable {
    /// The type of the error, as the language of the handler names it.
    package var type: String
    /// The source file.
    package var file: String
    /// The line of the file, from 1.
    package var line: UInt32

    package init(type: String, file: String = "", line: UInt32 = 0) {
        self.type = type
        self.file = file
        self.line = line
    }

    /// The source file with its line, as compilers print them; "" if the file is unknown.
    package var place: String {
        file.isEmpty || line == 0 ? file : "\(file):\(line)"
    }

    /// One line for people: the type and the place.
    package var sentence: String {
        if type.isEmpty || place.isEmpty { return type + place }
        return "\(type) at \(place)"
    }

    fileprivate func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("type", type)
            writer.member("file", file)
            writer.member("line", line)
        }
    }

    fileprivate init(json: JSONNode) {
        self.init(
            type: json["type"]?.string ?? "",
            file: json["file"]?.string ?? "",
            line: json["line"].flatMap { UInt32($0.text) } ?? 0
        )
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

    /// Writes the members of an object.
    fileprivate func writeMembers(to writer: inout JSONWriter) {
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

    /// Parses the members that `writeMembers` wrote; parts beyond the limits are omitted.
    fileprivate init(json: JSONNode) {
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
}
