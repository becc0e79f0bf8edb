"use strict";

// Pages are whole without this. It counts down to instants, and puts in place what has changed.

const MINUTE = 60, HOUR = 3600, DAY = 86400;

function left(seconds) {
  if (seconds <= 0) return "now";
  const whole = Math.ceil(seconds);
  const pair = (big, unit, small, name) =>
    `in ${Math.floor(whole / big)} ${unit} ${Math.floor((whole % big) / small)} ${name}`;
  if (whole < MINUTE) return `in ${whole} s`;
  if (whole < HOUR) return pair(MINUTE, "min", 1, "s");
  return whole < 2 * DAY ? pair(HOUR, "h", MINUTE, "min") : pair(DAY, "d", HOUR, "h");
}

function countDown() {
  const now = Date.now();
  for (const time of document.querySelectorAll("time[data-until]")) {
    const text = left((Date.parse(time.dataset.until) - now) / 1000);
    if (time.textContent !== text) time.textContent = text;
  }
}

countDown();
setInterval(countDown, 1000);

// Where an element stands below an ancestor, for its successor to be found when that is replaced.
function pathOf(element, ancestor) {
  const path = [];
  for (; element !== ancestor; element = element.parentElement) {
    path.unshift(Array.prototype.indexOf.call(element.parentElement.children, element));
  }
  return path;
}

// The link to the same page, else what stands in the same place.
function successor(root, path, former) {
  const href = former.getAttribute("href");
  const same = href && [...root.querySelectorAll("a[href]")].find((link) => link.getAttribute("href") === href);
  const at = path.reduce((element, index) => element && element.children[index], root);
  return same || (at?.tagName === former.tagName ? at : null);
}

const waiting = new Map();

document.addEventListener("focusout", () => setTimeout(() => {
  const parts = [...waiting];
  waiting.clear();
  parts.forEach(([id, html]) => put(id, html));
}));

function put(id, html) {
  waiting.delete(id);
  const old = document.getElementById(id);
  if (!old) return;
  const template = document.createElement("template");
  template.innerHTML = html;
  const fresh = template.content.firstElementChild;
  if (!fresh) return;
  const active = document.activeElement;
  const inside = active !== document.body && old.contains(active);
  // What somebody is filling in is theirs: the part waits until they are elsewhere.
  if (inside && active.matches("input, select, textarea")) return waiting.set(id, html);
  const path = inside && pathOf(active, old);
  const scrolled = [...old.querySelectorAll(".scrolls")].map((box) => box.scrollLeft);
  const open = [...old.querySelectorAll("details")].map((box) => box.open);
  old.replaceWith(fresh);
  fresh.querySelectorAll(".scrolls").forEach((box, index) => { box.scrollLeft = scrolled[index] ?? 0; });
  fresh.querySelectorAll("details").forEach((box, index) => { box.open = open[index] ?? box.open; });
  if (inside) successor(fresh, path, active)?.focus({ preventScroll: true });
}

const LOST = "The connection to the dashboard is lost: this page stands still. It is tried again.";
const address = document.querySelector("main").dataset.live;
const trouble = document.getElementById("trouble");
let source = null, lost = 0;

function tell(text) {
  if (trouble.textContent !== text) trouble.textContent = text;
}

function listen() {
  source = new EventSource(address);
  source.addEventListener("parts", (event) => {
    tell("");
    lost = 0;
    for (const [id, html] of Object.entries(JSON.parse(event.data))) put(id, html);
    countDown();
  });
  source.addEventListener("trouble", (event) => tell(JSON.parse(event.data)));
  source.addEventListener("error", () => {
    // A stream that ends now and then is asked for again by itself; one that was refused is not.
    lost += 1;
    if (lost > 1 || source.readyState === EventSource.CLOSED) tell(LOST);
    if (source.readyState === EventSource.CLOSED) setTimeout(follow, 10000);
  });
}

// A tab that nobody sees holds no connection: browsers allow few to one host.
function follow() {
  source?.close();
  source = null;
  if (document.visibilityState === "visible") listen();
}

if (address) {
  document.addEventListener("visibilitychange", follow);
  window.addEventListener("pagehide", () => source?.close());
  window.addEventListener("pageshow", (event) => event.persisted && follow());
  follow();
}
