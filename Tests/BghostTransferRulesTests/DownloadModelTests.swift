// SPDX-License-Identifier: Apache-2.0

import BghostTransferRules
import BghostTestSupport
import Testing

/// A server whose file changes, connections that break, kills and power cuts: what is complete in
/// the end is one version, and not a byte of another.
@Suite struct DownloadModelTests {
    @Test(arguments: SeededGenerator.seeds(32)) func `Never mixes versions`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var completions = 0
        for round in 0..<50 {
            var world = DownloadWorld(&random)
            for _ in 0..<60 {
                guard world.attempt(&random) else {
                    world.disturb(&random)
                    continue
                }
                #expect(world.isOneVersion, "round \(round)")
                completions += 1
                break
            }
        }
        #expect(completions > 20)
    }
}

/// A server, a disk, a journal and a network, as small as they can be.
private struct DownloadWorld {
    private var versions: [[UInt8]] = []
    private var current = 0
    private let hasStrongTags: Bool

    private var point = TransferPoint(boot: "0")
    private var file: [UInt8] = []
    /// What has been written down.
    private var journal = TransferPoint(boot: "0")
    private var boot = 0

    init(_ random: inout SeededGenerator) {
        hasStrongTags = Int.random(in: 0..<5, using: &random) > 0
        let length = Int.random(in: 1...40, using: &random)
        for version in 1...4 {
            // Some are equally long, which is when a mixture would not be seen by its length.
            let count = Bool.random(using: &random) ? length : .random(in: 0...40, using: &random)
            versions.append([UInt8](repeating: UInt8(version), count: count))
        }
    }

    var isOneVersion: Bool { versions.contains(file) }

    /// - Returns: whether the file is complete.
    mutating func attempt(_ random: inout SeededGenerator) -> Bool {
        let ask = DownloadRules.ask(
            point,
            length: Int64(file.count),
            boot: "\(boot)",
            method: "GET"
        )
        guard ask != .nothing else { return true }
        let (head, body) = answer(ask, &random)
        switch DownloadRules.judge(head, to: ask, point: point, bytesMax: 1000) {
        case .complete: return true
        case .fault(let fault):
            if fault.verdict == .afresh { forget() }
            return false
        case .body(let from, let length, let next):
            if from == 0 { forget() }
            file.removeLast(file.count - Int(from))
            point = next
            point.boot = "\(boot)"
            if Bool.random(using: &random) { write() }
            let isCut = Int.random(in: 0..<3, using: &random) > 0
            let count = isCut ? Int.random(in: 0...body.count, using: &random) : body.count
            for byte in body.prefix(count) {
                file.append(byte)
                if Int.random(in: 0..<10, using: &random) == 0 { sync() }
            }
            // Without a length only the server's word ends a body, and a cut one has not said it.
            guard !isCut || length == Int64(count), length ?? Int64(count) == Int64(count) else {
                return false
            }
            return DownloadRules.isComplete(head, point: point, length: Int64(file.count))
        }
    }

    /// An answer of a server that keeps to the rules, or to most of them.
    private func answer(
        _ ask: DownloadAsk,
        _ random: inout SeededGenerator
    ) -> (AnswerHead, ArraySlice<UInt8>) {
        let content = versions[current]
        let tag = hasStrongTags ? "\"\(current)\"" : "W/\"\(current)\""
        var fields = ["etag": tag]
        func head(_ status: Int) -> AnswerHead {
            AnswerHead(status: status, headers: fields.map { TransferHeader($0.key, $0.value) })
        }
        // Some ignore the condition, and say truly what they send.
        let isStrict = Int.random(in: 0..<3, using: &random) > 0
        guard case .rest(let from, let validator) = ask, !isStrict || validator == tag,
            Int.random(in: 0..<6, using: &random) > 0
        else {
            if Bool.random(using: &random) { fields["content-length"] = "\(content.count)" }
            return (head(200), content[...])
        }
        guard from < content.count else {
            fields["content-range"] = "bytes */\(content.count)"
            return (head(416), [])
        }
        let end = Int.random(in: Int(from)..<content.count, using: &random)
        let last = Bool.random(using: &random) ? content.count - 1 : end
        let total = Bool.random(using: &random) ? "\(content.count)" : "*"
        fields["content-range"] = "bytes \(from)-\(last)/\(total)"
        return (head(206), content[Int(from)...last])
    }

    /// Before anything of another version is in the file, this is on the disk.
    private mutating func forget() {
        point = TransferPoint(boot: "\(boot)")
        write()
    }

    private mutating func write() { journal = point }

    private mutating func sync() {
        point.bytes = Int64(file.count)
        write()
    }

    /// What may happen between two attempts.
    mutating func disturb(_ random: inout SeededGenerator) {
        if Int.random(in: 0..<4, using: &random) == 0 {
            current = Int.random(in: 0..<versions.count, using: &random)
        }
        switch Int.random(in: 0..<6, using: &random) {
        case 0: point = journal
        case 1:
            // The power goes: the file may be as long as it was, but holds what was synced.
            boot += 1
            point = journal
            let kept = min(Int(point.bytes), file.count)
            let rest = Int.random(in: 0...(file.count - kept), using: &random)
            file = file.prefix(kept) + [UInt8](repeating: 0, count: rest)
        default: break
        }
    }
}
