// Draws the time line of a connection: areas below one another, each with the items of one or more lanes.
//
// The server sends the time line in tiles. A tile has for each lane either its items (rows of a table: segments,
// PDUs, states, …) or, where they are too dense, cells of equal length with a value: the number of items, the share
// of time of a category, or the largest value. A second run can be drawn in grey behind the first one.
// Times are in seconds; x, y and sizes in CSS pixels.
import type { Schemas } from '../api/client';
import type { CauseLook } from '../app/context';
import { type Area, areasOf, heightOf, type Lane, RULER } from './areas';
import { stepFor } from './axis';
import type { Hit } from './hits';
import type { Pen } from './svgPen';
import type { Shown, TimelineHead } from './tiles';

/** A row of a table, drawn from its start to its end. */
interface Item {
  /** Number of the row; -1 for a cell that is drawn like an item. */
  row: number;
  start: number;
  end: number;
  /** Ends of the range of values, such as sequence numbers. They are equal if the item has one value. */
  low: number;
  high: number;
  /** An instant between start and end that the drawing shows, for example the arrival at the RNC. */
  middle: number | null;
  /** Index of the category in the lane. */
  category: number;
}

/** The value of a category in a cell. A cell can have several categories. */
interface Cell {
  /** Number of the cell in its tile. */
  index: number;
  category: number;
  value: number;
}

/** Cells that fill the same columns of pixels. */
interface CellColumn {
  x: number;
  width: number;
  cells: Cell[];
}

/** Items and cells as the server sends them. */
type ItemTuple = NonNullable<Schemas['LaneTile']['items']>[number];
type CellTuple = NonNullable<Schemas['LaneTile']['cells']>[number];

const itemOf = ([row, start, end, low, high, middle, category]: ItemTuple): Item => ({ row, start, end, low, high, middle, category });
const cellOf = ([index, category, value]: CellTuple): Cell => ({ index, category, value });

/** Result of drawing a frame. */
export interface Drawn {
  /** Places of the items, to find the one that a visitor clicks. */
  hits: Hit[];
  /** Number of rectangles, lines and marks of this frame. */
  shapes: number;
}

/** Marks on the time line that are not part of the tiles. */
export interface Marks {
  /** Selected rows by lane; all other rows are drawn faintly. Undefined: nothing is selected. */
  rows: Record<string, number[]> | undefined;
  /** A shaded time: the open link of a chain of causes, or the time that is measured. */
  span: { from: number; to: number } | undefined;
  /** Instants of retransmission timeouts. */
  timeouts: number[];
  /** Instant of the pointer. */
  cursor: number | undefined;
}

/** Lanes of a connection: their declaration, and their tiles. */
export interface Source {
  head: TimelineHead;
  shown: Shown;
}

/** Everything that is drawn: the lanes of a connection in the view `from` to `to`, with marks. */
export interface Frame extends Source {
  width: number;
  /** Colours and hatches of causes, by name. */
  looks: Map<string, CauseLook>;
  from: number;
  to: number;
  marks: Marks;
  /** Whether the names of the areas are drawn inside them. */
  hasLabels: boolean;
  /** A second run on the same axis, in grey. */
  other?: Source | undefined;
}

/** Colours by the names of their custom properties, and the fills of causes. */
export interface Palette {
  colour: (name: string) => string;
  fill: (look: CauseLook) => string | CanvasPattern;
}

/** Opacity of items that do not belong to the selection. */
const FAINT = 0.3;
/** Height of a row of bars. */
const BAR_ROW = 8;
/** Minimum height of an area of counts in which the scale is written. */
const MIN_SCALED_HEIGHT = 24;
/** Kinds of lanes that are drawn for the second run too. Other kinds would cover the items of the first run. */
const SECOND_RUN_KINDS: readonly string[] = ['line', 'steps', 'dashed_steps', 'filled'];
/** Words before the numbers of a scale, by unit. Other units follow the number. */
const PREFIXES: Record<string, string> = { B: 'byte ', PDU: 'PDU ' };

/** Draws one frame with a pen. */
export class Drawing {
  private readonly areas: Area[];
  private readonly height: number;
  private readonly selectedRows: Map<string, Set<number>> | undefined;
  private readonly fills = new Map<string, string | CanvasPattern>();
  private readonly hits: Hit[] = [];
  private readonly texts: { text: string; x: number; y: number; align: CanvasTextAlign }[] = [];
  private shapes = 0;

  constructor(
    private readonly pen: Pen,
    private readonly frame: Frame,
    private readonly palette: Palette,
  ) {
    const { head, marks } = frame;
    this.areas = areasOf(head, frame.to - frame.from);
    this.height = heightOf(this.areas);
    this.selectedRows = marks.rows && new Map(Object.entries(marks.rows).map(([lane, rows]) => [lane, new Set(rows)]));
  }

  draw(): Drawn {
    const { pen, frame } = this;
    this.drawSpan();
    this.drawRuler();
    for (const area of this.areas) {
      pen.save();
      pen.beginPath();
      pen.rect(0, area.y, frame.width, area.height);
      pen.clip();
      this.drawArea(area);
      pen.restore();
      this.rectangle(0, area.y, frame.width, 1, 'line');
      // The strips have words at their left end.
      const isStrip = area.lanes[0]?.kind === 'share';
      if (frame.hasLabels) this.text(area.label, isStrip ? frame.width - 4 : 2, area.y + 11, isStrip ? 'right' : 'left');
    }
    this.drawTimeouts();
    this.drawCursor();
    this.drawTexts();
    return { hits: this.hits, shapes: this.shapes };
  }

  /** The horizontal position of an instant. */
  private xOf(time: number): number {
    const { from, to, width } = this.frame;
    return ((time - from) / (to - from)) * width;
  }

  private rectangle(x: number, y: number, width: number, height: number, fill: string): void {
    this.pen.fillStyle = this.palette.colour(fill);
    this.pen.fillRect(x, y, width, height);
    this.shapes++;
  }

  private text(text: string, x: number, y: number, align: CanvasTextAlign): void {
    this.texts.push({ text, x, y, align });
  }

  private drawTexts(): void {
    const { pen } = this;
    for (const { text, x, y, align } of this.texts) {
      const width = pen.measureText(text).width;
      pen.globalAlpha = 0.85;
      this.rectangle(align === 'left' ? x - 2 : x - width - 2, y - 10, width + 4, 13, 'bg');
      pen.globalAlpha = 1;
      pen.fillStyle = this.palette.colour('ink');
      pen.textAlign = align;
      pen.fillText(text, x, y);
      this.shapes++;
    }
  }

  private drawSpan(): void {
    const { span } = this.frame.marks;
    if (!span) return;
    const x = this.xOf(span.from);
    this.rectangle(x, RULER, Math.max(2, this.xOf(span.to) - x), this.height, 'sel');
  }

  /** A line at the pointer, and its instant in the ruler. */
  private drawCursor(): void {
    const { marks, width } = this.frame;
    if (marks.cursor === undefined) return;
    this.rectangle(this.xOf(marks.cursor), RULER, 1, this.height, 'line2');
    this.text(`${marks.cursor.toFixed(4)} s`, width - 4, 12, 'right');
  }

  private drawRuler(): void {
    const { pen, frame } = this;
    const step = stepFor({ from_s: frame.from, to_s: frame.to }, frame.width);
    pen.textAlign = 'center';
    for (let n = Math.ceil(frame.from / step); n * step <= frame.to; n++) {
      const x = this.xOf(n * step);
      this.rectangle(x, RULER - 4, 1, this.height, 'grid');
      pen.fillStyle = this.palette.colour('mute');
      const label = `${Number((n * step).toPrecision(9))} s`;
      if (x > 20 && x < frame.width - 20) pen.fillText(label, x, 12);
      this.shapes++;
    }
  }

  /** The items of a lane in view. Undefined if the lane has cells. An item that spans several tiles is in each of them. */
  private items(lane: string, source: Source = this.frame): Item[] | undefined {
    const byRow = new Map<number, Item>();
    let hasItems = false;
    for (const tile of source.shown.tiles) {
      const { items } = tile.lanes.find((content) => content.name === lane) ?? {};
      if (!items) continue;
      hasItems = true;
      for (const tuple of items) {
        const [row, start, end] = tuple;
        if (end >= this.frame.from && start <= this.frame.to) byRow.set(row, itemOf(tuple));
      }
    }
    return hasItems ? [...byRow.values()] : undefined;
  }

  /** The cells of a lane in view, by the column of pixels that they fill. */
  private cells(lane: string, source: Source = this.frame): CellColumn[] {
    const { shown, head } = source;
    const { tile_s, cell_s } = shown.level;
    const columns: CellColumn[] = [];
    for (const tile of shown.tiles) {
      const { cells } = tile.lanes.find((content) => content.name === lane) ?? {};
      const byIndex = new Map<number, Cell[]>();
      for (const cell of (cells ?? []).map(cellOf)) byIndex.set(cell.index, [...(byIndex.get(cell.index) ?? []), cell]);
      for (const [index, cellsOfIndex] of byIndex) {
        const start = tile.index * tile_s + index * cell_s;
        const x = Math.round(this.xOf(start));
        const width = Math.max(1, Math.round(this.xOf(start + cell_s)) - x);
        if (index < head.cells && x + width >= 0 && x <= this.frame.width) columns.push({ x, width, cells: cellsOfIndex });
      }
    }
    return columns;
  }

  /** Draws an area by the kind of its lanes, and by whether they have items or cells at this level. */
  private drawArea(area: Area): void {
    const [first] = area.lanes;
    if (!first) return;
    if (first.kind === 'maximum') return this.drawValues(area);
    const items = this.items(first.name);
    if (area.name === 'ladder') return this.drawLadder(area, items);
    if (first.kind === 'share') return items ? this.drawStrip(area, first, items) : this.drawShares(area, first);
    if (first.draw === 'bar') return this.drawBars(area);
    if (!items) return this.drawCounts(area);
    if (first.draw === 'line') return this.drawLines(area);
    return first.draw === 'mark' ? this.drawMarks(area, first, items) : this.drawTicks(area, first, items);
  }

  private category(lane: Lane, item: Item): string {
    return lane.categories[item.category]?.name ?? '';
  }

  /** Name of the colour of a category. */
  private colourNameOf(lane: Lane, index: number): string {
    return lane.categories[index]?.colour || 'ghost';
  }

  private fillOf(lane: Lane, index: number): string | CanvasPattern {
    const category = lane.categories[index];
    if (category?.colour) return this.palette.colour(category.colour);
    const name = category?.name ?? '';
    let fill = this.fills.get(name);
    if (!fill) {
      const look = this.frame.looks.get(name);
      fill = look ? this.palette.fill(look) : this.palette.colour('idle');
      this.fills.set(name, fill);
    }
    return fill;
  }

  /** Sets the opacity for a row: faint if it does not belong to the selection. Returns whether it belongs. */
  private emphasise(lane: string, row: number): boolean {
    const belongs = this.selectedRows?.get(lane)?.has(row) ?? false;
    this.pen.globalAlpha = this.selectedRows && !belongs ? FAINT : 1;
    return belongs;
  }

  /** Records the place of an item, so that a click finds it. */
  private hit(lane: string, row: number, x0: number, y0: number, x1: number, y1: number): void {
    this.hits.push({ lane, row, x0, y0, x1, y1 });
  }

  /** A strip of causes or states, with their names where there is room. */
  private drawStrip(area: Area, lane: Lane, items: Item[]): void {
    for (const { row, start, end, category } of items) {
      const x = Math.max(-2, this.xOf(start));
      const width = Math.max(1, Math.min(this.frame.width + 2, this.xOf(end)) - x);
      this.pen.fillStyle = this.fillOf(lane, category);
      this.pen.fillRect(x, area.y + 5, width, area.height - 10);
      this.shapes++;
      const label = lane.categories[category]?.label ?? '';
      if (this.pen.measureText(label).width + 12 < width) this.text(label, Math.max(x, 0) + 4, area.y + area.height - 9, 'left');
      const middle = area.y + area.height / 2;
      this.hit(lane.name, row, x, middle, x + width, middle);
    }
  }

  /** The shares of causes or states in each cell, stacked. */
  private drawShares(area: Area, lane: Lane): void {
    for (const { x, width, cells } of this.cells(lane.name)) {
      let y = area.y + area.height - 5;
      for (const { category, value: share } of cells) {
        const height = share * (area.height - 10);
        y -= height;
        this.pen.fillStyle = this.fillOf(lane, category);
        this.pen.fillRect(x, y, width, height);
        this.shapes++;
      }
    }
  }

  /** Columns of counts of all lanes, stacked by category, the first category on top. */
  private drawCounts(area: Area): void {
    const columnsOfLanes = area.lanes.map((lane) => ({ lane, columns: this.cells(lane.name) }));
    const sums = new Map<number, number>();
    for (const { columns } of columnsOfLanes) {
      for (const { x, cells } of columns) sums.set(x, (sums.get(x) ?? 0) + cells.reduce((sum, cell) => sum + cell.value, 0));
    }
    const maximum = Math.max(1, ...sums.values());
    // A low area has no room for the scale.
    const hasScale = area.height >= MIN_SCALED_HEIGHT;
    const base = area.y + area.height - 2;
    const tops = new Map<number, number>();
    for (const { lane, columns } of columnsOfLanes) {
      for (const { x, width, cells } of columns) {
        for (const { category, value: count } of [...cells].sort((a, b) => b.category - a.category)) {
          const height = (count / maximum) * (area.height - (hasScale ? 16 : 4));
          const y = (tops.get(x) ?? base) - height;
          this.pen.fillStyle = this.fillOf(lane, category);
          this.pen.fillRect(x, y, width, height);
          this.shapes++;
          tops.set(x, y);
        }
      }
    }
    if (sums.size && hasScale) this.text(`in ${this.frame.shown.level.cell}: at most ${maximum}`, this.frame.width - 4, area.y + 11, 'right');
  }

  /** A scale for values between two limits, which are written at the right edge. */
  private scale(area: Area, low: number, high: number, unit: string): (value: number) => number {
    const prefix = PREFIXES[unit] ?? '';
    const suffix = prefix || !unit ? '' : ` ${unit}`;
    const label = (value: number) => `${prefix}${Number(value.toPrecision(6))}${suffix}`;
    this.text(label(high), this.frame.width - 4, area.y + 11, 'right');
    this.text(label(low), this.frame.width - 4, area.y + area.height - 3, 'right');
    return (value) => area.y + area.height - 8 - ((value - low) / (high - low)) * (area.height - 16);
  }

  private line(x0: number, y0: number, x1: number, y1: number, colour: string, thickness: number): void {
    const { pen } = this;
    pen.strokeStyle = this.palette.colour(colour);
    pen.lineWidth = thickness;
    pen.beginPath();
    pen.moveTo(x0, y0);
    pen.lineTo(x1, y1);
    pen.stroke();
    this.shapes++;
  }

  /** The mark of a lost item. */
  private cross(x: number, y: number): void {
    const { pen } = this;
    pen.strokeStyle = this.palette.colour('ink');
    pen.lineWidth = 1.5;
    pen.beginPath();
    pen.moveTo(x - 3, y - 3);
    pen.lineTo(x + 3, y + 3);
    pen.moveTo(x - 3, y + 3);
    pen.lineTo(x + 3, y - 3);
    pen.stroke();
    this.shapes++;
  }

  /** A triangle with its base at `y` and its tip below, or above if the height is negative. */
  private triangle(x: number, y: number, half: number, height: number, fill: string): void {
    const { pen } = this;
    pen.beginPath();
    pen.moveTo(x - half, y);
    pen.lineTo(x + half, y);
    pen.lineTo(x, y + height);
    pen.closePath();
    pen.fillStyle = this.palette.colour(fill);
    pen.fill();
    this.shapes++;
  }

  /** Items of a lane of the second run, if it has single items at its level. */
  private itemsOfSecondRun(lane: Lane): Item[] {
    const { other } = this.frame;
    return (other && SECOND_RUN_KINDS.includes(lane.draw) && this.items(lane.name, other)) || [];
  }

  /** Segments and ACKs as lines over their sequence numbers. The first lane is drawn last, above the others. */
  private drawLines(area: Area): void {
    const lanes = area.lanes.map((lane) => ({ lane, items: this.items(lane.name) ?? [], secondRun: this.itemsOfSecondRun(lane) })).reverse();
    const all = lanes.flatMap(({ items, secondRun }) => [...items, ...secondRun]);
    if (!all.length) return;
    const lowest = Math.min(...all.map((item) => item.low));
    const highest = Math.max(...all.map((item) => item.high), lowest + 1);
    const scale = this.scale(area, lowest, highest, area.lanes[0]?.unit ?? '');
    for (const { secondRun } of lanes) {
      for (const { start, end, low, high } of secondRun) this.line(this.xOf(start), scale(low), this.xOf(end), scale(high), 'ghost', 1.5);
    }
    for (const { lane, items } of lanes) {
      // Retransmissions are drawn last and thicker, so that other segments do not cover them.
      const isAgain = (item: Item) => this.category(lane, item) === 'again';
      for (const item of [...items.filter((segment) => !isAgain(segment)), ...items.filter(isAgain)]) {
        const { row, start, end, low, high, category } = item;
        const belongs = this.emphasise(lane.name, row);
        const isLost = this.category(lane, item) === 'lost';
        const [x0, x1, y0, y1] = [this.xOf(start), this.xOf(end), scale(low), scale(high)];
        const isSingleValue = low === high;
        const colour = isLost ? 'line2' : this.colourNameOf(lane, category);
        const thickness = isAgain(item) ? 2.5 : isSingleValue ? 1 : 1.5;
        this.line(x0, y0, x1, y1, colour, belongs ? thickness + 1 : thickness);
        if (!isSingleValue) this.line(x0, y0 + 2, x0, y1 - 2, colour, 1);
        if (isLost) this.cross(x1, y1);
        this.hit(lane.name, row, x0, y0, x1, y1);
      }
    }
    this.pen.globalAlpha = 1;
  }

  /** Steps and areas of all lanes on one scale from zero. Cells show the largest value in each. */
  private drawValues(area: Area): void {
    const lanes = area.lanes.map((lane) => ({ lane, items: this.stepsOf(lane), secondRun: this.frame.other ? this.stepsOf(lane, this.frame.other) : [] }));
    const all = lanes.flatMap(({ items, secondRun }) => [...items, ...secondRun]);
    if (!all.length) return;
    const scale = this.scale(area, 0, Math.max(...all.map((item) => item.high)) || 1, area.lanes[0]?.unit ?? '');
    const filled = lanes.filter(({ lane }) => lane.draw === 'filled');
    for (const { lane, items } of filled) this.drawFilled(lane, items, scale);
    for (const { lane, secondRun } of lanes) this.drawSteps(lane, secondRun, scale, 'ghost');
    for (const { lane, items } of lanes) {
      if (lane.draw !== 'filled') this.drawSteps(lane, items, scale, this.colourNameOf(lane, 0));
      for (const { row, start, end, high: value } of items) {
        if (row >= 0 && value) this.hit(lane.name, row, this.xOf(start), scale(value), this.xOf(end), scale(value));
      }
    }
  }

  /** Values over time: items, or cells as items without a row. */
  private stepsOf(lane: Lane, source: Source = this.frame): Item[] {
    const items = this.items(lane.name, source);
    if (items) return items;
    const { level, tiles } = source.shown;
    return tiles.flatMap((tile) => {
      const { cells } = tile.lanes.find((content) => content.name === lane.name) ?? {};
      return (cells ?? []).map(cellOf).flatMap(({ index, category, value }): Item[] => {
        const start = tile.index * level.tile_s + index * level.cell_s;
        const end = start + level.cell_s;
        const isSeen = end >= this.frame.from && start <= this.frame.to;
        return isSeen ? [{ row: -1, start, end, low: value, high: value, middle: null, category }] : [];
      });
    });
  }

  /** Values as filled areas below a line. */
  private drawFilled(lane: Lane, items: Item[], scale: (value: number) => number): void {
    for (const { row, start, end, high: value } of items) {
      this.emphasise(lane.name, row);
      const [x, y] = [this.xOf(start), scale(value)];
      const width = Math.max(1, this.xOf(end) - x);
      this.rectangle(x, y, width, scale(0) - y, this.colourNameOf(lane, 0));
      this.rectangle(x, y, width, 1, 'line2');
    }
    this.pen.globalAlpha = 1;
  }

  /** Values as a step function. */
  private drawSteps(lane: Lane, items: Item[], scale: (value: number) => number, colour: string): void {
    if (!items.length) return;
    const { pen } = this;
    const isDashed = lane.draw === 'dashed_steps';
    if (isDashed) pen.setLineDash([4, 2]);
    pen.strokeStyle = this.palette.colour(colour);
    pen.lineWidth = 1.5;
    pen.beginPath();
    let previousEnd: number | undefined;
    for (const { start, end, high: value } of [...items].sort((a, b) => a.start - b.start)) {
      const [x, y] = [this.xOf(start), scale(value)];
      // The line has a gap where there is no value.
      if (previousEnd === undefined || start > previousEnd) pen.moveTo(x, y);
      else pen.lineTo(x, y);
      pen.lineTo(this.xOf(end), y);
      previousEnd = end;
      this.shapes++;
    }
    pen.stroke();
    if (isDashed) pen.setLineDash([]);
  }

  /** Arrows between server, RNC and UE: segments and ACKs in the fixed network, PDUs and ACKs on the radio. */
  private drawLadder(area: Area, segments: Item[] | undefined): void {
    if (!segments) return this.text('Zoom in for single segments.', this.frame.width - 4, area.y + 24, 'right');
    const rails = { server: area.y + 16, rnc: area.y + area.height / 2, ue: area.y + area.height - 10 };
    for (const [name, y] of [['server', rails.server], ['RNC', rails.rnc], ['UE', rails.ue]] as const) {
      this.rectangle(0, y, this.frame.width, 1, 'line2');
      this.text(name, this.frame.width - 4, y - 2, 'right');
    }
    const isDown = this.frame.head.direction === 'downlink';
    const [sender, receiver] = isDown ? [rails.server, rails.ue] : [rails.ue, rails.server];
    for (const lane of area.lanes) {
      const isData = lane.name === 'segments';
      const [from, to] = isData ? [sender, receiver] : [receiver, sender];
      for (const item of (isData ? segments : this.items(lane.name)) ?? []) {
        const { row, start, end, middle, category } = item;
        this.emphasise(lane.name, row);
        const isLost = this.category(lane, item) === 'lost';
        const colour = isLost ? 'line2' : this.colourNameOf(lane, category);
        if (middle !== null) this.arrow(lane.name, row, [start, from], [middle, rails.rnc], colour);
        else if (isLost) this.cross(this.xOf(end), (from + rails.rnc) / 2);
        // Data crosses the radio as PDUs, which have their own arrows below. An ACK has one arrow there.
        const isOnRadio = to === rails.ue;
        if (middle !== null && !isLost && !(isData && isOnRadio)) this.arrow(lane.name, row, [middle, rails.rnc], [end, to], colour);
      }
    }
    const pdus = this.frame.head.lanes.find((lane) => lane.name === 'pdus');
    const [pduFrom, pduTo] = isDown ? [rails.rnc, rails.ue] : [rails.ue, rails.rnc];
    for (const item of (pdus && this.items('pdus')) ?? []) {
      const { row, start, end, category } = item;
      this.emphasise('pdus', row);
      if (pdus && this.category(pdus, item) !== 'lost') {
        this.arrow('pdus', row, [start, pduFrom], [end, pduTo], this.colourNameOf(pdus, category));
        continue;
      }
      const [x, y] = [this.xOf(end), (pduFrom + pduTo) / 2];
      this.line(this.xOf(start), pduFrom, x, y, 'line2', 1);
      this.cross(x, y);
      this.hit('pdus', row, this.xOf(start), pduFrom, x, y);
    }
    this.pen.globalAlpha = 1;
  }

  /** An arrow between two instants at two heights. */
  private arrow(lane: string, row: number, from: [number, number], to: [number, number], colour: string): void {
    const [x0, y0, x1, y1] = [this.xOf(from[0]), from[1], this.xOf(to[0]), to[1]];
    this.line(x0, y0, x1, y1, colour, 1.25);
    const angle = Math.atan2(y1 - y0, x1 - x0);
    const { pen } = this;
    pen.beginPath();
    for (const turn of [-0.4, 0.4]) {
      pen.moveTo(x1, y1);
      pen.lineTo(x1 - 6 * Math.cos(angle + turn), y1 - 6 * Math.sin(angle + turn));
    }
    pen.stroke();
    this.shapes++;
    this.hit(lane, row, x0, y0, x1, y1);
  }

  /** Bars: one lane fills the area, and bars that overlap are in different rows. Each of several lanes has a part. */
  private drawBars(area: Area): void {
    const height = area.height / area.lanes.length;
    area.lanes.forEach((lane, index) => {
      const band: Area = { ...area, lanes: [lane], y: area.y + index * height, height };
      const items = this.items(lane.name);
      if (area.lanes.length > 1) this.text(lane.label, this.frame.width - 4, band.y + height - 4, 'right');
      if (items) this.drawBarsOf(band, lane, items);
      else this.drawCounts(band);
    });
  }

  /** Bars of a lane. A bar is hollow up to the instant between start and end, if the item has such an instant. */
  private drawBarsOf(area: Area, lane: Lane, items: Item[]): void {
    const rowEnds: number[] = [];
    const rowCount = Math.max(1, Math.floor((area.height - 4) / BAR_ROW));
    for (const item of [...items].sort((a, b) => a.start - b.start)) {
      const { row, start, end, middle, category } = item;
      const place = takeRow(rowEnds, start, end) % rowCount;
      const belongs = this.emphasise(lane.name, row);
      const [x0, x1, y] = [this.xOf(start), this.xOf(end), area.y + 4 + place * BAR_ROW];
      if (lane.name === 'sdus') {
        this.pen.strokeStyle = this.palette.colour(belongs ? 'ink' : 'line2');
        this.pen.lineWidth = 1;
        this.pen.strokeRect(x0 + 0.5, y + 0.5, Math.max(1, x1 - x0), 5);
      }
      const fillStart = middle !== null ? this.xOf(middle) : lane.name === 'sdus' ? x1 : x0;
      this.rectangle(fillStart, y, Math.max(1, x1 - fillStart - 1), 6, this.colourNameOf(lane, category));
      if (this.category(lane, item) === 'lost') this.cross(x1, y + 3);
      if (this.category(lane, item) === 'expired') this.rectangle(x1 - 1, y - 2, 2, 10, 'rto-e');
      this.hit(lane.name, row, x0, y + 3, x1, y + 3);
    }
    this.pen.globalAlpha = 1;
  }

  /** Triangles for items without duration, such as STATUS PDUs. */
  private drawMarks(area: Area, lane: Lane, items: Item[]): void {
    const { pen } = this;
    for (const { row, start, category } of items) {
      this.emphasise(lane.name, row);
      const [x, y] = [this.xOf(start), area.y + 10];
      this.triangle(x, y, 5, 10, this.colourNameOf(lane, category));
      pen.strokeStyle = this.palette.colour('rlc-e');
      pen.lineWidth = 1;
      pen.stroke();
      this.hit(lane.name, row, x, y + 4, x, y + 4);
    }
    pen.globalAlpha = 1;
  }

  /** Vertical ticks for items without duration. Items of the first category have large ticks. */
  private drawTicks(area: Area, lane: Lane, items: Item[]): void {
    for (const { row, start, category } of items) {
      this.emphasise(lane.name, row);
      const isLarge = category === 0;
      const [x, y, height] = [this.xOf(start), area.y + 12, isLarge ? 13 : 8];
      this.rectangle(x - (isLarge ? 1 : 0), y, isLarge ? 3 : 1, height, this.colourNameOf(lane, category));
      this.hit(lane.name, row, x, y + 4, x, y + 4);
    }
    this.pen.globalAlpha = 1;
  }

  private drawTimeouts(): void {
    const area = this.areas.find(({ name }) => name === 'tcp');
    if (!area) return;
    const { pen } = this;
    for (const time of this.frame.marks.timeouts) {
      const x = this.xOf(time);
      if (x < 0 || x > this.frame.width) continue;
      pen.setLineDash([3, 3]);
      this.line(x, area.y + 10, x, area.y + area.height, 'rto', 1);
      pen.setLineDash([]);
      this.triangle(x, area.y + 11, 5, -9, 'ink');
    }
  }
}

/** Occupies the first row that is free at `start`, until `end`. Returns its index. `rowEnds` has the end of each row. */
function takeRow(rowEnds: number[], start: number, end: number): number {
  const free = rowEnds.findIndex((rowEnd) => rowEnd <= start);
  const row = free < 0 ? rowEnds.length : free;
  rowEnds[row] = end;
  return row;
}
