// SPDX-License-Identifier: Apache-2.0

internal import UIKit

/// The phase of a scene.
///
/// A plugin has no screen, so it is always in the background.
public enum ScenePhase: Hashable, Comparable, Sendable {
    case background, inactive, active
}

/// The environment values of views and apps.
public struct EnvironmentValues: Sendable {
    /// The phase of the app's scenes.
    public var scenePhase: ScenePhase { .background }
}

/// Reads an environment value.
@propertyWrapper
public struct Environment<Value> {
    private let path: KeyPath<EnvironmentValues, Value>

    /// Selects the value.
    public init(_ path: KeyPath<EnvironmentValues, Value>) { self.path = path }

    /// The value.
    public var wrappedValue: Value { EnvironmentValues()[keyPath: path] }
}

extension Scene {
    /// Calls a closure when the app enters the background, which follows its launch.
    ///
    /// That happens in a run of the handler `launch`. A task of `tasks.json` may have that handler,
    /// for example at each start of the daemon.
    public func onChange(
        of phase: ScenePhase,
        perform action: @escaping @Sendable (ScenePhase) -> Void
    ) -> some Scene {
        ModifiedScene(scene: self, part: .background { action(.background) })
    }

    /// Calls a closure when the app enters the background, as the form with one argument.
    ///
    /// - Parameters:
    ///   - phase: the phase of the scene.
    ///   - initial: has no effect: a plugin is made in the background.
    ///   - action: gets the old and the new phase.
    public func onChange(
        of phase: ScenePhase,
        initial: Bool = false,
        _ action: @escaping (_ oldPhase: ScenePhase, _ newPhase: ScenePhase) -> Void
    ) -> some Scene {
        // Closures of scenes are not Sendable in source for Apple's platforms. Runs of the handler
        // that calls them never overlap.
        nonisolated(unsafe) let action = action
        return ModifiedScene(scene: self, part: .background { action(.active, .background) })
    }

    /// Calls a closure when the app enters the background, as the form with two arguments.
    public func onChange(
        of phase: ScenePhase,
        initial: Bool = false,
        _ action: @escaping () -> Void
    ) -> some Scene {
        nonisolated(unsafe) let action = action
        return ModifiedScene(scene: self, part: .background { action() })
    }
}
