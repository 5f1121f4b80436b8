// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostInspection
internal import BghostModel
internal import BghostSandbox
internal import BghostServices
internal import BghostPlugin
internal import BghostTrust

/// The host's state of one plugin or function of the manifest.
///
/// Use it only on the host's actor.
final class PluginSlot {
    let index: Int
    let code: PluginCode
    /// The path of the library; `nil` for a function, or if the library was not found.
    var path: String?
    /// The held copy of its library, if the manifest requires one.
    var held: HeldLibrary?
    /// The state of its files at the inspection.
    var files = FileSnapshot()
    /// The needed libraries outside the system's folders, in loading order.
    var libraries: [NeededLibrary] = []
    /// A description of changed files that are not loaded; `nil` if there are none.
    var change: String?
    /// The state of its files at the last check, if it differed from the known state.
    var candidate: FileSnapshot?
    /// Why the files in the place of the loaded ones cannot be adopted; `nil` if there are none.
    var refused: String?
    /// Whether a check or an inspection of its files is under way, which refers to its index.
    var isBeingChecked = false
    /// The time of the next check of its files; `never` if none is armed.
    var checkAt: MonotonicInstant = .never
    /// The earliest time of the next check of its files.
    var checksFrom: MonotonicInstant = .zero
    /// The delay of the last check that `scheduleCheck` armed; the next one doubles it.
    var checkPause: UInt64 = 0
    /// Whether events report changes of its files.
    var isWatched = false
    /// Whether a reload has replaced or removed it; it starts no more runs.
    var isRetired = false
    /// Whether nothing needs it, so that another plugin may get its index.
    var isReleased = false
    /// The memory that the daemon holds for it and for the version that it replaced.
    var memory = HeldBytes(limit: HostLimits.heldBytesMax)
    /// Why it cannot be used; `nil` if it can.
    var problem: PluginProblem?
    /// Its executors with a free slot; the last used one is at the end.
    var available: [any RunExecutor] = []
    var executors: [UInt32: any RunExecutor] = [:]
    /// The origin of the code of its newest executor.
    var origin: RunOrigin?
    /// The number of consecutive worker starts that failed for a shortage of resources.
    var shortages = 0
    /// The number of consecutive failures of prestarted workers.
    var prestartFailures = 0
    /// The earliest time of the next prestart.
    var prestartAt: MonotonicInstant = .zero
    var dataDirectory = ""
    /// Limits the rate of its calls to the daemon.
    var calls = CallRateLimiter()
    /// The sandbox of its workers; created for the first worker.
    var sandboxSpec: SandboxSpec?
    /// The last sandbox report of a worker, kept so that the host logs only changes.
    var layerStates: [LayerStanding] = []
    /// Granted paths that did not exist, each logged once.
    var absentGrants: Set<String> = []

    init(index: Int, code: PluginCode) {
        self.index = index
        self.code = code
    }

    /// Whether it has an executor, or an unfinished piece of work refers to its index.
    var isInUse: Bool { !executors.isEmpty || isBeingChecked }

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

    var slotCount: Int {
        switch code {
        case .plugin(let definition): definition.runsPerWorker
        case .function: 1
        }
    }

    /// Releases the libraries and the sandbox of a retired plugin when its last executor is gone.
    func releaseIfRetired() {
        guard isRetired, executors.isEmpty else { return }
        held = nil
        libraries = []
        sandboxSpec = nil
    }

    /// Throws if the manifest pins the plugin's library and no held copy exists.
    func requireHeld() throws(RunExecutorError) {
        guard case .plugin(let definition) = code,
            definition.sha256 != nil || definition.signedBy != nil, held == nil
        else { return }
        throw RunExecutorError(
            description: problem?.message ?? "the library of `\(name)` has not been looked at"
        )
    }

    /// The held copies of the library and of its needed libraries; empty if the library is not held.
    var allHeld: [HeldLibrary] {
        guard let held else { return [] }
        return [held] + libraries.compactMap(\.held)
    }

    /// The number of idle workers that are prestarted.
    var prestart: Int {
        guard case .plugin(let definition) = code, isolation == .worker else { return 0 }
        return definition.prestart
    }

    /// The folders and files that the daemon may read on behalf of the plugin.
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

    /// The message for a crash or hang during load.
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
    /// The files that cause it; `nil` if it may be solved although the files are unchanged.
    var files: FileSnapshot?
    /// The earliest time of the next attempt.
    var retryAt: MonotonicInstant = .never
    /// Whether it ends by itself; requests are accepted and wait.
    var isPause = false
    /// Whether the files in the place of the loaded ones cannot be adopted, and a new worker would load them.
    var isRefusal = false
    /// Whether loading failed for files that had been adopted.
    var isLoadFailure = false

    /// Whether changed files are loaded for a test before they are adopted.
    var needsTrial: Bool { isPause || isRefusal || isLoadFailure }
}
