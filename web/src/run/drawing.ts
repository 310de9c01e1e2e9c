import type { Schemas } from '../api/client';
import type { CauseLook } from '../app/context';
import { type Area, areasOf, heightOf, type Lane, RULER } from './areas';
import { stepFor } from './axis';
import type { Hit } from './hits';
import type { Pen } from './svgPen';
import type { Shown, TimelineHead } from './tiles';

export type Item = NonNullable<Schemas['LaneTile']['items']>[number];
type Cell = NonNullable<Schemas['LaneTile']['cells']>[number];

export interface Drawn {
  hits: Hit[];
  /** Number of rectangles, lines and marks of this frame. */
  shapes: number;
}

/** What is drawn beside the tiles. */
export interface Marks {
  /** Rows that stay at full ink, by lane. All rows if undefined. */
  rows: Record<string, number[]> | undefined;
  /** Time of the open link, or the time that is measured. */
  span: { from: number; to: number } | undefined;
  timeouts: number[];
  /** Instant of the pointer. */
  cursor: number | undefined;
}

/** Lanes of a connection: their declaration, and their tiles. */
export interface Source {
  head: TimelineHead;
  shown: Shown;
}

export interface Frame extends Source {
  width: number;
  looks: Map<string, CauseLook>;
  from: number;
  to: number;
  marks: Marks;
  hasLabels: boolean;
  /** A second run on the same axis, in grey. */
  other?: Source | undefined;
}

/** Colours by the names of their custom properties, and the fills of causes. */
export interface Palette {
  colour: (name: string) => string;
  fill: (look: CauseLook) => string | CanvasPattern;
}

const FAINT = 0.3;
const BAR_ROW = 8;
/** Least height of an area with a scale. */
const LEAST_SCALED = 24;
/** Kinds of lanes of which a second run is drawn. Its strips and bars would cover those of the first one. */
const GHOSTS: readonly string[] = ['line', 'steps', 'dashed_steps', 'filled'];
const PREFIXES: Record<string, string> = { B: 'byte ', PDU: 'PDU ' };

/** Draws one frame with a pen. */
export class Drawing {
  private readonly areas: Area[];
  private readonly tall: number;
  private readonly kept: Map<string, Set<number>> | undefined;
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
    this.tall = heightOf(this.areas);
    this.kept = marks.rows && new Map(Object.entries(marks.rows).map(([lane, rows]) => [lane, new Set(rows)]));
  }

  draw(): Drawn {
    const { pen, frame } = this;
    this.drawSpan();
    this.drawRuler();
    for (const area of this.areas) {
      pen.save();
      pen.beginPath();
      pen.rect(0, area.y, frame.width, area.tall);
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

  private at(time: number): number {
    const { from, to, width } = this.frame;
    return ((time - from) / (to - from)) * width;
  }

  private rectangle(x: number, y: number, wide: number, tall: number, fill: string): void {
    this.pen.fillStyle = this.palette.colour(fill);
    this.pen.fillRect(x, y, wide, tall);
    this.shapes++;
  }

  private text(text: string, x: number, y: number, align: CanvasTextAlign): void {
    this.texts.push({ text, x, y, align });
  }

  private drawTexts(): void {
    const { pen } = this;
    for (const { text, x, y, align } of this.texts) {
      const wide = pen.measureText(text).width;
      pen.globalAlpha = 0.85;
      this.rectangle(align === 'left' ? x - 2 : x - wide - 2, y - 10, wide + 4, 13, 'bg');
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
    const x = this.at(span.from);
    this.rectangle(x, RULER, Math.max(2, this.at(span.to) - x), this.tall, 'sel');
  }

  /** A line at the pointer, and its instant in the ruler. */
  private drawCursor(): void {
    const { marks, width } = this.frame;
    if (marks.cursor === undefined) return;
    this.rectangle(this.at(marks.cursor), RULER, 1, this.tall, 'line2');
    this.text(`${marks.cursor.toFixed(4)} s`, width - 4, 12, 'right');
  }

  private drawRuler(): void {
    const { pen, frame } = this;
    const step = stepFor({ from_s: frame.from, to_s: frame.to }, frame.width);
    pen.textAlign = 'center';
    for (let n = Math.ceil(frame.from / step); n * step <= frame.to; n++) {
      const x = this.at(n * step);
      this.rectangle(x, RULER - 4, 1, this.tall, 'grid');
      pen.fillStyle = this.palette.colour('mute');
      const label = `${Number((n * step).toPrecision(9))} s`;
      if (x > 20 && x < frame.width - 20) pen.fillText(label, x, 12);
      this.shapes++;
    }
  }

  /** The items of a lane in all tiles, each once. Undefined if the lane has cells. */
  private items(lane: string, source: Source = this.frame): Item[] | undefined {
    const found = new Map<number, Item>();
    let has = false;
    for (const tile of source.shown.tiles) {
      const { items } = tile.lanes.find((one) => one.name === lane) ?? {};
      if (!items) continue;
      has = true;
      for (const item of items) if (item[2] >= this.frame.from && item[1] <= this.frame.to) found.set(item[0], item);
    }
    return has ? [...found.values()] : undefined;
  }

  /** The cells of a lane in view, with the place of each. */
  private cells(lane: string, source: Source = this.frame): { x: number; wide: number; cells: Cell[] }[] {
    const { shown, head } = source;
    const { tile_s, cell_s } = shown.level;
    const columns: { x: number; wide: number; cells: Cell[] }[] = [];
    for (const tile of shown.tiles) {
      const { cells } = tile.lanes.find((one) => one.name === lane) ?? {};
      const byIndex = new Map<number, Cell[]>();
      for (const cell of cells ?? []) byIndex.set(cell[0], [...(byIndex.get(cell[0]) ?? []), cell]);
      for (const [index, own] of byIndex) {
        const start = tile.index * tile_s + index * cell_s;
        const x = Math.round(this.at(start));
        const wide = Math.max(1, Math.round(this.at(start + cell_s)) - x);
        if (index < head.cells && x + wide >= 0 && x <= this.frame.width) columns.push({ x, wide, cells: own });
      }
    }
    return columns;
  }

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
    return lane.categories[item[6]]?.name ?? '';
  }

  /** Name of the colour of a category. */
  private inkOf(lane: Lane, index: number): string {
    return lane.categories[index]?.colour || 'ghost';
  }

  private fill(lane: Lane, index: number): string | CanvasPattern {
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

  /** Weakens what does not belong to the selection. Returns whether the row belongs to it. */
  private ink(lane: string, row: number): boolean {
    const belongs = this.kept?.get(lane)?.has(row) ?? false;
    this.pen.globalAlpha = this.kept && !belongs ? FAINT : 1;
    return belongs;
  }

  private hit(lane: string, row: number, x0: number, y0: number, x1: number, y1: number): void {
    this.hits.push({ lane, row, x0, y0, x1, y1 });
  }

  private drawStrip(area: Area, lane: Lane, items: Item[]): void {
    for (const [row, start, end, , , , category] of items) {
      const x = Math.max(-2, this.at(start));
      const wide = Math.max(1, Math.min(this.frame.width + 2, this.at(end)) - x);
      this.pen.fillStyle = this.fill(lane, category);
      this.pen.fillRect(x, area.y + 5, wide, area.tall - 10);
      this.shapes++;
      const label = lane.categories[category]?.label ?? '';
      if (this.pen.measureText(label).width + 12 < wide) this.text(label, Math.max(x, 0) + 4, area.y + area.tall - 9, 'left');
      const middle = area.y + area.tall / 2;
      this.hit(lane.name, row, x, middle, x + wide, middle);
    }
  }

  private drawShares(area: Area, lane: Lane): void {
    for (const { x, wide, cells } of this.cells(lane.name)) {
      let y = area.y + area.tall - 5;
      for (const [, category, share] of cells) {
        const tall = share * (area.tall - 10);
        y -= tall;
        this.pen.fillStyle = this.fill(lane, category);
        this.pen.fillRect(x, y, wide, tall);
        this.shapes++;
      }
    }
  }

  /** Columns of counts of all lanes, stacked by category, the first category on top. */
  private drawCounts(area: Area): void {
    const all = area.lanes.map((lane) => ({ lane, columns: this.cells(lane.name) }));
    const sums = new Map<number, number>();
    for (const { columns } of all) {
      for (const { x, cells } of columns) sums.set(x, (sums.get(x) ?? 0) + cells.reduce((sum, cell) => sum + cell[2], 0));
    }
    const most = Math.max(1, ...sums.values());
    // A low area has no room for the scale.
    const hasScale = area.tall >= LEAST_SCALED;
    const base = area.y + area.tall - 2;
    const tops = new Map<number, number>();
    for (const { lane, columns } of all) {
      for (const { x, wide, cells } of columns) {
        for (const [, category, count] of [...cells].sort((a, b) => b[1] - a[1])) {
          const tall = (count / most) * (area.tall - (hasScale ? 16 : 4));
          const y = (tops.get(x) ?? base) - tall;
          this.pen.fillStyle = this.fill(lane, category);
          this.pen.fillRect(x, y, wide, tall);
          this.shapes++;
          tops.set(x, y);
        }
      }
    }
    if (sums.size && hasScale) this.text(`in ${this.frame.shown.level.cell}: at most ${most}`, this.frame.width - 4, area.y + 11, 'right');
  }

  /** A scale for values between two limits, which are written at the right edge. */
  private scale(area: Area, low: number, high: number, unit: string): (value: number) => number {
    const before = PREFIXES[unit] ?? '';
    const after = before || !unit ? '' : ` ${unit}`;
    const written = (value: number) => `${before}${Number(value.toPrecision(6))}${after}`;
    this.text(written(high), this.frame.width - 4, area.y + 11, 'right');
    this.text(written(low), this.frame.width - 4, area.y + area.tall - 3, 'right');
    return (value) => area.y + area.tall - 8 - ((value - low) / (high - low)) * (area.tall - 16);
  }

  private line(x0: number, y0: number, x1: number, y1: number, colour: string, thick: number): void {
    const { pen } = this;
    pen.strokeStyle = this.palette.colour(colour);
    pen.lineWidth = thick;
    pen.beginPath();
    pen.moveTo(x0, y0);
    pen.lineTo(x1, y1);
    pen.stroke();
    this.shapes++;
  }

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

  private triangle(x: number, y: number, half: number, tall: number, fill: string): void {
    const { pen } = this;
    pen.beginPath();
    pen.moveTo(x - half, y);
    pen.lineTo(x + half, y);
    pen.lineTo(x, y + tall);
    pen.closePath();
    pen.fillStyle = this.palette.colour(fill);
    pen.fill();
    this.shapes++;
  }

  /** Items of a lane of the second run, if it has single items at its level. */
  private ghosts(lane: Lane): Item[] {
    const { other } = this.frame;
    return (other && GHOSTS.includes(lane.draw) && this.items(lane.name, other)) || [];
  }

  /** Lines at their values, those of a later lane below those of an earlier one. Lost ones end with a cross. */
  private drawLines(area: Area): void {
    const lanes = area.lanes.map((lane) => ({ lane, items: this.items(lane.name) ?? [], ghosts: this.ghosts(lane) })).reverse();
    const all = lanes.flatMap(({ items, ghosts }) => [...items, ...ghosts]);
    if (!all.length) return;
    const low = Math.min(...all.map((item) => item[3]));
    const high = Math.max(...all.map((item) => item[4]), low + 1);
    const scale = this.scale(area, low, high, area.lanes[0]?.unit ?? '');
    for (const { ghosts } of lanes) {
      for (const [, start, end, from, to] of ghosts) this.line(this.at(start), scale(from), this.at(end), scale(to), 'ghost', 1.5);
    }
    for (const { lane, items } of lanes) {
      const isAgain = (item: Item) => this.category(lane, item) === 'again';
      for (const item of [...items.filter((one) => !isAgain(one)), ...items.filter(isAgain)]) {
        const [row, start, end, from, to, , category] = item;
        const belongs = this.ink(lane.name, row);
        const isLost = this.category(lane, item) === 'lost';
        const [x0, x1, y0, y1] = [this.at(start), this.at(end), scale(from), scale(to)];
        const colour = isLost ? 'line2' : this.inkOf(lane, category);
        const thick = isAgain(item) ? 2.5 : from === to ? 1 : 1.5;
        this.line(x0, y0, x1, y1, colour, belongs ? thick + 1 : thick);
        if (from !== to) this.line(x0, y0 + 2, x0, y1 - 2, colour, 1);
        if (isLost) this.cross(x1, y1);
        this.hit(lane.name, row, x0, y0, x1, y1);
      }
    }
    this.pen.globalAlpha = 1;
  }

  /** Steps and areas of all lanes on one scale from zero. Cells show the largest value in each. */
  private drawValues(area: Area): void {
    const lanes = area.lanes.map((lane) => ({ lane, items: this.stepsOf(lane), ghosts: this.frame.other ? this.stepsOf(lane, this.frame.other) : [] }));
    const all = lanes.flatMap(({ items, ghosts }) => [...items, ...ghosts]);
    if (!all.length) return;
    const scale = this.scale(area, 0, Math.max(...all.map((item) => item[4])) || 1, area.lanes[0]?.unit ?? '');
    const filled = lanes.filter(({ lane }) => lane.draw === 'filled');
    for (const { lane, items } of filled) this.drawFilled(lane, items, scale);
    for (const { lane, ghosts } of lanes) this.drawSteps(lane, ghosts, scale, 'ghost');
    for (const { lane, items } of lanes) {
      if (lane.draw !== 'filled') this.drawSteps(lane, items, scale, this.inkOf(lane, 0));
      for (const [row, start, end, , value] of items) {
        if (row >= 0 && value) this.hit(lane.name, row, this.at(start), scale(value), this.at(end), scale(value));
      }
    }
  }

  /** Values over time: items, or cells as items without a row. */
  private stepsOf(lane: Lane, source: Source = this.frame): Item[] {
    const items = this.items(lane.name, source);
    if (items) return items;
    const { level, tiles } = source.shown;
    return tiles.flatMap((tile) => {
      const { cells } = tile.lanes.find((one) => one.name === lane.name) ?? {};
      return (cells ?? []).flatMap(([index, category, value]): Item[] => {
        const start = tile.index * level.tile_s + index * level.cell_s;
        const isSeen = start + level.cell_s >= this.frame.from && start <= this.frame.to;
        return isSeen ? [[-1, start, start + level.cell_s, value, value, null, category]] : [];
      });
    });
  }

  private drawFilled(lane: Lane, items: Item[], scale: (value: number) => number): void {
    for (const [row, start, end, , value] of items) {
      this.ink(lane.name, row);
      const [x, y] = [this.at(start), scale(value)];
      const wide = Math.max(1, this.at(end) - x);
      this.rectangle(x, y, wide, scale(0) - y, this.inkOf(lane, 0));
      this.rectangle(x, y, wide, 1, 'line2');
    }
    this.pen.globalAlpha = 1;
  }

  private drawSteps(lane: Lane, items: Item[], scale: (value: number) => number, colour: string): void {
    if (!items.length) return;
    const { pen } = this;
    const isDashed = lane.draw === 'dashed_steps';
    if (isDashed) pen.setLineDash([4, 2]);
    pen.strokeStyle = this.palette.colour(colour);
    pen.lineWidth = 1.5;
    pen.beginPath();
    let before: number | undefined;
    for (const [, start, end, , value] of [...items].sort((a, b) => a[1] - b[1])) {
      const [x, y] = [this.at(start), scale(value)];
      // The line has a gap where there is no value.
      if (before === undefined || start > before) pen.moveTo(x, y);
      else pen.lineTo(x, y);
      pen.lineTo(this.at(end), y);
      before = end;
      this.shapes++;
    }
    pen.stroke();
    if (isDashed) pen.setLineDash([]);
  }

  /** Arrows between server, RNC and UE: segments and ACKs in the fixed network, PDUs and ACKs on the radio. */
  private drawLadder(area: Area, segments: Item[] | undefined): void {
    if (!segments) return this.text('Zoom in for single segments.', this.frame.width - 4, area.y + 24, 'right');
    const rails = { server: area.y + 16, rnc: area.y + area.tall / 2, ue: area.y + area.tall - 10 };
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
        const [row, start, end, , , middle, category] = item;
        this.ink(lane.name, row);
        const isLost = this.category(lane, item) === 'lost';
        const colour = isLost ? 'line2' : this.inkOf(lane, category);
        if (middle !== null) this.arrow(lane.name, row, [start, from], [middle, rails.rnc], colour);
        else if (isLost) this.cross(this.at(end), (from + rails.rnc) / 2);
        // The PDUs are the way of data over the radio. An ACK is drawn as one arrow.
        const isOnRadio = to === rails.ue;
        if (middle !== null && !isLost && !(isData && isOnRadio)) this.arrow(lane.name, row, [middle, rails.rnc], [end, to], colour);
      }
    }
    const pdus = this.frame.head.lanes.find((lane) => lane.name === 'pdus');
    const [pduFrom, pduTo] = isDown ? [rails.rnc, rails.ue] : [rails.ue, rails.rnc];
    for (const item of (pdus && this.items('pdus')) ?? []) {
      const [row, start, end, , , , category] = item;
      this.ink('pdus', row);
      if (pdus && this.category(pdus, item) !== 'lost') {
        this.arrow('pdus', row, [start, pduFrom], [end, pduTo], this.inkOf(pdus, category));
        continue;
      }
      const [x, y] = [this.at(end), (pduFrom + pduTo) / 2];
      this.line(this.at(start), pduFrom, x, y, 'line2', 1);
      this.cross(x, y);
      this.hit('pdus', row, this.at(start), pduFrom, x, y);
    }
    this.pen.globalAlpha = 1;
  }

  /** An arrow between two instants at two heights. */
  private arrow(lane: string, row: number, from: [number, number], to: [number, number], colour: string): void {
    const [x0, y0, x1, y1] = [this.at(from[0]), from[1], this.at(to[0]), to[1]];
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

  /** Bars of one lane below each other where they overlap, or one row for each of several lanes. */
  private drawBars(area: Area): void {
    const tall = area.tall / area.lanes.length;
    area.lanes.forEach((lane, index) => {
      const band: Area = { ...area, lanes: [lane], y: area.y + index * tall, tall };
      const items = this.items(lane.name);
      if (area.lanes.length > 1) this.text(lane.label, this.frame.width - 4, band.y + tall - 4, 'right');
      if (items) this.drawBarsOf(band, lane, items);
      else this.drawCounts(band);
    });
  }

  /** A bar is hollow until the instant between start and end, if the item has one. */
  private drawBarsOf(area: Area, lane: Lane, items: Item[]): void {
    const ends: number[] = [];
    const rows = Math.max(1, Math.floor((area.tall - 4) / BAR_ROW));
    for (const item of [...items].sort((a, b) => a[1] - b[1])) {
      const [row, start, end, , , middle, category] = item;
      const place = placeIn(ends, start, end) % rows;
      const belongs = this.ink(lane.name, row);
      const [x0, x1, y] = [this.at(start), this.at(end), area.y + 4 + place * BAR_ROW];
      if (lane.name === 'sdus') {
        this.pen.strokeStyle = this.palette.colour(belongs ? 'ink' : 'line2');
        this.pen.lineWidth = 1;
        this.pen.strokeRect(x0 + 0.5, y + 0.5, Math.max(1, x1 - x0), 5);
      }
      const filled = middle !== null ? this.at(middle) : lane.name === 'sdus' ? x1 : x0;
      this.rectangle(filled, y, Math.max(1, x1 - filled - 1), 6, this.inkOf(lane, category));
      if (this.category(lane, item) === 'lost') this.cross(x1, y + 3);
      if (this.category(lane, item) === 'expired') this.rectangle(x1 - 1, y - 2, 2, 10, 'rto-e');
      this.hit(lane.name, row, x0, y + 3, x1, y + 3);
    }
    this.pen.globalAlpha = 1;
  }

  private drawMarks(area: Area, lane: Lane, items: Item[]): void {
    const { pen } = this;
    for (const [row, start, , , , , category] of items) {
      this.ink(lane.name, row);
      const [x, y] = [this.at(start), area.y + 10];
      this.triangle(x, y, 5, 10, this.inkOf(lane, category));
      pen.strokeStyle = this.palette.colour('rlc-e');
      pen.lineWidth = 1;
      pen.stroke();
      this.hit(lane.name, row, x, y + 4, x, y + 4);
    }
    pen.globalAlpha = 1;
  }

  /** Ticks. Those of the first category are large. */
  private drawTicks(area: Area, lane: Lane, items: Item[]): void {
    for (const [row, start, , , , , category] of items) {
      this.ink(lane.name, row);
      const isLarge = category === 0;
      const [x, y, tall] = [this.at(start), area.y + 12, isLarge ? 13 : 8];
      this.rectangle(x - (isLarge ? 1 : 0), y, isLarge ? 3 : 1, tall, this.inkOf(lane, category));
      this.hit(lane.name, row, x, y + 4, x, y + 4);
    }
    this.pen.globalAlpha = 1;
  }

  private drawTimeouts(): void {
    const area = this.areas.find((one) => one.name === 'tcp');
    if (!area) return;
    const { pen } = this;
    for (const time of this.frame.marks.timeouts) {
      const x = this.at(time);
      if (x < 0 || x > this.frame.width) continue;
      pen.setLineDash([3, 3]);
      this.line(x, area.y + 10, x, area.y + area.tall, 'rto', 1);
      pen.setLineDash([]);
      this.triangle(x, area.y + 11, 5, -9, 'ink');
    }
  }
}

/** Takes the first row that is free at `start`, until `end`. Returns the index of the row. */
function placeIn(ends: number[], start: number, end: number): number {
  const free = ends.findIndex((busy) => busy <= start);
  const place = free < 0 ? ends.length : free;
  ends[place] = end;
  return place;
}
