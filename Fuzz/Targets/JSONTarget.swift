// SPDX-License-Identifier: Apache-2.0

import BghostBase

extension FuzzTarget {
    /// A text of JSON: parameters, bodies of requests, and the ground under the manifest.
    static let json = FuzzTarget("json", bytesMax: 64 << 10) { bytes throws(BrokenProperty) in
        let strict = try read(bytes, .strict)
        let commented = try read(bytes, .commented)
        guard let node = commented else {
            try require(strict == nil, "strict JSON is refused where comments are allowed")
            return
        }
        if let strict { try require(strict == node, "the dialects read different values") }
        let text = Array(node.text.utf8)
        try require(try read(text, .strict) == node, "it is written as something else")
        try require(
            try read(Array(node.indentedText.utf8), .strict) == node,
            "it is indented to something else"
        )
        try require(
            JSONText.isObject(bytes) == (strict?.object != nil),
            "there are two opinions on whether it is an object"
        )
        try checkNumbers(node)
        if node.object != nil { try checkOverlay(node.text) }
    }

    private static func read(
        _ bytes: [UInt8],
        _ dialect: JSONReader.Dialect
    ) throws(BrokenProperty) -> JSONNode? {
        do throws(JSONError) {
            return try JSONReader.parse(bytes, dialect: dialect)
        } catch {
            let span = error.span
            try require(
                span.start <= span.end && Int(span.end) <= bytes.count,
                "the fault at \(span) lies outside of \(bytes.count) bytes"
            )
            try require(!error.message.isEmpty, "a fault without a reason")
            return nil
        }
    }

    private static func checkNumbers(_ node: JSONNode) throws(BrokenProperty) {
        for element in node.array ?? [] { try checkNumbers(element) }
        for member in node.object ?? [] { try checkNumbers(member.value) }
        if let number = node.int64 {
            let nearest = node.double
            try require(nearest == Double(number), "\(number) is \(nearest ?? .nan) as well")
        }
        if let number = node.uint64, let other = node.int64 {
            try require(Int64(exactly: number) == other, "\(number) is \(other) as well")
        }
    }

    private static func checkOverlay(_ text: String) throws(BrokenProperty) {
        let base = "{\"a\":1,\"b\":[2]}"
        let (once, twice): (String, String)
        do throws(JSONError) {
            once = try JSONText.overlay(base: base, over: text)
            twice = try JSONText.overlay(base: once, over: text)
        } catch {
            throw BrokenProperty("it cannot be laid over another object: \(error)")
        }
        try require(once == twice, "laid over twice it is \(twice) instead of \(once)")
    }
}
