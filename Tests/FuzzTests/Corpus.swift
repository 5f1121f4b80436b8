// SPDX-License-Identifier: Apache-2.0

import BghostFuzz
import BghostTestSupport
import Glibc

/// The corpus of a target in `Fuzz/`: inputs that once showed a fault, and words.
struct Corpus {
    let inputs: [(name: String, bytes: [UInt8])]
    let words: [[UInt8]]

    init(_ target: FuzzTarget) throws {
        let folder = PackageRoot.path + "/Fuzz/Corpus/" + target.name
        inputs = try File.list(folder).sorted().map { ($0, try File.read(folder + "/" + $0)) }
        let dictionary = PackageRoot.path + "/Fuzz/Dictionaries/\(target.name).dict"
        guard access(dictionary, R_OK) == 0 else {
            words = []
            return
        }
        words = try File.read(dictionary).split(separator: UInt8(ascii: "\n")).map(Self.word)
    }

    /// A line of libFuzzer's dictionaries: quotation marks around, `\\`, `\"` and `\x0a` within.
    private static func word(_ line: ArraySlice<UInt8>) -> [UInt8] {
        var word: [UInt8] = []
        var rest = line.dropFirst().dropLast()
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\"), let escaped = rest.popFirst() else {
                word.append(byte)
                continue
            }
            guard escaped == UInt8(ascii: "x") else {
                word.append(escaped)
                continue
            }
            word.append(UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) ?? 0)
            rest = rest.dropFirst(2)
        }
        return word
    }
}
