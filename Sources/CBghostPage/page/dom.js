// SPDX-License-Identifier: Apache-2.0
// Builds elements, and patches the shown tree to match a new one.

/** Characters that act on the text around them instead of being shown. */
const UNSEEN =
	/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** The text with each character that cannot be seen replaced by its code point. */
export function visible(text) {
	return String(text).replace(UNSEEN, (c) => `⟨U+${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
}

// One listener for each type of event stays on an element; what it calls is replaced with each patch.
function fire(event) {
	event.currentTarget.handlers?.[event.type]?.(event);
}

function build(node, props, children) {
	for (const [name, value] of Object.entries(props ?? {})) {
		if (value == null || value === false) continue;
		if (name === "on") {
			node.handlers = value;
			for (const type of Object.keys(value)) node.addEventListener(type, fire);
		} else if (name === "style") {
			for (const [key, part] of Object.entries(value)) node.style.setProperty(key, part);
		} else {
			node.setAttribute(name, value === true ? "" : visible(value));
		}
	}
	for (const child of children.flat(Infinity)) {
		if (child == null || child === false || child === "") continue;
		node.append(child instanceof Node ? child : document.createTextNode(visible(child)));
	}
	return node;
}

/** Creates an element; `on` holds handlers by event, `data-key` identifies it among its siblings. */
export function el(tag, props, ...children) {
	return build(document.createElement(tag), props, children);
}

export function svg(tag, props, ...children) {
	return build(document.createElementNS("http://www.w3.org/2000/svg", tag), props, children);
}

const keyOf = (node) => (node.nodeType === 1 ? node.getAttribute("data-key") : null);
const isSame = (a, b) => a.nodeType === b.nodeType && a.nodeName === b.nodeName && keyOf(a) === keyOf(b);

/** Replaces the children of `parent`; an element that both have keeps its focus, selection and scrolling. */
export function patch(parent, ...children) {
	const next = build(document.createDocumentFragment(), null, children);
	patchChildren(parent, next);
}

function patchChildren(from, to) {
	const wanted = [...to.childNodes];
	const keys = new Set(wanted.map(keyOf));
	const keyed = new Map();
	for (const child of [...from.childNodes]) {
		const key = keyOf(child);
		if (key === null) continue;
		// Removed first, so that those that stay need not move: an element that moves loses the focus.
		if (keys.has(key)) keyed.set(key, child);
		else child.remove();
	}
	let place = from.firstChild;
	for (const child of wanted) {
		const key = keyOf(child);
		let match = key === null ? place : keyed.get(key);
		if (key === null) {
			while (match && keyOf(match) !== null) match = match.nextSibling;
			if (match && !isSame(match, child)) match = null;
		} else if (match && !isSame(match, child)) {
			match = null;
		}
		if (!match) {
			from.insertBefore(child, place);
			continue;
		}
		if (match === place) place = place.nextSibling;
		else from.insertBefore(match, place);
		patchNode(match, child);
	}
	while (place) {
		const rest = place.nextSibling;
		place.remove();
		place = rest;
	}
}

function patchNode(from, to) {
	if (from.nodeType !== 1) {
		if (from.data !== to.data) from.data = to.data;
		return;
	}
	for (const { name } of [...from.attributes]) {
		// `open` of details belongs to the viewer.
		if (!to.hasAttribute(name) && name !== "open") from.removeAttribute(name);
	}
	for (const { name, value } of to.attributes) {
		if (name !== "open" && from.getAttribute(name) !== value) from.setAttribute(name, value);
	}
	for (const type of Object.keys(to.handlers ?? {})) {
		if (!from.handlers || !(type in from.handlers)) from.addEventListener(type, fire);
	}
	if (from.handlers || to.handlers) from.handlers = to.handlers ?? {};
	if (from.hasAttribute("data-own")) return;
	patchChildren(from, to);
	if (/^(INPUT|SELECT|TEXTAREA|PROGRESS)$/.test(from.nodeName) && from !== document.activeElement) {
		if (from.value !== to.value) from.value = to.value;
		if (from.checked !== to.checked) from.checked = to.checked;
	}
}
