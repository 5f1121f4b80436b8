// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import Hummingbird

/// The routes for alerts.
struct AlertRoutes: Sendable {
    let host: any HostControl

    func add(to endpoints: EndpointRouter) {
        endpoints.on(.alerts) { _, _ in Answer.json(Schema.alerts, await host.alerts()) }
        endpoints.on(.testAlerts) { _, _ in
            let tests: [AlertTest]
            do throws(OperatorRefusal) {
                tests = try await host.testAlerts()
            } catch {
                throw ControlFault(error)
            }
            return Answer.json(Schema.alertTests, API.AlertTests(receivers: tests))
        }
    }
}
