// SPDX-License-Identifier: Apache-2.0
// The frame of the page: login, addresses, refreshing, keyboard.
import * as api from "./api.js";
import { dismiss, onChange } from "./actions.js";
import { el, patch, visible } from "./dom.js";
import { badge, button, heading, theirs } from "./parts.js";
import { precise, setClock, setZone, tick, when, zoneName, zones } from "./time.js";
import audit from "./audit.js";
import dead from "./dead.js";
import logs from "./logs.js";
import overview from "./overview.js";
import plugins from "./plugins.js";
import run from "./run.js";
import runs from "./runs.js";
import schedule from "./schedule.js";
import system from "./system.js";
import task from "./task.js";
import tasks from "./tasks.js";
import waiting from "./waiting.js";

/** How often the page asks while it is visible, milliseconds. */
const PERIOD = 2000;

const NAV = [
	["overview", "Overview", "o"],
	["tasks", "Tasks", "t"],
	["runs", "Runs", "r"],
	["waiting", "Waiting", "w"],
	["dead", "Dead", "d"],
	["schedule", "Schedule", "c"],
	["plugins", "Plugins", "p"],
	["logs", "Logs", "l"],
	["audit", "Audit", "a"],
	["system", "System", "s"],
];
const PAGES = { __proto__: null, overview, tasks, runs, waiting, dead, schedule, plugins, logs, audit, system };
const DETAILS = { __proto__: null, tasks: task, runs: run };

const main = document.getElementById("main");
const top = document.getElementById("top");
const banners = document.getElementById("banners");
const foot = document.getElementById("foot");

const state = {
	status: null,
	pending: 0,
	answeredAt: null,
	lostSince: null,
	lostReason: "",
	loginFault: null,
};
let view = null;
let timer = null;

// MARK: Addresses

/** The page, the object and the query of an address such as `#/tasks/ID?text=a`. */
function parse(hash) {
	const [path, query] = hash.replace(/^#\/?/, "").split("?");
	const [name, id] = path.split("/");
	const decoded = id === undefined ? null : safely(() => decodeURIComponent(id));
	const page = decoded !== null && decoded !== "" ? DETAILS[name] : PAGES[name || "overview"];
	return { name: name || "overview", id: decoded, page, query: Object.fromEntries(new URLSearchParams(query ?? "")) };
}

const safely = (call) => {
	try {
		return call();
	} catch {
		return null;
	}
};

const ticketIn = (hash) => /^#([A-Za-z0-9_-]{16,128})$/.exec(hash)?.[1];

async function go() {
	const ticket = ticketIn(location.hash);
	if (ticket) {
		// First of all, so that the ticket cannot be copied or come into the history.
		history.replaceState(null, "", `${location.pathname}${sessionStorage.getItem("bghost.place") ?? "#/"}`);
		await enter(ticket);
	}
	if (!api.current()) return showLogin();
	show();
}

async function enter(ticket) {
	state.loginFault = null;
	try {
		await api.login(ticket);
	} catch (error) {
		state.loginFault = error;
	}
}

function show(typed = false) {
	const route = parse(location.hash);
	if (route.name === view?.route.name && route.id === view.route.id) {
		view.route = route;
		view.ctx.query = route.query;
		remember();
		render();
		clearTimeout(timer);
		// Not a question for each letter.
		timer = setTimeout(refresh, typed ? 300 : 0, true);
		return;
	}
	view?.ctx.abort.abort();
	view?.route.page?.leave?.(view.ctx);
	dismiss();
	const isFirst = view === null;
	view = { route, data: null, fault: null, ctx: context(route) };
	remember();
	main.classList.remove("out");
	main.replaceChildren();
	render();
	if (!isFirst) {
		scrollTo(0, 0);
		main.querySelector("h1")?.focus({ preventScroll: true });
	}
	refresh(true);
}

const remember = () => sessionStorage.setItem("bghost.place", location.hash || "#/");

function context(route) {
	const own = {
		id: route.id,
		query: route.query,
		abort: new AbortController(),
		local: {},
		get status() {
			return state.status;
		},
		get pending() {
			return state.pending;
		},
		get: (path, query) => api.get(path, query, own.abort.signal),
		render: () => view?.ctx === own && render(),
		reload: () => view?.ctx === own && refresh(true),
		/** Puts filters into the address; going back skips the letters of `typed` ones. */
		setQuery(changes, typed = false) {
			const query = { ...own.query, ...changes };
			const text = new URLSearchParams(Object.entries(query).filter(([, value]) => value)).toString();
			const hash = `#/${view.route.name}${own.id ? `/${encodeURIComponent(own.id)}` : ""}${text ? `?${text}` : ""}`;
			if (typed) history.replaceState(null, "", hash);
			else history.pushState(null, "", hash);
			show(typed);
		},
	};
	return own;
}

addEventListener("hashchange", go);
addEventListener("popstate", () => location.hash && !ticketIn(location.hash) && go());

// MARK: Data

let round = 0;

async function refresh(fresh = false) {
	if (!view || !api.current() || document.hidden) return;
	clearTimeout(timer);
	const mine = ++round;
	const shown = view;
	const page = shown.route.page;
	try {
		const [status, pending, data] = await Promise.all([
			shown.ctx.get("/v1/status"),
			// The status has one request of a task at most; retries are beside it.
			shown.ctx.get("/v1/pending", { limit: 1 }),
			page?.load ? page.load(shown.ctx, fresh) : null,
		]);
		if (mine !== round) return;
		state.status = status;
		state.pending = pending.total;
		state.answeredAt = Date.now();
		state.lostSince = null;
		setClock(api.lastDate(), api.rounded(status.daemon.simulation?.clockOffsetNanoseconds) / 1e6);
		shown.data = data;
		shown.fault = null;
	} catch (error) {
		if (mine !== round || shown !== view) return;
		if (error instanceof api.Refusal && error.status !== 401 && error.status < 500) {
			shown.fault = error;
			shown.data = null;
			state.lostSince = null;
		} else if (!(error instanceof api.Refusal && error.status === 401)) {
			if (shown.ctx.abort.signal.aborted) return;
			state.lostSince ??= Date.now();
			state.lostReason = error.message;
		}
	}
	if (!api.current()) return;
	render();
	timer = setTimeout(refresh, PERIOD);
}

onChange(() => refresh(true));

document.addEventListener("visibilitychange", () => {
	if (document.hidden) {
		clearTimeout(timer);
		view?.route.page?.hide?.(view.ctx);
	} else {
		tick();
		refresh(true);
	}
});

setInterval(() => document.hidden || tick(), 1000);

// MARK: Frame

function render() {
	if (!view || !api.current()) return;
	renderTop();
	renderBanners();
	const { route, ctx, data, fault } = view;
	document.body.classList.toggle("stale", state.lostSince !== null);
	const title = route.id ?? NAV.find(([name]) => name === route.name)?.[1] ?? "There is no such page";
	document.title = `${visible(title)} · bghost${api.current().host ? ` · ${api.current().host}` : ""}`;
	if (!route.page) {
		patch(main, heading(title), el("p", null, el("a", { href: "#/" }, "Go to the overview")));
	} else if (fault) {
		patch(
			main,
			heading(title),
			el("div", { class: "panel" }, el("p", null, theirs(`${fault.message} (${fault.code})`)), fault.fix && el("p", { class: "quiet" }, theirs(fault.fix))),
		);
	} else if (!state.status || (route.page.load && !data)) {
		patch(main, heading(title), el("p", { class: "quiet" }, state.lostSince ? "The daemon does not answer." : "Loading…"));
	} else {
		patch(main, route.page.view(ctx, data));
		route.page.shown?.(ctx, main);
	}
	tick();
}

function renderTop() {
	const { status } = state;
	const session = api.current();
	const daemon = status?.daemon;
	const counts = { waiting: state.pending, dead: status?.deadLetters };
	patch(
		top,
		el(
			"div",
			{ class: "line" },
			el("a", { class: "brand", href: "#/" }, el("img", { src: "/app/icon.svg", alt: "", width: "22", height: "22" }), "bghost"),
			el("span", { class: "host" }, theirs(session.host ?? "")),
			state.lostSince
				? badge("bad", "no answer")
				: daemon && (daemon.draining ? badge("warn", "draining") : status.store?.failingSince ? badge("bad", "store failing") : badge("good", "ready")),
			daemon && el("span", { class: "quiet wideonly" }, `${daemon.version} · up `, when(daemon.startedAt, "since")),
			el("span", { class: "space" }),
			session.role !== "operate" && badge("off", "read-only"),
			el(
				"label",
				{ class: "choose" },
				el("span", null, "Times"),
				el(
					"select",
					{ on: { change: (event) => (setZone(event.currentTarget.value), render()) } },
					zones().map((name) => el("option", { value: name, selected: name === zoneName() }, name === "UTC" ? "UTC" : name.split("/").pop().replaceAll("_", " "))),
				),
			),
			button("?", help, "plain", "Keyboard help"),
			button("Log out", () => api.logout().catch(() => {}), "plain"),
		),
		el(
			"nav",
			{ "aria-label": "Pages" },
			NAV.map(([name, text]) =>
				el(
					"a",
					{ href: `#/${name === "overview" ? "" : name}`, "aria-current": view.route.name === name ? "page" : null },
					text,
					counts[name] > 0 && el("span", { class: `count ${name}` }, String(counts[name])),
				),
			),
		),
	);
}

function renderBanners() {
	const { status } = state;
	const simulation = status?.daemon.simulation;
	const offset = api.rounded(simulation?.clockOffsetNanoseconds) / 1e9;
	patch(
		banners,
		state.lostSince &&
			el(
				"div",
				{ class: "banner bad", "data-key": "lost" },
				el("strong", null, `The daemon has not answered since ${precise(state.lostSince).slice(0, 8)}`),
				` (${state.lostReason}). `,
				state.answeredAt ? `What is shown is from ${precise(state.answeredAt).slice(0, 8)}. ` : "",
				"The page goes on by itself when the daemon answers.",
			),
		status?.store?.failingSince &&
			el(
				"div",
				{ class: "banner bad", "data-key": "store" },
				el("strong", null, "The store is failing"),
				" since ",
				when(status.store.failingSince, "short"),
				": ",
				theirs(status.store.problem ?? "the reason is not known"),
				". The daemon refuses new requests until it works again, and ends of runs wait for it.",
			),
		simulation &&
			el(
				"div",
				{ class: "banner warn", "data-key": "simulation" },
				el("strong", null, "Simulation: "),
				[offset && `the clock is ${offset > 0 ? "ahead" : "behind"} by ${Math.abs(Math.round(offset))} s`, ...simulation.facts.map(({ name, value }) => `${name} ${value === "holds" ? "met" : value === "fails" ? "unmet" : value}`)].filter(Boolean).join(", "),
				". It ends with the daemon.",
			),
	);
}

// MARK: Login

function showLogin() {
	view?.ctx.abort.abort();
	view?.route.page?.leave?.(view.ctx);
	view = null;
	round += 1;
	clearTimeout(timer);
	Object.assign(state, { status: null, pending: 0, answeredAt: null, lostSince: null });
	document.querySelector("dialog[open]")?.close();
	document.body.classList.remove("stale");
	document.title = "Log in · bghost";
	patch(top);
	patch(banners);
	dismiss();
	main.classList.add("out");
	const fault = state.loginFault;
	main.replaceChildren(
		el(
			"div",
			{ class: "login" },
			el("p", { class: "brand" }, el("img", { src: "/app/icon.svg", alt: "", width: "28", height: "28" }), "bghost"),
			el("h1", { tabindex: "-1" }, "Log in"),
			fault && el("div", { class: fault.code ? "fault" : "", role: "alert" }, el("p", null, theirs(fault.text ?? `${fault.message}${fault.code ? ` (${fault.code})` : ""}`))),
			el("p", null, "Run this on the machine of the daemon, and open the address that it prints:"),
			el("div", { class: "command" }, el("code", null, "bghost dashboard")),
			el("p", { class: "quiet" }, "The address works once, and for 60 seconds. From another machine, forward the port first: ", el("code", null, `ssh -L ${location.port || 80}:${location.host} HOST`)),
		),
	);
	main.querySelector("h1").focus();
}

api.events.addEventListener("ended", ({ detail }) => {
	state.loginFault = { text: detail };
	showLogin();
});

// MARK: Keyboard

const shortcuts = () => localStorage.getItem("bghost.keys") !== "off";
let chord = 0;

document.addEventListener("keydown", (event) => {
	if (!shortcuts() || !view || event.ctrlKey || event.metaKey || event.altKey) return;
	if (event.target.closest("input, textarea, select, dialog")) return;
	if (event.key === "/") {
		const field = main.querySelector("[data-search]");
		event.preventDefault();
		if (field) field.focus();
		else location.hash = "#/tasks";
	} else if (event.key === "?") {
		help();
	} else if (event.key === "g") {
		chord = Date.now();
		return;
	} else if (Date.now() - chord < 1500) {
		const target = NAV.find(([, , key]) => key === event.key);
		if (target) location.hash = `#/${target[0] === "overview" ? "" : target[0]}`;
	}
	chord = 0;
});

function help() {
	const dialog = el(
		"dialog",
		{ "aria-labelledby": "help-title" },
		el("h2", { id: "help-title" }, "Keyboard"),
		el(
			"dl",
			{ class: "keys" },
			[["/", "filter"], ...NAV.map(([, text, key]) => [`g ${key}`, text]), ["?", "this help"]].map(([keys, text]) =>
				el("div", null, el("dt", null, keys.split(" ").map((key) => el("kbd", null, key))), el("dd", null, text)),
			),
		),
		el(
			"div",
			{ class: "check" },
			el("input", { type: "checkbox", id: "keys-on", checked: shortcuts(), on: { change: (event) => localStorage.setItem("bghost.keys", event.currentTarget.checked ? "on" : "off") } }),
			el("label", { for: "keys-on" }, "Use these keys"),
		),
		el("div", { class: "choices" }, button("Close", () => dialog.close(), "main")),
	);
	dialog.addEventListener("close", () => dialog.remove());
	document.body.append(dialog);
	dialog.showModal();
}

// A link to the part of the page that is shown already would be taken for an address.
document.addEventListener("click", (event) => {
	const link = event.target.closest?.("a.skip, a[data-inside]");
	if (!link) return;
	event.preventDefault();
	const target = document.getElementById(link.getAttribute("href").slice(1));
	target?.scrollIntoView();
	target?.focus();
});

if (!ticketIn(location.hash)) await api.adopt();
go();
