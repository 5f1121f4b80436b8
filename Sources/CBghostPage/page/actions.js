// SPDX-License-Identifier: Apache-2.0
// The actions: each asks first, names what it does to what, and shows the command line that it equals.
import { get, mayOperate, post, remove } from "./api.js";
import { el, patch } from "./dom.js";
import { parameterFault, parameterFields, parameterValue } from "./parameters.js";
import { button, href, shortId } from "./parts.js";
import { count, number } from "./time.js";

/** The daemon found another number than the dialog shows, and did nothing. */
const COUNT_CHANGED = "BG4074";

/** A word of a shell's command line. */
export function word(text) {
	if (/^[\w@%+=:,./-]+$/.test(text)) return text;
	if (/[\u0000-\u001f\u007f]/.test(text)) {
		return `$'${text.replace(/['\\]/g, "\\$&").replace(/[\u0000-\u001f\u007f]/g, (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, "0")}`)}'`;
	}
	return `'${text.replaceAll("'", "'\\''")}'`;
}

const command = (...words) => ["bghost", ...words.filter((part) => part != null).map(word)].join(" ");

const notices = document.getElementById("notices");

/** Shows what an action did until the viewer dismisses it or goes on. */
function notice(text, link) {
	patch(
		notices,
		el(
			"div",
			{ class: "notice" },
			el("span", null, text, " ", link && el("a", { href: link.href }, link.text)),
			button("✕", () => patch(notices), "plain", "Dismiss"),
		),
	);
}

export const dismiss = () => patch(notices);

/** The command line that lists the same, to be copied. */
export const asCommand = (...words) => {
	const line = command(...words);
	return el(
		"details",
		{ class: "line-of-list", "data-key": "command" },
		el("summary", null, "As a command"),
		el("div", { class: "command", tabindex: "0", role: "group", "aria-label": "Command line" }, el("code", null, line)),
		// A browser has it for secure origins only, such as 127.0.0.1.
		navigator.clipboard && button("Copy", () => navigator.clipboard.writeText(line).then(() => notice("Copied the command."), () => notice("The browser does not allow copying.")), "small"),
	);
};

let refresh = () => {};
export const onChange = (call) => (refresh = call);

/**
 * Asks with a dialog. `command` and `send` get the values of `fields` by name; `done` says what the daemon did.
 */
function ask({ title, effect, fields = [], command: line, verb, danger, send, done }) {
	const values = Object.fromEntries(fields.map((field) => [field.name, field.value ?? (field.type === "checkbox" ? false : "")]));
	const code = el("code", null, line(values));
	const fault = el("div", { class: "fault", role: "alert" });
	const beside = new Map();
	const inputs = fields.map((field) => {
		const take = (event) => {
			values[field.name] = field.type === "checkbox" ? event.currentTarget.checked : event.currentTarget.value;
			code.textContent = line(values);
		};
		const props = { id: `field-${field.name}`, name: field.name, on: { input: take }, autocomplete: "off", spellcheck: "false" };
		const label = el("label", { for: props.id }, field.label);
		if (field.type === "checkbox") return el("div", { class: "check" }, el("input", { ...props, type: "checkbox" }), label);
		const own = field.parameter === undefined ? null : el("p", { class: "fault", role: "alert", "aria-label": `Fault of ${field.parameter}` });
		if (own) beside.set(field.parameter, own);
		const input =
			field.type === "json"
				? el("textarea", { ...props, rows: "6" }, values[field.name])
				: field.type === "choice"
				? el("select", props, ...field.options.map((option) => el("option", { value: option, selected: option === values[field.name] || null }, option)))
				: el("input", { ...props, type: "text", value: values[field.name], placeholder: field.placeholder, maxlength: "1024" });
		return el("div", { class: "field" }, label, input, field.hint && el("p", { class: "quiet" }, field.hint), own);
	});
	const go = el("button", { type: "submit", class: danger ? "danger" : "main" }, verb);
	const dialog = el(
		"dialog",
		{ "aria-labelledby": "ask-title" },
		el(
			"form",
			{
				on: {
					submit: async (event) => {
						event.preventDefault();
						if (go.disabled) return;
						go.disabled = true;
						patch(fault);
						for (const own of beside.values()) patch(own);
						try {
							const answer = await send(values);
							dialog.close();
							const { text, link } = done(answer, values);
							notice(text, link);
							refresh();
						} catch (error) {
							// The page behind the dialog then shows how many there are.
							if (error.code === COUNT_CHANGED) refresh();
							const others = (error.candidates ?? []).filter((line) => {
								const known = parameterFault(line);
								const own = known && beside.get(known.parameter);
								if (own) own.append(el("span", null, `${known.message}. `));
								return !own;
							});
							patch(
								fault,
								el("p", null, `${capital(error.message)}.`, error.code && ` (${error.code})`),
								...others.map((line) => el("p", null, line)),
								error.fix && el("p", null, capital(error.fix)),
							);
						} finally {
							go.disabled = false;
						}
					},
				},
			},
			el("h2", { id: "ask-title" }, title),
			el("p", null, effect),
			inputs,
			el("p", { class: "quiet" }, "The same on the command line:"),
			el("div", { class: "command", tabindex: "0", role: "group", "aria-label": "Command line" }, code),
			fault,
			el("div", { class: "choices" }, button("Cancel", () => dialog.close()), go),
		),
	);
	dialog.addEventListener("close", () => dialog.remove());
	document.body.append(dialog);
	dialog.showModal();
}

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
const name = (text) => el("strong", null, el("bdi", null, text));

/** A button that acts, for the role `operate` only. */
export const act = (text, click, label, kind = "") =>
	mayOperate() ? button(text, click, kind, label) : null;

/** The schemas of a task's parameters; none if the daemon does not say. */
async function schemasOf(task) {
	try {
		return (await get("/v1/status", { task })).tasks[0]?.parametersSchemas ?? [];
	} catch {
		// The form then asks for JSON.
		return [];
	}
}

export async function runNow(task, parameters = {}) {
	const simple = parameterFields(await schemasOf(task), parameters);
	const rest = Object.fromEntries(Object.entries(parameters).filter(([key]) => !simple.some((field) => field.parameter === key)));
	const given = (values) => {
		const all = object(values.parameters);
		for (const field of simple) {
			const value = parameterValue(field, values[field.name]);
			if (value !== undefined) all[field.parameter] = value;
		}
		return all;
	};
	const words = (values) => {
		try {
			return JSON.stringify(given(values));
		} catch {
			return compact(values.parameters);
		}
	};
	const isFamily = task.endsWith(".*");
	const prefix = task.slice(0, -1);
	const id = (values) => (isFamily ? prefix + values.rest : task);
	ask({
		title: "Run now",
		effect: ["Runs ", name(task), " now: it ignores the start time and throttling. Slots and limits still apply."],
		fields: [
			isFamily && { name: "rest", label: `Identifier, after ${prefix}`, placeholder: "example" },
			...simple,
			{ name: "parameters", label: simple.length ? "Other parameters" : "Parameters", type: "json", value: JSON.stringify(rest, null, 2), hint: "A JSON object; its keys override the task's own parameters." },
			{ name: "ignore", label: "Run it although a requirement is unmet", type: "checkbox" },
		].filter(Boolean),
		command: (values) =>
			command("trigger", id(values), ...(words(values) === "{}" ? [] : ["--parameters", words(values)]), values.ignore ? "--ignore-requirements" : null),
		verb: "Run now",
		send: (values) => post(`/v1/tasks/${encodeURIComponent(id(values))}/trigger`, {}, {
			parameters: given(values),
			...(values.ignore ? { ignoresRequirements: true } : {}),
		}),
		done: ({ request }) => ({
			text: `Requested a run of ${request.task}.`,
			link: { href: href("tasks", request.task), text: "Show the task" },
		}),
	});
}

/** The words of a target for `bghost pause` and `bghost resume`. */
const targetWords = ({ scope, name }) => (scope === "all" ? ["--all"] : scope === "plugin" ? ["--plugin", name] : [name]);
const targetQuery = ({ scope, name }) => (scope === "all" ? { all: "true" } : scope === "plugin" ? { plugin: name } : { task: name });
const targetText = ({ scope, name }) => (scope === "all" ? "all tasks" : scope === "plugin" ? `plugin ${name}` : name);

export function pauseTask(task) {
	const target = { scope: "tasks", name: task };
	ask({
		title: "Pause",
		effect: ["Starts nothing of ", name(task), " until it is resumed. Runs in progress continue; starts of its schedule do not happen."],
		fields: [
			{ name: "until", label: "Until", placeholder: "06:00 or 2026-11-21 06:00", hint: "A time in the zone of the manifest; empty: until it is resumed." },
			{ name: "reason", label: "Reason" },
		],
		command: (values) => command("pause", ...targetWords(target), ...(values.until.trim() ? ["--until", values.until.trim()] : []), ...(values.reason ? ["--reason", values.reason] : [])),
		verb: "Pause",
		send: (values) => post("/v1/pauses", { ...targetQuery(target), until: values.until.trim(), reason: values.reason }),
		done: ({ running }) => ({ text: `Paused ${task}.${running.length ? ` ${count(running.length, "run")} in progress continues.` : ""}` }),
	});
}

/** Ends the pause of a task, which may be that of its plugin or of all tasks. */
export function resumeTask(pause) {
	ask({
		title: "Resume",
		effect: ["Ends the pause of ", name(targetText(pause)), pause.scope === "tasks" && !pause.name.endsWith(".*") ? "." : ", which holds other tasks too."],
		command: () => command("resume", ...targetWords(pause)),
		verb: "Resume",
		send: () => remove("/v1/pauses", targetQuery(pause)),
		done: ({ others }) => ({ text: `Resumed ${targetText(pause)}.${others.length ? ` It is still paused with ${others.map(targetText).join(", ")}.` : ""}` }),
	});
}

function compact(text) {
	try {
		return JSON.stringify(JSON.parse(text));
	} catch {
		return text.trim() || "{}";
	}
}

function object(text) {
	let value;
	try {
		value = JSON.parse(text.trim() || "{}");
	} catch (error) {
		throw new Error(`the parameters are not JSON: ${error.message}`);
	}
	if (value === null || typeof value !== "object" || Array.isArray(value)) throw new Error("the parameters are not a JSON object");
	return value;
}

export const stopRun = (run) =>
	ask({
		title: "Stop the run",
		effect: ["Asks run ", name(shortId(run.id)), " of ", name(run.task), ` to stop. It is killed if it has not ended after ${run.graceSeconds} s, and it is not retried.`],
		command: () => command("stop", run.id),
		verb: "Stop the run",
		danger: true,
		send: () => post(`/v1/runs/${run.id}/stop`),
		done: (answer) => ({ text: `Asked the run of ${answer.task} to stop; it has ${answer.graceSeconds} s.` }),
	});

export const expireRun = (run) =>
	ask({
		title: "Expire the run",
		effect: ["Ends the runtime of run ", name(shortId(run.id)), " of ", name(run.task), ` now. It is killed if it has not ended after ${run.graceSeconds} s. The task's retry policy applies.`],
		command: () => command("expire", run.id),
		verb: "Expire the run",
		danger: true,
		send: () => post(`/v1/runs/${run.id}/expire`),
		done: (answer) => ({ text: `The runtime of the run of ${answer.task} has ended; it has ${answer.graceSeconds} s to stop.` }),
	});

/** Withdraws the pending requests of `{task}`, of the tasks with `{tag}`, or of all tasks. */
export async function withdraw({ task, tag }, total) {
	// The daemon compares what the dialog shows; other pages of the list may have more.
	total ??= await totalOf(task);
	const path = task ? `/v1/tasks/${encodeURIComponent(task)}/pending` : tag ? `/v1/tags/${encodeURIComponent(tag)}/pending` : "/v1/pending";
	const what = task ? name(task) : tag ? ["the tasks with the tag ", name(tag)] : "all tasks";
	ask({
		title: "Withdraw pending requests",
		effect: ["Withdraws the pending requests of ", what, total == null ? "." : ` (${number(total)} now).`, " A run in progress goes on, and a schedule waits for its next time."],
		command: () => command("cancel", ...(task ? [task] : tag ? ["--tag", tag] : ["--all"]), ...expect(total)),
		verb: total == null ? "Withdraw" : `Withdraw ${count(total, "request")}`,
		danger: true,
		send: () => remove(path, { expected: total }),
		done: (answer) => ({ text: `Withdrew ${count(answer.count, "request")}${task ? ` of ${task}` : tag ? ` of tasks with the tag ${tag}` : ""}.` }),
	});
}

/** The number of pending requests of a task; none if the daemon does not say. */
async function totalOf(task) {
	try {
		return (await get("/v1/pending", { task, limit: 1 })).total;
	} catch {
		// The dialog then shows no number, and the action has no condition.
		return null;
	}
}

/** The words of a command line that acts on so many, and on no other number. */
const expect = (total) => (total == null ? [] : ["--expect", String(total)]);

export const clearThrottle = (task, points) =>
	ask({
		title: "Clear throttling",
		effect: ["Clears the throttle points of ", name(task), ` (${points} now), so its next run need not wait for them.`],
		command: () => command("throttle", "clear", task),
		verb: "Clear throttling",
		send: () => remove(`/v1/tasks/${encodeURIComponent(task)}/throttle`),
		done: (answer) => ({ text: `Cleared ${count(answer.points, "throttle point")} of ${answer.task}.` }),
	});

/** Redrives or discards one dead letter, `{request}`, or all of a task, `{task}`. */
function dead(verb, effect, { request, task }, total) {
	const what = request ? ["the dead letter ", name(shortId(request)), " of ", name(task)] : [`the dead letters of `, name(task), total == null ? "" : ` (${number(total)} now)`];
	ask({
		title: verb === "redrive" ? "Redrive" : "Discard",
		effect: [`${verb === "redrive" ? "Redrives" : "Deletes"} `, what, `: ${effect}`],
		command: () => command(verb, ...(request ? [request] : ["--task", task, ...expect(total)])),
		verb: request || total == null ? capital(verb) : `${capital(verb)} ${count(total, "dead letter")}`,
		danger: verb === "discard",
		send: () => post(`/v1/dead/${verb}`, request ? { request } : { task, expected: total }),
		done: (answer) => ({
			text:
				`${verb === "redrive" ? "Redrove" : "Deleted"} ${count(answer.requests.length, "dead letter")}.` +
				(answer.refused.length ? ` ${answer.refused.length} are unchanged: the manifest no longer permits their task.` : "") +
				(answer.more ? " There are more: repeat it." : ""),
		}),
	});
}

export const redrive = (choice, total) => dead("redrive", "they become pending again, with no failures counted.", choice, total);
export const discard = (choice, total) => dead("discard", "they are not tried again. This cannot be undone.", choice, total);

export const disable = (plugin) =>
	ask({
		title: "Disable the plugin",
		effect: ["Switches ", name(plugin), " off, also across restarts: new requests for its tasks are refused, and pending ones wait."],
		fields: [
			{ name: "reason", label: "Reason", type: "text", placeholder: "shown by bghost status" },
			{ name: "stop", label: "Also ask its runs to stop", type: "checkbox" },
		],
		command: (values) => command("disable", plugin, ...(values.reason ? ["--reason", values.reason] : []), values.stop ? "--stop" : null),
		verb: "Disable",
		danger: true,
		send: (values) => post(`/v1/plugins/${encodeURIComponent(plugin)}/disable`, { reason: values.reason, stop: values.stop ? "true" : "" }),
		done: (answer) => ({
			text: `Disabled ${answer.plugin}.${answer.stopping.length ? ` Asked ${count(answer.stopping.length, "run")} to stop.` : answer.running.length ? ` ${count(answer.running.length, "run")} in progress.` : ""}`,
		}),
	});

export const enable = (plugin) =>
	ask({
		title: "Enable the plugin",
		effect: ["Switches ", name(plugin), " on, and lifts its quarantine."],
		command: () => command("enable", plugin),
		verb: "Enable",
		send: () => post(`/v1/plugins/${encodeURIComponent(plugin)}/enable`),
		done: (answer) => ({ text: `Enabled ${answer.plugin}.` }),
	});

export const reload = (manifest, report) =>
	ask({
		title: "Reload the manifest",
		effect: ["Reads ", name(manifest), " again and puts it in force: all of it, or nothing if it has an error. Runs in progress go on."],
		command: () => command("reload"),
		verb: "Reload",
		send: () => post("/v1/reload"),
		done: (answer) => {
			report(answer);
			return { text: "Reloaded the manifest." };
		},
	});

/** What a reload would change, without doing it. */
export const checkReload = (manifest, report) =>
	ask({
		title: "Check the manifest",
		effect: ["Reads ", name(manifest), " and says what a reload would change. Nothing changes."],
		command: () => command("reload", "--dry-run"),
		verb: "Check",
		send: () => post("/v1/reload", { dryRun: "true" }),
		done: (answer) => {
			report(answer);
			return { text: "Checked the manifest; nothing changed." };
		},
	});

export const backup = () =>
	ask({
		title: "Back up the state",
		effect: "Writes a copy of the store and of the transfers into a new folder on the daemon's machine, as the daemon's user.",
		fields: [
			{ name: "folder", label: "Folder", type: "text", placeholder: "/var/backups/bghost-1", hint: "An absolute path; nothing must be there." },
		],
		command: (values) => command("backup", values.folder || "FOLDER"),
		verb: "Back up",
		send: (values) => post("/v1/backup", { folder: values.folder }),
		done: (answer) => ({ text: `Wrote ${count(answer.bytes, "byte")} to ${answer.folder}.` }),
	});
