// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import BghostLinux
internal import BghostPlugin
internal import BghostTrust
internal import BghostWire
internal import Glibc

/// What the workers of one plugin are confined to, worked out once for all of them.
final class WorkerWalls {
    let message: Confinement
    /// In this namespace of owners the plugin's user has what belongs to root.
    private let owners: Descriptor

    /// - Parameters:
    ///   - user: who the workers become if the daemon is root; 0 is nobody else.
    init(_ profile: SandboxProfile, user: UInt32) {
        let isRoot = geteuid() == 0
        let map = isRoot && user != 0 ? OwnerMap.make(user) : -1
        // A worker finds something under the number in any case.
        owners = Descriptor(owning: map >= 0 ? map : open("/dev/null", O_RDONLY | O_CLOEXEC))
        var calls = profile.calls
        calls.writesCode =
            !profile.wanted.contains(.writeXorExecute) || KernelFilter.kernelForbidsWritableCode
        var amongFiles = calls
        amongFiles.changesAttributes = false
        message = Confinement(
            wanted: SandboxLayer.bits(profile.wanted),
            required: SandboxLayer.bits(profile.required),
            user: isRoot && map >= 0 ? user : 0,
            grants: profile.grants.map {
                Confinement.Grant(path: $0.path, access: $0.access.rawValue)
            },
            scratchBytes: profile.scratchBytes,
            filter: Confinement.Filter(FilterProgram(calls)),
            filterAmongFiles: Confinement.Filter(FilterProgram(amongFiles))
        )
    }

    /// A copy of the map's descriptor, which becomes the caller's; -1 if there are no descriptors left.
    func copyOwners() -> Int32 { fcntl(owners.raw, F_DUPFD_CLOEXEC, 0) }

    /// No walls at all, to compare with.
    static let none = Confinement(
        wanted: 0,
        required: 0,
        user: 0,
        grants: [],
        scratchBytes: 0,
        filter: Confinement.Filter(instructions: [], ownProcess: []),
        filterAmongFiles: Confinement.Filter(instructions: [], ownProcess: [])
    )
}

extension Confinement.Filter {
    init(_ program: FilterProgram) {
        self.init(instructions: program.bytes, ownProcess: program.ownProcess)
    }
}

extension LayerStanding {
    /// `nil` if this daemon knows no such layer or state.
    init?(_ layer: Confined.Layer) {
        guard let known = SandboxLayer.allCases.first(where: { $0.bit == layer.bit }),
            let state = State(rawValue: layer.state)
        else { return nil }
        self.init(known, state, PrintableText.escaped(layer.detail))
    }
}

/// The numbers of users that plugins are while their workers run.
///
/// Nothing on a disk belongs to them, so a number need not be the same the next time.
enum PluginUsers {
    /// Far from what systems give to people, services and containers.
    private static let first: UInt32 = 2_000_000_000
    private static let ofOneDaemon: UInt32 = 1024
    /// Who a plugin is that is only looked at.
    static let ofProbes = first - 1

    /// Whether a user is one of a plugin, of whichever daemon.
    static func contain(_ user: UInt32) -> Bool {
        (ofProbes...first + 0xFFFF * ofOneDaemon + (ofOneDaemon - 1)).contains(user)
    }

    /// - Parameter stateDirectory: two daemons have two; theirs must not meet.
    static func number(plugin index: Int, stateDirectory: String) -> UInt32 {
        var hash: UInt32 = 2_166_136_261
        for byte in stateDirectory.utf8 { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
        let daemon = (hash ^ hash >> 16) & 0xFFFF
        return first + daemon * ofOneDaemon + UInt32(index) % ofOneDaemon
    }
}

extension WorkerWalls {
    /// The libraries that the loader will look for beside those of the system.
    ///
    /// Files and not folders: where a plugin says that its libraries lie is its own word, and it may
    /// say `/root`. A file there is one of them only if the plugin needs it by this name and it is a
    /// library, without which the plugin is not loaded at all.
    static func libraries(neededBy path: String, held: HeldLibrary? = nil) -> [String] {
        guard path.hasPrefix("/"), let own = try? PluginImage.inspect(path: path, held: held) else {
            return []
        }
        var found: [String] = []
        var images = [own]
        while let image = images.popLast() {
            for name in image.needed.prefix(neededMax) where !name.contains("/") {
                for folder in (image.folders + own.folders).prefix(foldersMax) {
                    let file = folder + "/" + name
                    // It has all of the system's, which need none but those.
                    if file.hasPrefix("/usr/"), access(file, F_OK) == 0 { break }
                    guard found.count < librariesMax, !found.contains(file),
                        let library = try? PluginImage.inspect(path: file)
                    else { continue }
                    found.append(file)
                    images.append(library)
                    break
                }
            }
        }
        return found
    }

    // A library may name any number of others, and each is looked for.
    private static var neededMax: Int { 64 }
    private static var foldersMax: Int { 8 }
    private static var librariesMax: Int { 128 }
}

extension Host {
    /// The walls of a plugin's workers.
    func walls(of plugin: PluginSlot) -> WorkerWalls {
        if let walls = plugin.walls { return walls }
        let path = plugin.path ?? plugin.library
        var profile = SandboxProfile(
            plugin.permissions,
            limits: plugin.limits,
            library: path,
            needed: WorkerWalls.libraries(neededBy: path, held: plugin.held),
            dataDirectory: plugin.dataDirectory,
            isFunction: plugin.isFunction,
            required: plugin.require.union(manifest.host.require)
        )
        profile.wanted.formIntersection(configuration.sandbox)
        let walls = WorkerWalls(
            profile,
            user: PluginUsers.number(plugin: plugin.index, stateDirectory: state.path)
        )
        plugin.walls = walls
        return walls
    }

    /// A worker has said which walls stand around it; nothing of its plugin has run before.
    func confined(_ worker: Worker, _ confined: Confined) {
        worker.isConfined = true
        let plugin = worker.plugin
        let standings = confined.layers.compactMap(LayerStanding.init)
        for path in confined.absent where plugin.absentGrants.insert(path).inserted {
            log.write(
                .warning,
                "sandbox.absent",
                "\(PrintableText.escaped(path)) is granted and cannot be had; its workers do without",
                plugin: plugin.name
            )
        }
        guard standings != plugin.standings else { return }
        plugin.standings = standings
        let missing = standings.filter { $0.state == .missing }
        guard !missing.isEmpty else { return }
        log.write(
            .warning,
            "sandbox.missing",
            "its workers run without "
                + missing.map { "\($0.layer.rawValue) (\($0.detail))" }.joined(separator: ", "),
            plugin: plugin.name
        )
    }
}
