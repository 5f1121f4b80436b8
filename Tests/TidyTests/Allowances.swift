// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import Testing

/// The known exceptions: `allowed.txt`, one line `rule path count` for each file.
///
/// A count may only shrink: the test fails where a file breaks the rule more often, and also where it
/// breaks it less often than the list says, so that the list is shortened with the code.
struct Allowances {
    private var counts: [String: [String: Int]] = [:]

    init() throws {
        let bytes = try BghostTestSupport.File.read(
            "\(PackageRoot.path)/Tests/TidyTests/allowed.txt"
        )
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            guard !line.hasPrefix("#") else { continue }
            let words = line.split(separator: " ")
            let count = try #require(words.count == 3 ? Int(words[2]) : nil, "\(line)")
            counts[String(words[0]), default: [:]][String(words[1])] = count
        }
    }

    /// Compares what was found with what is allowed.
    ///
    /// - Parameter found: for each path, where the rule is broken.
    func compare(_ rule: String, _ found: [String: [String]]) {
        let allowed = counts[rule] ?? [:]
        for (path, places) in found.sorted(by: { $0.key < $1.key }) {
            let most = allowed[path] ?? 0
            if places.count > most {
                Issue.record("\(path): \(rule): \(places.joined(separator: "\n  "))")
            }
        }
        for (path, most) in allowed {
            let count = found[path]?.count ?? 0
            if count < most {
                Issue.record("allowed.txt allows \(most) of \(rule) in \(path): write \(count)")
            }
        }
    }
}
