// SPDX-License-Identifier: Apache-2.0

internal import BghostLinux
internal import CBghost

/// Texts that an operator may write, and that nobody expects.
enum InputChecks {
    static let all = [
        Check(
            "odd-config",
            "open() copes with settings of any shape",
            level: 7,
            .plugin,
            needs: ["open"]
        ) { (stage) throws(Finding) in
            var texts = OddText(seed: stage.order.seed, known: stage.order.config)
            for config in texts.texts(12) {
                var manners = Subject.Manners()
                manners.config = config
                // It may refuse: what counts is that it comes back.
                guard let subject = try? stage.subject(manners) else { continue }
                guard subject.close() else {
                    throw Finding.skipped("close() did not come back")
                }
            }
        },
        Check(
            "odd-parameters",
            "its runs end whatever their parameters are",
            level: 7,
            .handler,
            needs: ["run"],
            seconds: 15,
            runs: 2,
            body: parameters
        ),
    ]

    private static func parameters(_ stage: Stage) throws(Finding) {
        let subject = try stage.subject()
        var texts = OddText(seed: stage.order.seed, known: stage.order.parameters)
        // Runs take as long as they take; what is looked at first is the same each time.
        let limit = Monotonic.now + 10_000_000_000
        for text in texts.texts(28) where Monotonic.now < limit {
            let begun = try subject.begin(parameters: text)
            guard subject.finish(begun).end == nil else { continue }
            throw Finding.failed(
                "with the parameters \(OddText.brief(text)) a run does not end",
                fix: "check params in start(), and fail the run where they do not fit"
            )
        }
    }
}
