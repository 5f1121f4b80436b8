// SPDX-License-Identifier: Apache-2.0
import { stream, Refusal } from "./api.js";
import { el } from "./dom.js";
import { allOf, button, choose, filters, has, heading, href, quiet, search, shortId, theirs } from "./parts.js";
import { count, exact, precise } from "./time.js";

/** How many lines the page keeps, and asks for at first. */
const KEPT = 2000;
const FIRST = 500;
const RETRY = 2000;

const LEVELS = ["trace", "debug", "info", "warning", "error", "fault"];

function row(entry) {
	const time = Date.parse(entry.time);
	return el(
		"div",
		{ class: `log ${entry.level}` },
		el("time", { datetime: entry.time, title: exact(time) }, precise(time)),
		el("span", { class: `level ${entry.level}` }, entry.level),
		el("span", { class: "from" }, entry.task ? el("a", { href: href("tasks", entry.task) }, theirs(entry.task)) : entry.plugin ? theirs(entry.plugin) : quiet("bghost"), entry.run && [" ", el("a", { class: "id", href: href("runs", entry.run), title: entry.run, "aria-label": `run ${entry.run}` }, shortId(entry.run))]),
		el("span", { class: "text" }, quiet(entry.event || entry.source, " "), theirs(entry.message)),
	);
}

const note = (text) => el("div", { class: "log gap" }, text);
/** The daemon refuses a run that it does not know: an id that is still being typed. */
const isRun = (text) => /^[0-9A-Z]{26}$/i.test(text ?? "");
const filterOf = ({ level, task, plugin, run }) => ({ level, task, plugin, run: isRun(run) ? run : "" });

/** Starts, restarts or stops the stream as the filters and the tab want it. */
function follow(ctx) {
	const { local } = ctx;
	const key = JSON.stringify(filterOf(ctx.query));
	local.stop?.abort();
	if (local.key !== key) {
		Object.assign(local, { key, last: 0, lastTime: "", pending: [], fault: null });
		local.box?.replaceChildren();
	}
	const stop = new AbortController();
	local.stop = stop;
	run(ctx, stop, key);
}

async function run(ctx, stop, key) {
	const { local } = ctx;
	let fault = null;
	try {
		local.connected = true;
		await stream("/v1/logs", { ...filterOf(ctx.query), follow: "true", limit: FIRST }, stop.signal, (entry) => {
			if (stop.signal.aborted) return;
			if (entry.sequence <= local.last) {
				if (entry.time <= local.lastTime) return;
				// The numbers begin again with each daemon.
				local.pending.push(note("The daemon was restarted."));
			}
			[local.last, local.lastTime] = [entry.sequence, entry.time];
			local.pending.push(entry);
			schedule(ctx);
		});
	} catch (error) {
		if (stop.signal.aborted) return;
		if (error instanceof Refusal && error.status !== 401 && error.status < 500) fault = error;
	}
	if (stop.signal.aborted || local.key !== key) return;
	Object.assign(local, { connected: false, stop: null, fault, retryAt: Date.now() + RETRY });
	ctx.render();
}

// A burst of lines is one change of the page.
function schedule(ctx) {
	ctx.local.frame ??= requestAnimationFrame(() => {
		ctx.local.frame = null;
		flush(ctx);
	});
}

function flush(ctx) {
	const { local, query } = ctx;
	const { box, pending } = local;
	if (!box) return;
	if (local.paused) {
		if (pending.length > KEPT) local.dropped = (local.dropped ?? 0) + pending.splice(0, pending.length - KEPT).length;
	} else if (pending.length) {
		const atEnd = box.scrollHeight - box.scrollTop - box.clientHeight < 40;
		if (local.dropped) pending.unshift(note(`${count(local.dropped, "line")} dropped during the pause.`));
		local.dropped = 0;
		const rows = pending.splice(0).slice(-KEPT).map((entry) => {
			const node = entry instanceof Node ? entry : row(entry);
			hide(node, query.text);
			return node;
		});
		box.append(...rows);
		while (box.childElementCount > KEPT) box.firstChild.remove();
		if (atEnd) box.scrollTop = box.scrollHeight;
	}
	ctx.render();
}

const hide = (node, text) => {
	node.hidden = !has(node.textContent, text);
};

function view(ctx) {
	const { query, status, local } = ctx;
	const names = [...new Set([...status.tasks.map((task) => task.id), ...(query.task ? [query.task] : [])])].sort();
	const plugins = [...new Set([...status.plugins.map((plugin) => plugin.name), ...(query.plugin ? [query.plugin] : [])])].sort();
	const held = local.pending?.length ?? 0;
	return [
		heading(
			"Logs",
			null,
			button(local.paused ? `Resume${held ? ` (${count(held, "new line")})` : ""}` : "Pause", () => {
				local.paused = !local.paused;
				flush(ctx);
				ctx.render();
			}),
		),
		filters(
			local.fault ? "" : local.connected ? (local.paused ? "paused" : "following") : "connecting…",
			search(ctx, "text", "Filter shown lines by text", "text"),
			choose(ctx, "level", "Level", [["", "All"], ...LEVELS.map((level) => [level, `${level} and above`])]),
			choose(ctx, "task", "Task", allOf(names)),
			choose(ctx, "plugin", "Plugin", allOf(plugins)),
			search(ctx, "run", "Filter by run", "id of a run"),
		),
		query.run && !isRun(query.run) && el("p", { class: "fault", role: "alert", "data-key": "run" }, "The id of a run has 26 characters."),
		local.fault && el("p", { class: "message bad" }, theirs(`${local.fault.message} (${local.fault.code})`)),
		el("div", { class: "panel logs", "data-own": true, tabindex: "0", role: "log", "aria-live": "off", "aria-label": "Lines of the log", "data-key": "lines" }),
	];
}

export default {
	view,
	/** After each rendering: the lines are the page's own, not the view's. */
	shown(ctx, main) {
		const { local } = ctx;
		local.box = main.querySelector("[data-own]");
		const isNew = local.key !== JSON.stringify(filterOf(ctx.query));
		if (!document.hidden && (isNew || (!local.stop && !local.fault && Date.now() > local.retryAt))) follow(ctx);
		if (local.text !== ctx.query.text) {
			local.text = ctx.query.text;
			for (const node of local.box.children) hide(node, local.text);
		}
	},
	hide(ctx) {
		ctx.local.stop?.abort();
		Object.assign(ctx.local, { stop: null, retryAt: 0 });
	},
	leave(ctx) {
		this.hide(ctx);
	},
};
