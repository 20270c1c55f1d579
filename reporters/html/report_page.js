// What a report's page does beyond HTML: draws its charts, those in view first, and lets its tables be sorted.
// Vega runs on its interpreter, so the page's policy needs no eval.
'use strict';

(() => {
  const charts = globalThis.memsweepCharts;
  const views = new Map(); // of a figure

  const tip = document.createElement('div');
  tip.className = 'tip';
  tip.hidden = true;

  function showTip(event, value) {
    tip.replaceChildren();
    for (const [name, text] of Object.entries(value)) {
      if (text === '' || text === undefined) continue;
      const row = tip.appendChild(document.createElement('div'));
      row.appendChild(document.createElement('span')).textContent = name;
      row.append(` ${text}`);
    }
    tip.hidden = false;
    const left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8);
    const above = event.clientY - tip.offsetHeight - 12;
    tip.style.left = `${Math.max(8, left)}px`;
    tip.style.top = `${above > 8 ? above : event.clientY + 18}px`;
  }

  function tooltip(_, event, item, value) {
    if (value === null || value === undefined || value === '') {
      tip.hidden = true;
    } else {
      showTip(event, typeof value === 'object' ? value : { '': value });
    }
  }

  // Where names beside the rows would leave no room for a plot, they stand above their marks, and before all lines.
  function namesAboveRows(unit) {
    const axis = unit.encoding.y.axis;
    unit.height = { step: unit.height.step + 26 };
    unit.encoding.y.axis = { ...axis, labelAlign: 'left', labelPadding: -4, labelOffset: -26, ticks: false, grid: false, zindex: 1 };
  }

  const letter = 6.5; // of 11 pixels, on average

  // A map's names take no more room than they need, and its cells have texts where they are wide enough.
  function sizeMap(unit, whole, room) {
    const longest = (field) => Math.max(...unit.data.values.map((value) => value[field].length)) * letter;
    const columns = unit.encoding.x.scale.domain.length;
    const width = Math.max(140, whole - Math.min(room, longest('row') + longest('column') * 0.5 + 40));
    if (width / columns < longest('value')) unit.layer = unit.layer.filter((layer) => layer.mark.type !== 'text');
    return width;
  }

  // Of marks that have no room for their labels the powers of ten remain.
  function thinMarks(unit, width) {
    const channels = [unit.encoding, ...(unit.layer ?? []).map((layer) => layer.encoding)];
    const isDecade = (value) => Math.abs(Math.log10(value) - Math.round(Math.log10(value))) < 1e-9;
    for (const { axis, scale } of channels.map((encoding) => encoding?.x ?? {})) {
      if (scale?.type !== 'log' || !axis?.values || axis.values.length * 50 < width) continue;
      const decades = axis.values.filter(isDecade);
      if (decades.length > 1) axis.values = decades;
    }
  }

  const lineHeight = 15;

  // Names beside points that lie close to each other would cover each other: each gets the nearest free place above or
  // below its point, inside the plot. `field` holds the names; both scales are logarithmic, with a padding.
  function spreadNames(unit, field, width) {
    const { x, y } = unit.encoding;
    const padding = x.scale.padding;
    const place = ({ scale, field: of }, value, extent) => {
      const [from, to] = scale.domain;
      return padding + (Math.log(value[of] / from) / Math.log(to / from)) * (extent - 2 * padding);
    };
    if (!x.scale.domain || !y.scale.domain) return;
    const placed = [];
    const names = unit.data.values.map((value) => {
      const left = place(x, value, width) + 9;
      return { value, left, right: left + value[field].length * letter, top: unit.height - place(y, value, unit.height) - 8 };
    });
    for (const name of names.sort((a, b) => a.top - b.top)) {
      const others = placed.filter((other) => name.left < other.right && other.left < name.right);
      const isFree = (top) => top <= unit.height && others.every((other) => Math.abs(top - other.at) >= lineHeight);
      const tops = [name.top, ...others.flatMap(({ at }) => [at + lineHeight, at - lineHeight])].filter(isFree);
      name.at = tops.sort((a, b) => Math.abs(a - name.top) - Math.abs(b - name.top))[0] ?? name.top;
      name.value.name_dy = name.at - name.top - 8;
      placed.push(name);
    }
  }

  // Axis labels and numbers beside marks need their room; what is left is the plot's.
  function sized(spec, figure) {
    const faceted = spec.spec !== undefined;
    const whole = Math.floor(figure.querySelector('figcaption').clientWidth);
    const unit = faceted ? spec.spec : spec;
    let room = spec.usermeta?.room ?? 70;
    if (spec.usermeta?.names_above && room > whole / 2) {
      namesAboveRows(unit);
      room = 40;
      unit.encoding.y.axis.labelLimit = whole - room;
    }
    const width = spec.usermeta?.is_map ? sizeMap(unit, whole, room) : Math.max(140, whole - room);
    unit.width = width;
    if (spec.usermeta?.spread) spreadNames(unit, spec.usermeta.spread, width);
    thinMarks(unit, width);
    if (faceted) spec.facet.row.header.labelLimit = width + room - 10;
    return spec;
  }

  function zoomButtons(figure, view) {
    if (figure.querySelector('.zoom')) return;
    const box = document.createElement('p');
    box.className = 'zoom';
    const button = (text, act) => {
      const made = box.appendChild(document.createElement('button'));
      made.type = 'button';
      made.textContent = text;
      made.addEventListener('click', act);
    };
    const scale = (factor) => {
      const current = views.get(figure);
      const x = current.scale('x');
      const [low, high] = x.range();
      const middle = (low + high) / 2;
      const half = ((high - low) / 2) * factor;
      current.signal(zoomSignal(current), [x.invert(middle - half), x.invert(middle + half)]).run();
    };
    button('Zoom in', () => scale(0.5));
    button('Zoom out', () => scale(2));
    button('Whole', () => views.get(figure).signal(zoomSignal(views.get(figure)), null).run());
    box.append(' or Ctrl and wheel; drag to move');
    figure.querySelector('.plot').after(box);
  }

  // A legend must not be wider than its plot: the whole drawing would shrink. Nor may it cut what tells its names apart.
  function legendSize(spec, whole) {
    if (whole >= 600) return {};
    const names = (spec.encoding?.color?.scale?.domain ?? []).map(String);
    const columns = Math.max(0, ...names.map((name) => name.length)) * letter > (whole - 90) / 2 ? 1 : 2;
    return { columns, labelLimit: (whole - 90) / columns };
  }

  function specOf(figure, config) {
    const spec = JSON.parse(figure.querySelector('script[type="application/json"]').textContent);
    const legend = { ...config.legend, ...legendSize(spec, figure.querySelector('figcaption').clientWidth) };
    return charts.parse(charts.compile(sized(spec, figure), { config: { ...config, legend } }).spec, null, { ast: true });
  }

  const themeText = () => document.getElementById('chart-theme').textContent;

  // The chart as it is shown, for a file that stands alone: colours of the page in place of its variables.
  function plainView(figure) {
    const style = getComputedStyle(document.documentElement);
    const valueOf = (name) => style.getPropertyValue(name).trim();
    const config = JSON.parse(themeText().replace(/var\((--[\w-]+)\)/g, (_, name) => valueOf(name)));
    config.background = valueOf('--surface');
    const view = new charts.View(specOf(figure, config), { expr: charts.expressionInterpreter, renderer: 'none' });
    const shown = views.get(figure);
    const zoom = zoomSignal(shown);
    if (zoom) view.signal(zoom, shown.signal(zoom));
    return view.runAsync();
  }

  const files = {
    svg: async (view) => new Blob([await view.toSVG()], { type: 'image/svg+xml' }),
    png: async (view) => {
      const canvas = await view.toCanvas(2); // twice the pixels, for paper and dense screens
      return new Promise((resolve) => canvas.toBlob(resolve, 'image/png'));
    },
  };

  async function save(figure, kind) {
    const view = await plainView(figure);
    const link = document.createElement('a');
    link.href = URL.createObjectURL(await files[kind](view));
    link.download = `${figure.querySelector('h3').textContent.toLowerCase().replace(/[^a-z0-9]+/g, '_')}.${kind}`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    view.finalize();
  }

  function saveButtons(figure) {
    if (figure.querySelector('.save')) return;
    const box = document.createElement('p');
    box.className = 'zoom save';
    for (const kind of Object.keys(files)) {
      const made = box.appendChild(document.createElement('button'));
      made.type = 'button';
      made.textContent = `Save as ${kind.toUpperCase()}`;
      made.addEventListener('click', () => save(figure, kind));
    }
    figure.querySelector('.plot').after(box);
  }

  function zoomSignal(view) {
    const isZoom = (name) => name === 'zoom_t' || name === 'zoom_x';
    return Object.keys(view.getState({ signals: isZoom, data: () => false }).signals)[0];
  }

  function draw(figure) {
    const plot = figure.querySelector('.plot');
    views.get(figure)?.finalize();
    const view = new charts.View(specOf(figure, JSON.parse(themeText())), {
      container: plot,
      expr: charts.expressionInterpreter,
      hover: true,
      renderer: 'svg',
      tooltip,
    });
    views.set(figure, view);
    view.run();
    plot.querySelector('svg').setAttribute('aria-hidden', 'true'); // the element around it says what it shows
    if (zoomSignal(view)) zoomButtons(figure, view);
    saveButtons(figure);
  }

  const figures = [...document.querySelectorAll('figure')];

  // A phone's first screen has no room for the findings and a picture: the picture of the answer goes first. Not if
  // several parts of the page begin with one, since the findings are about all of them.
  function pictureFirst() {
    const verdict = document.querySelector('section.verdict');
    const findings = verdict?.querySelectorAll(':scope > :not(h2)') ?? [];
    if (findings.length === 0 || document.querySelectorAll('main > h2 + figure').length > 1) return;
    let next = verdict.nextElementSibling;
    while (next?.matches('h2, p:not(.group)')) next = next.nextElementSibling;
    if (!next?.matches('figure')) return;
    const below = document.createElement('section');
    below.className = verdict.className;
    const narrow = matchMedia('(max-width: 40rem)');
    const arrange = () => {
      (narrow.matches ? below : verdict).append(...findings);
      if (narrow.matches) next.after(below);
      else below.remove();
    };
    arrange();
    narrow.addEventListener('change', arrange);
  }

  function drawWhenSeen() {
    const seen = new IntersectionObserver(
      (entries) => {
        for (const entry of entries) {
          if (entry.isIntersecting) {
            seen.unobserve(entry.target);
            if (!views.has(entry.target)) draw(entry.target);
          }
        }
      },
      { rootMargin: '300px' },
    );
    figures.forEach((figure) => seen.observe(figure));
  }

  // The others one by one while nothing else is to be done; those in closed parts wait until they are opened.
  function drawWhenIdle() {
    const next = figures.find((figure) => !views.has(figure) && !figure.closest('details:not([open])'));
    if (!next) return;
    requestIdleCallback(
      () => {
        if (!views.has(next)) draw(next);
        drawWhenIdle();
      },
      { timeout: 1000 },
    );
  }

  function redrawWhenResized() {
    let width = innerWidth;
    let timer = 0;
    addEventListener('resize', () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        if (innerWidth === width) return;
        width = innerWidth;
        views.forEach((_, figure) => draw(figure));
      }, 150);
    });
  }

  // On paper there is nothing to click: what opens on demand is open, but for the long lists of samples.
  function openForPrint() {
    let opened = [];
    addEventListener('beforeprint', () => {
      opened = [...document.querySelectorAll('details:not([open]):not(.long)')];
      opened.forEach((details) => (details.open = true));
      figures.filter((figure) => !views.has(figure)).forEach(draw);
    });
    addEventListener('afterprint', () => opened.forEach((details) => (details.open = false)));
  }

  // The exact value where a cell rounds it, a number where it is one.
  function sortKey(cell) {
    const text = cell.title || cell.textContent;
    const number = parseFloat(text.replaceAll(',', ''));
    return Number.isNaN(number) ? text : number;
  }

  function before(a, b) {
    if (typeof a === 'number' && typeof b === 'number') return a - b;
    if (typeof a === 'number' || typeof b === 'number') return typeof a === 'number' ? -1 : 1;
    return a.localeCompare(b);
  }

  // A cell over several rows becomes one in each, so that rows can move.
  function splitRows(table) {
    const rows = [...table.tBodies[0].rows];
    rows.forEach((row, index) => {
      [...row.cells].forEach((cell) => {
        const span = cell.rowSpan;
        if (span < 2) return;
        cell.removeAttribute('rowspan');
        cell.scope = 'row';
        const column = cell.cellIndex;
        for (let below = index + 1; below < index + span; ++below) {
          rows[below].insertBefore(cell.cloneNode(true), rows[below].cells[column] ?? null);
        }
      });
    });
  }

  function sortBy(table, header) {
    splitRows(table);
    const column = header.cellIndex;
    const down = header.getAttribute('aria-sort') === 'ascending';
    for (const other of table.tHead.rows[0].cells) other.removeAttribute('aria-sort');
    header.setAttribute('aria-sort', down ? 'descending' : 'ascending');
    const rows = [...table.tBodies[0].rows].map((row) => [sortKey(row.cells[column]), row]);
    rows.sort((a, b) => (down ? before(b[0], a[0]) : before(a[0], b[0])));
    table.tBodies[0].append(...rows.map(([, row]) => row));
  }

  for (const table of document.querySelectorAll('table.sortable')) {
    if (table.tBodies[0].rows.length < 2) continue;
    for (const header of table.tHead.rows[0].cells) {
      const button = document.createElement('button');
      button.type = 'button';
      button.append(...header.childNodes);
      button.addEventListener('click', () => sortBy(table, header));
      header.append(button);
    }
  }

  if (charts) {
    document.body.append(tip);
    pictureFirst();
    drawWhenSeen();
    if (globalThis.requestIdleCallback) drawWhenIdle();
    redrawWhenResized();
    openForPrint();
  }
})();
