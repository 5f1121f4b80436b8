// SPDX-License-Identifier: Apache-2.0

internal import BackgroundTasks
internal import UIKit

/// An app written for Apple's platforms: its scenes declare which closures handle which runs.
///
/// Mark it with `@main`, as on iOS; its target then needs a flag of the compiler, which docs/IOS.md has. Or
/// pass it to a plugin:
///
///     let plugin = Plugin(id: "org.example.stormy", version: "1.0.0", app: StormyApp.self)
///
///     @c(bghost_plugin_v1)
///     public func entry(_ host: HostTable?) -> PluginTable? { plugin.table(for: host) }
public protocol App {
    /// The type of the body.
    associatedtype Body: Scene

    /// The id of the plugin of an app with `@main`: a reverse DNS name; by default `app.` and the name of
    /// the module.
    ///
    /// Apple's protocol has no such property. An extension in a file of its own can state it.
    static var pluginID: String { get }
    /// The version of the plugin of an app with `@main`; by default 1.0.0.
    static var pluginVersion: String { get }

    /// Creates the app.
    ///
    /// It may register launch handlers here.
    init()

    /// The scenes of the app.
    ///
    /// bghost uses only their modifiers.
    @SceneBuilder var body: Body { get }
}

extension App {
    /// The default: `app.` and the name of the module.
    public static var pluginID: String { AppMain.identifier(of: Self.self) }
    /// The default: 1.0.0.
    public static var pluginVersion: String { "1.0.0" }

    /// Makes the plugin of the app; what the compiler makes of `@main` calls it.
    public static func main() {
        AppMain.use(Plugin(id: pluginID, version: pluginVersion, app: Self.self))
    }
}

/// A part of an app, with its modifiers.
public protocol Scene {
    /// The parts that modifiers have added, in order.
    var parts: SceneParts { get }
}

/// The parts that the modifiers of a scene have added.
public struct SceneParts {
    var parts: [AppPart] = []
}

/// A scene with views, which bghost never shows: there is no screen.
public struct WindowGroup<Content>: Scene {
    /// Creates a scene.
    ///
    /// The content is never created.
    public init(@ViewBuilder content: () -> Content) {}

    /// Empty: the scene itself has no modifiers.
    public var parts: SceneParts { SceneParts() }
}

/// Accepts the content of a scene.
@resultBuilder
public enum ViewBuilder {
    /// Accepts one view of any type.
    public static func buildBlock<Content>(_ content: Content) -> Content { content }
    /// Accepts no view.
    public static func buildBlock() {}
}

/// Builds the list of an app's scenes.
@resultBuilder
public enum SceneBuilder {
    /// Accepts one scene.
    public static func buildPartialBlock<First: Scene>(first: First) -> First { first }
    /// Adds a scene.
    public static func buildPartialBlock(
        accumulated: some Scene,
        next: some Scene
    ) -> some Scene {
        JoinedScene(parts: SceneParts(parts: accumulated.parts.parts + next.parts.parts))
    }
}

struct JoinedScene: Scene {
    let parts: SceneParts
}

struct ModifiedScene<Base: Scene>: Scene {
    let scene: Base
    let part: AppPart

    var parts: SceneParts { SceneParts(parts: scene.parts.parts + [part]) }
}
