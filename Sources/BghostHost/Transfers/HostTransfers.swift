// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import BghostLinux
internal import BghostTransfer
internal import Glibc
internal import Synchronization

/// Start and shutdown of the transfer engine.
extension Host {
    /// Recovers the transfers of an earlier daemon, and starts the engine if transfers are possible.
    func openTransfers() async throws {
        let manifest = configuration.manifest
        let isLeft = access(state.path + "/transfers.sqlite", F_OK) == 0
        // Without sessions and old transfers, the daemon needs no second database.
        guard !manifest.sessions.isEmpty || isLeft else { return }
        let journal = try configuration.openTransfers(state.path)
        let desk = TransferDesk(log: log)
        desk.clockOffset.store(clock.offset, ordering: .relaxed)
        desk.accesses.withLock { $0 = transferAccesses() }
        let engine = TransferEngine(
            journal: journal,
            clock: TransferDeskClock(desk: desk),
            observer: desk,
            requirements: { request in
                !request.isDiscretionary || desk.isGoodMoment.load(ordering: .relaxed)
            },
            access: { plugin in desk.accesses.withLock { $0[plugin] } }
        )
        transferTable = TransferTable(
            engine: engine,
            journal: journal,
            desk: desk,
            sessions: manifest.sessions
        )
        // Without these sizes, resumed transfers could fill a folder that has little room left.
        await measureDataRooms()
        try await engine.recover()
        desk.onEvent { [weak self, reactor] in
            // The task is not awaited; it only makes the host read the events.
            Task(executorPreference: reactor) { await self?.takeTransferEvents() }
        }
    }

    /// Measures the data directories of plugins that have sessions.
    ///
    /// The daemon starts with unknown sizes, and `definePlugins` runs later. Each measurement is bounded
    /// by the plugin's limits of bytes and files, and runs on a thread that may block.
    private func measureDataRooms() async {
        let owners = Set(manifest.sessions.map(\.plugin))
        for plugin in manifest.plugins where owners.contains(plugin.name) {
            await dataDirectories.measureRoom(
                of: plugin.name,
                DataDirectories.Limits(plugin.limits)
            )
        }
    }

    /// The hosts, files and disk space that the transfers of each plugin may use.
    private func transferAccesses() -> [String: TransferAccess] {
        var accesses: [String: TransferAccess] = [:]
        for plugin in manifest.plugins {
            // If the directory cannot be created, the inspection of the plugin reports the problem.
            guard let data = try? state.dataDirectory(of: plugin.name) else { continue }
            let permissions = plugin.permissions
            accesses[plugin.name] = TransferAccess(
                writable: permissions.write + [data],
                readable: permissions.read + permissions.write + [data],
                room: room(of: plugin, in: data)
            ) { host, port in
                permissions.network.contains { $0.allows(host: host, port: port) }
            }
        }
        return accesses
    }

    /// The disk space of a plugin's data directory; a reload keeps the object and its counts.
    private func room(of plugin: PluginDefinition, in folder: String) -> DataRoom? {
        guard plugin.isolation == .worker else { return nil }
        return dataDirectories.room(
            of: plugin.name,
            in: folder,
            bytesMax: plugin.limits.dataBytes
        ) { [weak self, reactor] in
            // The task is not awaited; the transfer retries independently.
            Task(executorPreference: reactor) { await self?.lookAtData(ofPlugin: plugin.name) }
        }
    }

    /// Applies the permissions of a new manifest.
    func renewTransferAccesses() {
        guard let desk = transferTable?.desk else { return }
        desk.accesses.withLock { $0 = transferAccesses() }
    }

    /// Stops all attempts; unfinished transfers continue with the next daemon.
    func endTransfers() async {
        guard let table = transferTable else { return }
        // Wait until the engine has recorded all handled ends; otherwise the next daemon reports them again.
        while let message = table.pendingMessages.first {
            await message.value.value
            table.pendingMessages[message.key] = nil
        }
        transferTable = nil
        await table.engine.shutDown()
        let journal = table.journal
        let lost = await settled { deadline in
            defer { journal.close() }
            return journal.settle(until: deadline)
        }
        guard lost > 0 else { return }
        log.write(
            .error,
            "transfer.journal_gave_up",
            "what has become of \(lost) transfers could not be stored before the end: the next start"
                + " takes them up as they were before"
        )
    }

    // MARK: Conditions

    func transferFactsChanged(_ changed: RequirementSet) {
        guard let table = transferTable else { return }
        let isGood = dispatcher.scheduler.unmet(SessionDefinition.goodMoment).isEmpty
        let wasGood = table.desk.isGoodMoment.exchange(isGood, ordering: .relaxed)
        let isBack = changed.contains(.network) && dispatcher.scheduler.unmet(.network).isEmpty
        guard isGood != wasGood || isBack else { return }
        let engine = table.engine
        // The task is not awaited; the engine reads the current conditions when it runs.
        Task {
            if isGood != wasGood { await engine.requirementsChanged() }
            if isBack { await engine.networkReturned() }
        }
    }

    func transferClockWasSet() {
        guard let table = transferTable else { return }
        table.desk.clockOffset.store(clock.offset, ordering: .relaxed)
        let engine = table.engine
        Task { await engine.requirementsChanged() }
    }
}
