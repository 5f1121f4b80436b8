// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import BghostPlugin
internal import BghostTrust

/// One plugin or function of the manifest, as the host uses it.
///
/// It belongs to the host's executor.
final class PluginSlot {
    enum Code {
        case plugin(PluginDefinition)
        case function(FunctionDefinition)
    }

    let index: Int
    let code: Code
    /// Where the library was found; for a function, its name as written.
    var path: String?
    /// Its library, where the manifest says which one it must be.
    var held: HeldLibrary?
    /// Which file that was when it was looked at.
    var file: FileIdentity?
    /// Whether another manifest has changed or removed it: it begins no run any more.
    var isRetired = false
    /// What is known against it; `nil` if nothing is.
    var problem: PluginProblem?
    /// Its carriers that have a free lane; the one used last is at the end.
    var available: [Carrier] = []
    var carriers: [UInt32: Carrier] = [:]
    var loadFailures = 0
    /// How often in a row the machine had no means for a worker of it.
    var shortages = 0
    /// Whether it was quarantined as another version: one crash is enough then.
    var isOnTrial = false
    /// How many workers in a row ended by themselves before they had a run.
    var prestartFailures = 0
    /// No worker is started ahead of its run before this time, monotonic nanoseconds.
    var prestartAt: UInt64 = 0
    var dataDirectory = ""
    /// What is in it is not looked at before this time, monotonic nanoseconds.
    var dataLookAt: UInt64 = 0
    /// What its workers are confined to; made for the first of them.
    var walls: WorkerWalls?
    /// How it stood with the walls of the last worker that was another than the one before.
    var standings: [LayerStanding] = []
    /// Paths that it was granted and that were not there, told once.
    var absentGrants: Set<String> = []

    init(index: Int, code: Code) {
        self.index = index
        self.code = code
    }

    var name: String {
        switch code {
        case .plugin(let definition): definition.name
        case .function(let definition): definition.name
        }
    }

    var isFunction: Bool {
        if case .function = code { return true }
        return false
    }

    var library: String {
        switch code {
        case .plugin(let definition): definition.library
        case .function(let definition): definition.library
        }
    }

    var limits: WorkerLimits {
        switch code {
        case .plugin(let definition): definition.limits
        case .function(let definition): definition.limits
        }
    }

    var isolation: Isolation {
        switch code {
        case .plugin(let definition): definition.isolation
        case .function: .worker
        }
    }

    var lanes: Int {
        switch code {
        case .plugin(let definition): definition.runsPerWorker
        case .function: 1
        }
    }

    /// Lets go of what its workers were made of, once another manifest has no use for them.
    func letGoIfRetired() {
        guard isRetired, carriers.isEmpty else { return }
        held = nil
        walls = nil
    }

    /// Sees that a plugin whose file the manifest pins is not loaded from its path.
    func requireHeld() throws(CarrierError) {
        guard case .plugin(let definition) = code,
            definition.sha256 != nil || definition.signedBy != nil, held == nil
        else { return }
        throw CarrierError(
            description: problem?.message ?? "the library of `\(name)` has not been looked at"
        )
    }

    /// How many idle workers are kept ahead of their runs.
    var prestart: Int {
        guard case .plugin(let definition) = code, isolation == .worker else { return 0 }
        return definition.prestart
    }

    /// Folders and files that it may have the daemon read.
    var readable: [String] {
        permissions.read + permissions.write + [dataDirectory]
    }

    var permissions: Permissions {
        switch code {
        case .plugin(let definition): definition.permissions
        case .function: Permissions()
        }
    }

    var require: Set<SandboxLayer> {
        switch code {
        case .plugin(let definition): definition.require
        case .function: []
        }
    }

    /// What is said of one whose code went wrong before the host could ask it anything.
    func loadMessage(_ what: String) -> String {
        let suspects =
            isFunction
            ? "the library's constructors" : "its constructors, bghost_plugin_v1() and open()"
        return
            "\(path ?? library): loading it \(what). Look at \(suspects); what they printed is in"
            + " `bghost logs`"
    }
}

/// Why a plugin cannot be used now.
struct PluginProblem {
    var message: String
    /// The file that it is about; once another one is there, the problem is looked at anew.
    var file: FileIdentity?
    /// Not to be tried again before this time, monotonic nanoseconds.
    var retryAt: UInt64 = .max
    /// Whether it passes by itself: requests are taken and wait.
    var isPause = false
}
