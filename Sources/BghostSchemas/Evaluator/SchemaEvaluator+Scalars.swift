// SPDX-License-Identifier: Apache-2.0

internal import BghostBase

extension SchemaEvaluator {
    mutating func checkNumber(_ text: String, _ rule: NumberRule) throws(Exhausted) {
        // A multiple takes a division for each digit.
        try spend(text.utf8.count * (rule.multiple == nil ? 1 : 2))
        let number = DecimalNumber(text)
        func shown() -> String { SchemaFault.brief(text) }
        if let limit = rule.minimum, number < limit.value {
            report("\(shown()) is below the minimum \(limit.text)")
        }
        if let limit = rule.maximum, limit.value < number {
            report("\(shown()) is above the maximum \(limit.text)")
        }
        if let limit = rule.exclusiveMinimum, !(limit.value < number) {
            report("\(shown()) is not above \(limit.text)")
        }
        if let limit = rule.exclusiveMaximum, !(number < limit.value) {
            report("\(shown()) is not below \(limit.text)")
        }
        if let multiple = rule.multiple, !multiple.divisor.divides(number) {
            report("\(shown()) is no multiple of \(multiple.text)")
        }
    }

    mutating func checkText(_ text: String, _ rule: TextRule) throws(Exhausted) {
        if rule.least > 0 || rule.most < .max {
            try spend(text.utf8.count)
            let count = text.unicodeScalars.count
            if count < rule.least {
                report(
                    "a string of \(CountText.of(count, "character")); at least \(rule.least) are wanted"
                )
            }
            if count > rule.most {
                report(
                    "a string of \(CountText.of(count, "character")); at most \(rule.most) are allowed"
                )
            }
        }
        if let format = rule.format, !format.matches(text) {
            report("a string is there that is not \(format.phrase)")
        }
        if let pattern = rule.pattern {
            guard let matches = pattern.compiled.matches(text, steps: &steps) else {
                throw Exhausted()
            }
            if !matches { report("a string is there that does not match \(pattern.text)") }
        }
    }
}
