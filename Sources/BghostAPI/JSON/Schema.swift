// SPDX-License-Identifier: Apache-2.0

/// The names of what the control API answers with.
///
/// A name stays as it is while keys are only added; its number grows when one is removed or changes
/// its meaning.
package enum Schema {
    package static let version = "bghost.version/1"
    package static let status = "bghost.status/1"
    package static let request = "bghost.request/1"
    package static let run = "bghost.run/1"
    package static let runs = "bghost.runs/1"
    package static let expire = "bghost.expire/1"
    package static let cancel = "bghost.cancel/1"
    package static let pending = "bghost.pending/1"
    package static let stop = "bghost.stop/1"
    package static let dead = "bghost.dead/1"
    package static let redrive = "bghost.redrive/1"
    package static let discard = "bghost.discard/1"
    package static let throttle = "bghost.throttle/1"
    package static let throttleClear = "bghost.throttle.clear/1"
    package static let uses = "bghost.uses/1"
    package static let use = "bghost.use/1"
    package static let pluginSwitch = "bghost.switch/1"
    package static let reload = "bghost.reload/1"
    package static let backup = "bghost.backup/1"
    package static let why = "bghost.why/1"
    package static let simulate = "bghost.simulate/1"
    package static let plan = "bghost.plan/1"
    package static let decisions = "bghost.decisions/1"
    package static let replay = "bghost.replay/1"
    package static let simulation = "bghost.simulation/1"
    package static let outbox = "bghost.outbox/1"
    package static let notification = "bghost.notification/1"
    package static let answer = "bghost.answer/1"
    package static let transfers = "bghost.transfers/1"
    package static let transfer = "bghost.transfer/1"
    package static let logs = "bghost.logs/1"
    static let logEntry = "bghost.log/1"
    package static let error = "bghost.error/1"
}
