// The flame graph of a page: stacks of functions from the outermost down, as wide as what they have, and a table of functions
// beside it. Of the page it takes section.flame, whose script element has the tree.
(() => {
  "use strict";
  const section = document.querySelector("section.flame");
  if (!section) return;
  const data = JSON.parse(section.querySelector("script").textContent);
  const { names, files, parent, name, file, line, figures } = data;
  const count = parent.length;
  const rowHeight = 22, least = 0.0007, mostRows = 100;
  const make = (tag, className, text) => {
    const element = document.createElement(tag);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    return element;
  };

  // Children of each node, by first and next.
  const first = new Int32Array(count).fill(-1), next = new Int32Array(count).fill(-1), depth = new Int32Array(count);
  for (let node = count - 1; node > 0; --node) {
    next[node] = first[parent[node]];
    first[parent[node]] = node;
  }
  for (let node = 1; node < count; ++node) depth[node] = depth[parent[node]] + 1;

  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
  const textOf = (value) => {
    if (!figures[figure].bytes) return Math.round(value).toLocaleString("en");
    let unit = 0;
    while (value >= 1024 && unit + 1 < units.length) { value /= 1024; ++unit; }
    return (unit === 0 ? value.toString() : value.toPrecision(3)) + " " + units[unit];
  };
  const percent = (part, whole) => (whole === 0 ? 0 : 100 * part / whole).toFixed(1) + "%";
  const nameOf = (node) => node === 0 ? "all" : names[name[node]];
  const placeOf = (node) => node === 0 || !files[file[node]] ? "" : files[file[node]] + (line[node] ? ":" + line[node] : "");

  let figure = 0, total, zoomed = 0, focused = 0, wanted = "";
  let shown = [];   // frames that are drawn: node, x, width, element
  let rows = [];    // of the table: name, total, self

  const sums = figures.map(() => null);
  const totals = () => {
    if (sums[figure] === null) {
      const sum = Float64Array.from(figures[figure].own);
      for (let node = count - 1; node > 0; --node) sum[parent[node]] += sum[node];
      sums[figure] = sum;
    }
    return sums[figure];
  };

  // Of each function what it has itself, and with what it calls; where it calls itself, once.
  const functions = () => {
    const has = new Float64Array(names.length), self = new Float64Array(names.length), active = new Int32Array(names.length);
    const own = figures[figure].own, stack = [0];
    while (stack.length) {
      const node = stack.pop();
      if (node < 0) { --active[name[~node]]; continue; }
      if (node > 0) {
        self[name[node]] += own[node];
        if (active[name[node]]++ === 0) has[name[node]] += total[node];
        stack.push(~node);
      }
      for (let child = first[node]; child >= 0; child = next[child]) if (total[child] > 0) stack.push(child);
    }
    rows = names.map((text, index) => ({ text, has: has[index], self: self[index] })).filter((row) => row.has > 0);
  };

  const controls = make("div", "flame-controls");
  const choice = make("fieldset");
  choice.append(make("legend", "", "Width of a function"));
  figures.forEach((one, index) => {
    const label = make("label");
    const radio = make("input");
    radio.type = "radio"; radio.name = "flame-figure"; radio.value = String(index); radio.checked = index === 0;
    radio.addEventListener("change", () => { figure = index; choose(); });
    label.append(radio, " " + one.title);
    choice.append(label);
  });
  const searchLabel = make("label", "flame-search", "Search ");
  const search = make("input");
  search.type = "search"; search.placeholder = "function or file";
  search.addEventListener("input", () => { wanted = search.value.toLowerCase(); mark(); table(); });
  searchLabel.append(search);
  const whole = make("button", "", "Whole graph");
  whole.type = "button";
  whole.addEventListener("click", () => zoom(0));
  controls.append(choice, searchLabel, whole);
  const status = make("p", "flame-status muted");
  status.setAttribute("role", "status");
  const graph = make("div", "flame-graph");
  graph.setAttribute("role", "tree");
  graph.setAttribute("aria-label", "Call stacks. Arrows go up, down and beside; Enter widens a function to the whole width, Escape goes back.");
  const about = make("p", "flame-about");
  const list = make("div", "flame-table");
  const both = make("div", "flame-both");
  const left = make("div", "flame-left");
  left.append(graph, about);
  both.append(left, list);
  section.append(controls, status, both);

  const matches = (node) => wanted !== "" && node !== 0 && (names[name[node]].toLowerCase().includes(wanted) || files[file[node]].toLowerCase().includes(wanted));

  const describe = (node) => {
    const place = placeOf(node);
    about.textContent = `${nameOf(node)}${place ? " (" + place + ")" : ""}: ${textOf(total[node])}, ${percent(total[node], total[0])}; itself ${textOf(figures[figure].own[node])}`;
  };

  const layout = () => {
    const found = [], path = [];
    for (let node = zoomed; ; node = parent[node]) { path.unshift(node); if (node === 0) break; }
    for (const node of path) found.push({ node, x: 0, width: 1 });
    const queue = [found[found.length - 1]];
    while (queue.length) {
      const { node, x, width } = queue.shift();
      const children = [];
      for (let child = first[node]; child >= 0; child = next[child]) if (total[child] > 0) children.push(child);
      children.sort((a, b) => total[b] - total[a] || a - b);
      let at = x;
      for (const child of children) {
        const wide = total[node] === 0 ? 0 : width * total[child] / total[node];
        if (wide < least) break;
        const frame = { node: child, x: at, width: wide };
        found.push(frame); queue.push(frame);
        at += wide;
      }
    }
    return found;
  };

  const draw = () => {
    shown = layout();
    const fragment = document.createDocumentFragment();
    const ancestors = new Set();
    for (let node = zoomed; node !== 0; node = parent[node]) ancestors.add(parent[node]);
    let deepest = 0;
    shown.forEach((frame, index) => {
      const { node, x, width } = frame;
      const element = frame.element = make("div", "frame" + (ancestors.has(node) ? " above" : ""), nameOf(node));
      element.style.left = 100 * x + "%";
      element.style.width = 100 * width + "%";
      element.style.top = depth[node] * rowHeight + "px";
      element.dataset.tone = String(name[node] === undefined ? 0 : 1 + (name[node] * 7) % 5);
      element.dataset.index = String(index);
      element.tabIndex = -1;
      element.setAttribute("role", "treeitem");
      element.setAttribute("aria-level", String(depth[node] + 1));
      element.setAttribute("aria-selected", String(node === zoomed));
      element.setAttribute("aria-label", `${nameOf(node)}, ${textOf(total[node])}, ${percent(total[node], total[0])}`);
      element.title = `${nameOf(node)}\n${placeOf(node)}\n${textOf(total[node])}, ${percent(total[node], total[0])}`;
      deepest = Math.max(deepest, depth[node]);
      fragment.append(element);
    });
    graph.replaceChildren(fragment);
    graph.style.height = (deepest + 1) * rowHeight + "px";
    const current = shown.find((frame) => frame.node === focused) || shown.find((frame) => frame.node === zoomed);
    current.element.tabIndex = 0;
    focused = current.node;
    describe(focused);
    mark();
  };

  const mark = () => {
    for (const frame of shown) {
      frame.element.classList.toggle("hit", matches(frame.node));
      frame.element.classList.toggle("dim", wanted !== "" && !matches(frame.node));
    }
    let has = 0;
    if (wanted !== "") {
      const inside = new Uint8Array(count);
      for (let node = 1; node < count; ++node) {
        inside[node] = inside[parent[node]];
        if (!inside[node] && matches(node)) { inside[node] = 1; has += total[node]; }
      }
    }
    status.textContent = wanted === "" ? `${textOf(total[0])} ${figures[figure].title}` : `"${search.value}": ${textOf(has)}, ${percent(has, total[0])} of ${textOf(total[0])} ${figures[figure].title}`;
  };

  const table = () => {
    const named = rows.filter((row) => wanted === "" || row.text.toLowerCase().includes(wanted)).sort((a, b) => b.self - a.self || b.has - a.has);
    const element = make("table");
    element.append(make("caption", "", `Functions by what they ask for themselves${named.length > mostRows ? `, the first ${mostRows} of ${named.length.toLocaleString("en")}` : ""}`));
    const head = element.createTHead().insertRow();
    for (const title of ["function", "itself", "with what it calls"]) {
      const cell = make("th", "", title);
      cell.scope = "col";
      head.append(cell);
    }
    const body = element.createTBody();
    for (const row of named.slice(0, mostRows)) {
      const line = body.insertRow();
      const key = make("th");
      key.scope = "row";
      const button = make("button", "", row.text);
      button.type = "button";
      button.title = "Search for it";
      button.addEventListener("click", () => { search.value = row.text; wanted = row.text.toLowerCase(); mark(); table(); });
      key.append(button);
      line.append(key, make("td", "", textOf(row.self)), make("td", "", textOf(row.has)));
    }
    list.replaceChildren(element);
  };

  const choose = () => { total = totals(); functions(); if (total[zoomed] === 0) zoomed = 0; draw(); table(); };
  const focus = (frame) => {
    if (!frame) return;
    shown.forEach((one) => { one.element.tabIndex = -1; });
    frame.element.tabIndex = 0;
    focused = frame.node;
    frame.element.focus();
    describe(focused);
  };
  const zoom = (node) => {
    const hadFocus = graph.contains(document.activeElement);
    zoomed = focused = node;
    draw();
    if (hadFocus) focus(shown.find((frame) => frame.node === node));
  };
  const frameOf = (event) => {
    const element = event.target.closest(".frame");
    return element ? shown[Number(element.dataset.index)] : undefined;
  };
  graph.addEventListener("click", (event) => { const frame = frameOf(event); if (frame) { focus(frame); zoom(frame.node); } });
  graph.addEventListener("mouseover", (event) => { const frame = frameOf(event); if (frame) describe(frame.node); });
  graph.addEventListener("mouseleave", () => describe(focused));
  graph.addEventListener("keydown", (event) => {
    const here = frameOf(event);
    if (!here) return;
    const beside = shown.filter((frame) => depth[frame.node] === depth[here.node]).sort((a, b) => a.x - b.x);
    const at = beside.indexOf(here);
    const moves = {
      ArrowUp: () => focus(shown.find((frame) => here.node !== 0 && frame.node === parent[here.node])),
      ArrowDown: () => focus(shown.filter((frame) => frame.node !== 0 && parent[frame.node] === here.node).sort((a, b) => b.width - a.width)[0]),
      ArrowLeft: () => focus(beside[at - 1]),
      ArrowRight: () => focus(beside[at + 1]),
      Home: () => focus(shown[0]),
      Enter: () => zoom(here.node),
      " ": () => zoom(here.node),
      Escape: () => zoom(zoomed === 0 ? 0 : parent[zoomed]),
    };
    if (moves[event.key]) { event.preventDefault(); moves[event.key](); }
  });
  choose();
})();
