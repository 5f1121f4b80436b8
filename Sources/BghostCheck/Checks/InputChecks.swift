// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostLinux
internal import CBghost

/// Unusual texts that an operator may write.
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
                var behavior = Subject.Behavior()
                behavior.config = config
                // open() may refuse the config; it only has to return.
                guard let subject = try? stage.subject(behavior) else { continue }
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
        // Runs may be slow. The first texts are the same each time.
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
