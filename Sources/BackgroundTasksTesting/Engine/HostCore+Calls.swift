// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel
internal import BghostPlugin
internal import BghostWire
internal import CBghost

/// What the plugin's runtime passes on, after its checks.
extension HostCore {
    var time: (unix: Int64, monotonic: Int64) {
        let now = read { $0.now }
        return (now.unix, Int64(clamping: now.monotonic.nanoseconds))
    }

    func progress(_ run: UInt64, _ progress: RunProgress) {
        read { engine in
            guard let place = engine.runs[run]?.place else { return }
            engine.history[place].record.progress = progress
        }
    }

    /// - Parameter run: 0 for the plugin as a whole.
    func log(_ run: UInt64, level: UInt8, _ message: String) {
        read { engine in
            let place = engine.runs[run]?.place
            engine.logs.append(
                TestHost.LogLine(
                    level: level,
                    message: message,
                    task: place.map { engine.history[$0].record.task }
                )
            )
        }
    }

    /// Handles a call of the plugin.
    ///
    /// - Parameters:
    ///   - number: the runtime's number of the call.
    ///   - run: the run that calls; 0 for the plugin as a whole.
    /// - Returns: the answer; `nil` if it comes later, by an action of the engine, or if the call
    ///   has none.
    func answer(_ number: UInt64, run: UInt64, _ operation: Call.Operation) -> HostAnswer? {
        // A killed run has no process any more, although its handler continues here.
        guard run == 0 || read({ $0.abandoned[run] == nil }) else {
            return HostAnswer(status: BG_E_STALE)
        }
        switch operation {
        case .submit(let task, let parameters, let kind, let earliest, let needs):
            return HostAnswer(
                status: change {
                    $0.submit(
                        task,
                        kind: kind,
                        parameters: parameters,
                        earliest: earliest,
                        needs: needs
                    )
                }
            )
        case .cancelPending(let task): return HostAnswer(status: change { $0.cancelPending(task) })
        case .cancelAllPending:
            change { $0.cancelAllPending() }
            return HostAnswer(status: BG_OK)
        case .pending:
            return HostAnswer(
                status: BG_OK,
                body: .pending(read { $0.pendingOfPlugin() }, next: 0)
            )
        case .situation(let run):
            let situation = read { $0.situation(of: RunSlots.run(of: run)) }
            return HostAnswer(status: BG_OK, body: .situation(situation))
        case .saveCheckpoint(let bytes):
            return HostAnswer(status: change { $0.saveCheckpoint(bytes, by: run) })
        case .loadCheckpoint: return read { $0.loadCheckpoint(of: run) }
        case .fetch(let fetch):
            let (host, port) = Self.target(fetch.url)
            return later(number, run) { $0.begin(fetch, $1, host: host, port: port) }
        case .cancelFetch(let call):
            change { $0.cancelFetch(call) }
            return HostAnswer(status: BG_OK)
        case .post(let notification): return HostAnswer(status: change { $0.post(notification) })
        case .withdrawNotification(let id):
            return HostAnswer(status: change { $0.withdrawNotification(id) })
        case .notifications:
            let json = read { $0.pendingNotifications() }
            let body = HostAnswer.Body.fetched(
                httpStatus: 0,
                headers: "",
                message: "",
                body: Array(json.utf8)
            )
            return HostAnswer(status: BG_OK, body: body)
        case .transfer(let call): return answer(number, run: run, call)
        }
    }

    private func answer(_ number: UInt64, run: UInt64, _ call: TransferCall) -> HostAnswer? {
        switch call {
        case .begin(let transfer):
            let (host, port) = Self.target(transfer.url)
            return change { $0.begin(transfer, host: host, port: port) }
        case .wait(let id): return later(number, run) { $0.wait($1, for: id) }
        case .cancel(let id): return HostAnswer(status: change { $0.cancelTransfer(id) })
        case .list(let session, let after, let bytesMax):
            let json = read { $0.listed(of: session, after: after, bytesMax: Int(bytesMax)) }
            return HostAnswer(list: json, bytesMax: bytesMax)
        case .acknowledge(let id): return HostAnswer(status: change { $0.acknowledge(id) })
        // The engine forgets a transfer when it hands out its end.
        case .took: return nil
        case .keep(let ids): return HostAnswer(status: change { $0.keep(run, ids) })
        case .claim(let session, let bytesMax):
            let json = change { $0.claim(run, of: session, bytesMax: Int(bytesMax)) }
            return HostAnswer(list: json, bytesMax: bytesMax)
        }
    }

    /// Begins what an action ends; for a run that is over, it does not begin.
    private func later(
        _ number: UInt64,
        _ run: UInt64,
        _ begin: (inout Engine, OpenCall) -> Void
    ) -> HostAnswer? {
        change { engine in
            guard engine.runs[run] != nil else { return HostAnswer(status: BG_E_STALE) }
            begin(&engine, OpenCall(number: number, run: run))
            return nil
        }
    }
}
