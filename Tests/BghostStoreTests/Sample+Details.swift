// SPDX-License-Identifier: Apache-2.0

import BghostModel

extension Sample {
    /// The end of a run that has all that few runs have.
    static func detailedRecord(
        _ number: Int,
        request: Int,
        version: String = "1.2",
        output: String = "one\ntwo é\n"
    ) -> RunRecord {
        var record = ended(number, request: request)
        record.outcome = .crashed(.signalled(11))
        record.kind = .processing
        record.origin = RunOrigin(version: version, library: "ab12", manifest: "cd34")
        record.details = RunDetails(
            crash: CrashReport(
                line: "Fatal error: \"no\"",
                place: "libx.so+0x10 (f+0x2)",
                address: "0x0",
                stacks: [CrashReport.ThreadStack(thread: "main 7", frames: ["a", "b"])]
            ),
            error: RunError(type: "ParseError", file: "é/x.swift", line: .max),
            output: output
        )
        return record
    }
}
