// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostMetrics
import BghostTestSupport
import Testing

/// The metrics that files and pages name are those of the daemon.
@Suite struct MetricNameTests {
    /// What a query, a rule or a legend names.
    struct Names: Equatable {
        var metrics: Set<String> = []
        /// The labels, with the values that they are compared with.
        var labels: [String: Set<String>] = [:]
    }

    /// The words of PromQL that the files use beside metrics.
    private static let words: Set<String> = [
        "sum", "max", "min", "by", "rate", "increase", "histogram_quantile", "time", "sort_desc",
        "unless", "and", "or", "up", "on", "label_values",
    ]
    /// The labels that Prometheus adds.
    private static let added: Set<String> = ["instance", "job"]

    /// Reads what a query names; it knows the forms that the files use, and fails on others.
    static func names(in query: String) -> Names {
        var names = Names()
        var rest = query[...]
        while let character = rest.first {
            if character.isLetter || character == "_" {
                let word = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
                rest = rest.dropFirst(word.count)
                if word == "by" {
                    let inside = rest.drop { $0 != "(" }.dropFirst().prefix { $0 != ")" }
                    for label in inside.split(separator: ",") {
                        names.labels[label.trimmed, default: []] = []
                    }
                    rest = rest.drop { $0 != ")" }
                } else if !words.contains(String(word)) {
                    names.metrics.insert(String(word))
                }
            } else if character == "{" {
                let inside = rest.dropFirst().prefix { $0 != "}" }
                for matcher in inside.split(separator: ",") {
                    let label = matcher.prefix { !"=!~".contains($0) }.trimmed
                    let value = matcher.drop { $0 != "\"" }.dropFirst().prefix { $0 != "\"" }
                    names.labels[label, default: []].insert(String(value))
                }
                rest = rest.dropFirst(inside.count + 2)
            } else if character == "[" {
                rest = rest.drop { $0 != "]" }
            } else {
                // A number with an exponent or a duration is not used outside of brackets.
                rest = rest.dropFirst()
            }
        }
        return names
    }

    private static func text(_ path: String) throws -> String {
        String(decoding: try File.read("\(PackageRoot.path)/\(path)"), as: UTF8.self)
    }

    /// What of the names no metric has.
    private func unknown(_ names: Names) -> [String] {
        let known = Metric.all.filter { metric in
            metric.seriesNames.contains { names.metrics.contains($0) }
        }
        let series = Set(Metric.all.flatMap(\.seriesNames))
        var found = names.metrics.subtracting(series).sorted()
        let labels = known.flatMap(\.allLabels)
        for (name, values) in names.labels where !Self.added.contains(name) {
            guard let label = labels.first(where: { $0.name == name }) else {
                found.append("the label \(name)")
                continue
            }
            guard let fixed = label.values else { continue }
            for value in values where !value.hasPrefix("$") && !fixed.contains(value) {
                found.append("\(name)=\"\(value)\"")
            }
        }
        return found
    }

    private func expectKnown(_ names: Names, in place: String) {
        let found = unknown(names)
        #expect(found.isEmpty, "\(place) names \(found)")
    }

    @Test func `The dashboard for Grafana names metrics and labels of the daemon`() throws {
        let text = try Self.text("Packaging/grafana/bghost.json")
        let dashboard = try JSONReader.parse(text)
        let panels = try #require(dashboard["panels"]?.array)
        var used: Set<String> = []
        for panel in panels {
            let title = try #require(panel["title"]?.string)
            for target in try #require(panel["targets"]?.array) {
                let names = Self.names(in: try #require(target["expr"]?.string))
                #expect(!names.metrics.isEmpty, "\(title) asks for nothing")
                expectKnown(names, in: title)
                used.formUnion(names.metrics)
                var legend = Names(metrics: names.metrics)
                let format = try #require(target["legendFormat"]?.string)
                for match in format.matches(of: /\{\{(\w+)\}\}/) {
                    legend.labels[String(match.output.1), default: []] = []
                }
                expectKnown(legend, in: "the legend of \(title)")
            }
        }
        #expect(panels.count > 15 && used.count > 20)
        for variable in try #require(dashboard["templating"]?["list"]?.array) {
            guard let query = variable["query"]?["query"]?.string else { continue }
            let parts = query.dropFirst("label_values(".count).dropLast().split(separator: ", ")
            var names = Self.names(in: String(parts.dropLast().joined(separator: ", ")))
            names.labels[String(parts.last ?? "none"), default: []] = []
            expectKnown(names, in: query)
        }
    }

    @Test(arguments: ["bghost.rules.yml", "bghost.rules.test.yml"])
    func `The alert rules name metrics and labels of the daemon`(file: String) throws {
        let text = try Self.text("Packaging/prometheus/\(file)")
        var count = 0
        for line in text.split(separator: "\n") {
            let query: Substring
            if let match = line.firstMatch(of: /^\s+expr: (.*)$/) {
                query = match.output.1
            } else if let match = line.firstMatch(of: /series: '([^']*)'/) {
                query = match.output.1
            } else {
                continue
            }
            expectKnown(Self.names(in: String(query)), in: "\(file): \(line)")
            count += 1
        }
        #expect(count >= 9)
        // Annotations name labels, or `$value`.
        for match in text.matches(of: /\$labels\.(\w+)/) {
            let label = String(match.output.1)
            let isKnown = Metric.all.contains { metric in
                metric.allLabels.contains { $0.name == label }
            }
            #expect(isKnown || Self.added.contains(label), "\(file) names the label \(label)")
        }
    }

    @Test func `Other metrics, labels and values would be found`() {
        let query = #"sum by (plugin, le) (rate(bghost_x_total{task=~"$t", kind="a"}[5m])) > 3"#
        #expect(
            Self.names(in: query)
                == Names(
                    metrics: ["bghost_x_total"],
                    labels: ["plugin": [], "le": [], "task": ["$t"], "kind": ["a"]]
                )
        )
        #expect(unknown(Names(metrics: ["bghost_x_total"])) == ["bghost_x_total"])
        let workers = Names(metrics: ["bghost_workers"], labels: ["task": []])
        #expect(unknown(workers) == ["the label task"])
        let runs = Names(metrics: ["bghost_runs_total"], labels: ["outcome": ["lucky"]])
        #expect(unknown(runs) == [#"outcome="lucky""#])
    }

    @Test func `The page lists every metric`() throws {
        let page = try Self.text("docs/OPERATION.md")
        #expect(
            page.contains(Metric.table),
            "the table in docs/OPERATION.md should be:\n\(Metric.table)"
        )
    }
}

extension Substring {
    fileprivate var trimmed: String {
        String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
