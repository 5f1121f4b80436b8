// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import BghostPlugin
internal import CBghost
internal import Glibc

/// Where a check is made: what was ordered, and the ways to the plugin.
///
/// Used by the check's own thread only.
final class Stage {
    let order: CheckOrder
    /// With the other of two processes that make the check together.
    let meeting: Meeting?
    private let voice: CheckVoice
    var chance: SplitMix64
    /// Under which circumstances all of it is, for the case that something does not come back.
    var setting: String?
    private var mapped: PluginLoader.Mapped?

    init(_ order: CheckOrder, _ voice: CheckVoice, _ meeting: Meeting? = nil) {
        self.order = order
        self.meeting = meeting
        self.voice = voice
        chance = SplitMix64(seed: order.seed)
    }

    /// Says what comes next, for the case that it does not come back.
    func phase(_ text: String) {
        voice.say(.phase(text + (setting.map { ", " + $0 } ?? "")))
    }

    /// Tells what the plugin has to offer.
    func tell(_ plugin: CheckedPlugin) { voice.say(.plugin(plugin)) }

    /// Has faults say in which region they were.
    func watchFaults(_ region: (start: UnsafeRawPointer, count: Int, name: StaticString)) {
        FaultWatch.add(region, report: voice.descriptor)
    }

    /// The file as it describes itself.
    func image() throws(Finding) -> PluginImage {
        do throws(ImageError) {
            return try PluginImage.inspect(path: order.file)
        } catch {
            throw Finding(error)
        }
    }

    /// Maps the plugin: its constructors run, the first time.
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

    /// A plugin that is loaded and open.
    func subject(_ manners: Subject.Manners = Subject.Manners()) throws(Finding) -> Subject {
        var manners = manners
        if manners.config == nil { manners.config = order.config }
        let subject = Subject(self, manners)
        try subject.load()
        return subject
    }

    /// The message without the path, which stands above all of them.
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
