// SPDX-License-Identifier: Apache-2.0
// Times, durations and sizes as text.
import { el } from "./dom.js";

const local = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
let zone = localStorage.getItem("bghost.zone") === "UTC" ? "UTC" : local;
let offset = 0;

export const zones = () => [...new Set([local, "UTC"])];
export const zoneName = () => zone;

export function setZone(name) {
	zone = name;
	localStorage.setItem("bghost.zone", name === "UTC" ? "UTC" : "local");
}

/** Takes over the daemon's clock: the date of an answer, and the simulated offset in milliseconds. */
export function setClock(date, simulated) {
	const machine = date ? Date.parse(date) + 500 - Date.now() : 0;
	// The date has whole seconds: a smaller difference says nothing.
	offset = (Math.abs(machine) > 2000 ? machine : 0) + simulated;
}

/** The daemon's time, Unix milliseconds. */
export const now = () => Date.now() + offset;

const formats = new Map();
function format(time, name, options) {
	const key = name + JSON.stringify(options);
	if (!formats.has(key)) formats.set(key, new Intl.DateTimeFormat("en-GB", { timeZone: name, hourCycle: "h23", ...options }));
	return formats.get(key).format(time);
}

const day = { year: "numeric", month: "2-digit", day: "2-digit" };
const dayOf = (time, name) => format(time, name, day).split("/").reverse().join("-");
const clock = { hour: "2-digit", minute: "2-digit", second: "2-digit" };

/** Date and time to the millisecond, in the chosen zone and in UTC. */
export function exact(time) {
	const at = (name) =>
		`${dayOf(time, name)} ${format(time, name, { ...clock, fractionalSecondDigits: 3 })} ${name === "UTC" ? "UTC" : format(time, name, { timeZoneName: "longOffset" }).split(", ").pop()}`;
	return zone === "UTC" ? at("UTC") : `${at(zone)}\n${at("UTC")}`;
}

/** The time of day, with the date unless it is today. */
export function short(time, seconds = true) {
	const options = seconds ? clock : { hour: "2-digit", minute: "2-digit" };
	const text = format(time, zone, options);
	return dayOf(time, zone) === dayOf(now(), zone) ? text : `${dayOf(time, zone)} ${text}`;
}

export const precise = (time) => format(time, zone, { ...clock, fractionalSecondDigits: 3 });
export const date = (time) => dayOf(time, zone);

const UNITS = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];

/** A duration in seconds, as two units at most. */
export function duration(seconds) {
	if (seconds == null) return "";
	if (seconds < 0.0005) return `${Math.round(seconds * 1e6)} µs`;
	if (seconds < 1) return `${Math.round(seconds * 1e3)} ms`;
	if (seconds < 10) return `${Number(seconds.toFixed(2))} s`;
	const whole = Math.round(seconds);
	const index = UNITS.findIndex(([size]) => whole >= size);
	const [size, unit] = UNITS[index];
	const [less, lesser] = UNITS[index + 1] ?? [];
	const rest = less ? Math.floor((whole % size) / less) : 0;
	return `${Math.floor(whole / size)} ${unit}${rest ? ` ${rest} ${lesser}` : ""}`;
}

function relative(time) {
	const seconds = (time - now()) / 1000;
	const size = Math.abs(seconds);
	if (size < 1) return "now";
	const unit = UNITS.find(([length]) => size >= length);
	const text = size < 120 ? `${Math.floor(size)} s` : size < 7200 ? `${Math.floor(size / 60)} min` : size < 172800 ? `${Math.floor(size / 3600)} h` : `${Math.floor(size / unit[0])} ${unit[1]}`;
	return seconds > 0 ? `in ${text}` : `${text} ago`;
}

const shows = {
	relative,
	short,
	precise,
	/** How long it has been, for what goes on. */
	since: (time) => duration(Math.max(0, Math.floor((now() - time) / 1000))) || "0 s",
};

/** A `time` element; `show` is a name in `shows`. */
export function when(text, show = "relative", absent = "–") {
	if (!text || Number.isNaN(Date.parse(text))) return el("span", { class: "quiet" }, absent);
	const time = Date.parse(text);
	return el("time", { datetime: text, title: exact(time), "data-show": show }, shows[show](time));
}

/** Brings all relative times up to date. */
export function tick() {
	for (const node of document.querySelectorAll("time[data-show=relative], time[data-show=since]")) {
		const text = shows[node.dataset.show](Date.parse(node.dateTime));
		if (node.textContent !== text) node.textContent = text;
	}
}

export function bytes(count) {
	if (count == null) return "";
	const units = ["B", "KiB", "MiB", "GiB", "TiB"];
	let index = 0;
	while (count >= 1024 && index < units.length - 1) [count, index] = [count / 1024, index + 1];
	return `${index && count < 10 ? count.toFixed(1) : Math.round(count)} ${units[index]}`;
}

export const number = (value) => Number(value).toLocaleString("en-GB");
export const count = (value, noun, nouns = `${noun}s`) => `${number(value)} ${value === 1 ? noun : nouns}`;
