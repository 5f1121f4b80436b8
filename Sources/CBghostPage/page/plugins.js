// SPDX-License-Identifier: Apache-2.0
import { act, disable, enable } from "./actions.js";
import { el } from "./dom.js";
import { badge, facts, filters, has, heading, href, panel, prose, quiet, search, theirs } from "./parts.js";
import { bytes, count, when } from "./time.js";

function stateOf(plugin) {
	if (plugin.quarantine) return ["bad", "quarantined"];
	if (plugin.switchedOff !== null) return ["off", "disabled"];
	if (plugin.problem) return ["bad", "problem"];
	return ["good", "ready"];
}

const LAYERS = { holds: "good", missing: "bad", waived: "warn" };

function sandbox(layers) {
	if (!layers.length) return quiet("known after its first worker");
	const holding = layers.filter((layer) => layer.state === "holds").length;
	return el(
		"details",
		{ open: holding < layers.length },
		el("summary", null, badge(holding === layers.length ? "good" : "warn", `${holding} of ${layers.length} layers hold`)),
		el(
			"ul",
			{ class: "layers" },
			layers.map(({ layer, state, detail }) => el("li", { "data-key": layer }, badge(LAYERS[state] ?? "off", layer), state !== "holds" && ` ${state}`, detail && quiet(" ", theirs(detail)))),
		),
	);
}

function one(plugin, tasks) {
	const [tone, word] = stateOf(plugin);
	const isOff = plugin.switchedOff !== null || plugin.quarantine;
	const own = tasks.filter((task) => task.plugin === plugin.name);
	const running = own.reduce((sum, task) => sum + task.running.length, 0);
	return panel(
		plugin.name,
		{
			actions: [badge(tone, word), isOff ? act("Enable", () => enable(plugin.name), `Enable ${plugin.name}`) : act("Disable", () => disable(plugin.name), `Disable ${plugin.name}`)],
		},
		plugin.quarantine && el("p", { class: "message bad" }, "Quarantined ", when(plugin.quarantine.since), ": ", prose(plugin.quarantine.reason)),
		plugin.switchedOff !== null && el("p", { class: "message" }, "Disabled by an operator", plugin.switchedOff ? [": ", theirs(plugin.switchedOff)] : "", "."),
		plugin.problem && !plugin.quarantine && el("p", { class: "message bad" }, prose(plugin.problem)),
		plugin.change && el("p", { class: "message" }, prose(plugin.change)),
		plugin.idleEnds && el("p", { class: "message bad" }, `${count(plugin.idleEnds.count, "worker")} killed for working without a run, last `, when(plugin.idleEnds.last), ": it ", theirs(plugin.idleEnds.reason)),
		facts([
			["Library", el("code", null, theirs(plugin.library))],
			["Runs in", plugin.isolation === "worker" ? "a worker process" : plugin.isolation],
			["SHA-256", plugin.sha256 && el("code", null, plugin.sha256)],
			["Workers", plugin.workers.length ? [plugin.workers.join(", "), ": ", bytes(plugin.memoryBytes)] : "none now"],
			["Tasks", el("a", { href: href("tasks", null, { plugin: plugin.name }) }, [count(own.length, "task"), running > 0 && `, ${running} running`])],
			["Dead letters", plugin.deadLetters || plugin.deadLettersDropped ? [String(plugin.deadLetters), plugin.deadLettersDropped > 0 && `, ${plugin.deadLettersDropped} dropped since the start`] : null],
			["Sandbox", plugin.isolation === "worker" ? sandbox(plugin.sandbox) : "none: its code runs in the daemon"],
		]),
	);
}

function view(ctx) {
	const { status, query } = ctx;
	const rank = (plugin) => ["bad", "warn", "off", "good"].indexOf(stateOf(plugin)[0]);
	const found = status.plugins.filter((plugin) => has(plugin.name, query.text)).sort((a, b) => rank(a) - rank(b));
	return [
		heading("Plugins"),
		filters(
			found.length === status.plugins.length ? count(found.length, "plugin or function", "plugins and functions") : `${found.length} of ${status.plugins.length}`,
			search(ctx, "text", "Filter by name", "name"),
		),
		found.length === 0 && el("p", { class: "panel calm" }, "No plugin matches the filter."),
		el("div", { class: "cards" }, found.map((plugin) => one(plugin, status.tasks))),
	];
}

export default { view };
