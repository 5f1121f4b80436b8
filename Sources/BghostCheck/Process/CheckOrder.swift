// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

/// The instructions for a process that performs one check, passed as the text of its only argument.
struct CheckOrder: Equatable, Sendable {
    /// Absolute path.
    var file: String
    var check: String
    /// `nil` for a check of the whole plugin.
    var handler: String?
    /// A JSON object for each run.
    var parameters: String
    /// A JSON object for open().
    var config: String
    var seed: UInt64
    var runtimeMilliseconds: UInt32
    var graceMilliseconds: UInt32
    /// Absolute path; the folder is empty except for files of the other of two processes.
    var dataDirectory: String
    /// Which of two processes this is for; `nil` if one process performs the check.
    var place: Int?

    var text: String {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("file", file)
            writer.member("check", check)
            writer.member("handler", handler)
            writer.member("parameters", parameters)
            writer.member("config", config)
            writer.member("seed", String(seed))
            writer.member("runtime", String(runtimeMilliseconds))
            writer.member("grace", String(graceMilliseconds))
            writer.member("data", dataDirectory)
            if let place { writer.member("place", String(place)) }
        }
        return writer.text
    }

    init(
        file: String,
        check: String,
        handler: String?,
        parameters: String,
        config: String,
        seed: UInt64,
        runtimeMilliseconds: UInt32,
        graceMilliseconds: UInt32,
        dataDirectory: String
    ) {
        self.file = file
        self.check = check
        self.handler = handler
        self.parameters = parameters
        self.config = config
        self.seed = seed
        self.runtimeMilliseconds = runtimeMilliseconds
        self.graceMilliseconds = graceMilliseconds
        self.dataDirectory = dataDirectory
    }

    /// Parses the result of `text`; `nil` for any other text.
    init?(text: String) {
        // The caller ends the process with a status that reports the error.
        guard let node = try? JSONReader.parse(Array(text.utf8), dialect: .strict),
            let file = node["file"]?.string, let check = node["check"]?.string,
            let parameters = node["parameters"]?.string, let config = node["config"]?.string,
            let seed = node["seed"]?.string.flatMap({ UInt64($0) }),
            let runtime = node["runtime"]?.string.flatMap({ UInt32($0) }),
            let grace = node["grace"]?.string.flatMap({ UInt32($0) }),
            let data = node["data"]?.string
        else { return nil }
        self.init(
            file: file,
            check: check,
            handler: node["handler"]?.string,
            parameters: parameters,
            config: config,
            seed: seed,
            runtimeMilliseconds: runtime,
            graceMilliseconds: grace,
            dataDirectory: data
        )
        place = node["place"]?.string.flatMap { Int($0) }
    }
}
