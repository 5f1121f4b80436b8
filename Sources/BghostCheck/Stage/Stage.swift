// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostPlugin
internal import CBghost
internal import Glibc

/// The context of a check: its order and its access to the plugin.
///
/// Only the check's own thread uses it.
final class Stage {
    let order: CheckOrder
    /// The meeting with the other of two processes that perform the check together.
    let meeting: Meeting?
    private let reporter: CheckReporter
    var random: SplitMix64
    /// The circumstances of the check, for the message if a call does not return.
    var setting: String?
    private var mapped: PluginLoader.Mapped?

    init(_ order: CheckOrder, _ reporter: CheckReporter, _ meeting: Meeting? = nil) {
        self.order = order
        self.meeting = meeting
        self.reporter = reporter
        random = SplitMix64(seed: order.seed)
    }

    /// Reports the next phase, for the message if it does not return.
    func phase(_ text: String) {
        reporter.report(.phase(text + (setting.map { ", " + $0 } ?? "")))
    }

    /// Reports the plugin's description.
    func report(_ plugin: CheckedPlugin) { reporter.report(.plugin(plugin)) }

    /// Makes memory faults report this region.
    func watchFaults(_ region: (start: UnsafeRawPointer, count: Int, name: StaticString)) {
        FaultWatch.add(region, report: reporter.descriptor)
    }

    /// Inspects the file.
    func image() throws(Finding) -> PluginImage {
        do throws(ImageError) {
            return try PluginImage.inspect(path: order.file)
        } catch {
            throw Finding(error)
        }
    }

    /// Maps the plugin; the first time, its constructors run.
    func map() throws(Finding) -> PluginLoader.Mapped {
        if let mapped { return mapped }
        phase("its constructors, while it is loaded")
        do throws(PluginRefusal) {
            let mapped = try PluginLoader.map(path: order.file)
            self.mapped = mapped
            return mapped
        } catch {
            throw Finding.failed(without(error.message))
        }
    }

    /// Creates a plugin that is loaded and open.
    func subject(_ behavior: Subject.Behavior = Subject.Behavior()) throws(Finding) -> Subject {
        var behavior = behavior
        if behavior.config == nil { behavior.config = order.config }
        let subject = Subject(self, behavior)
        try subject.load()
        return subject
    }

    /// The message without the path, which the report prints once above all messages.
    func without(_ message: String) -> String {
        let prefix = order.file + ": "
        return message.hasPrefix(prefix) ? String(message.dropFirst(prefix.count)) : message
    }
}

extension Finding {
    init(_ error: ImageError) {
        let prefix = error.path + ": "
        let text = error.description
        self = .failed(text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text)
    }
}
