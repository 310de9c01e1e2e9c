import type { Schemas } from '../api/client';
import type { CauseLook } from '../app/context';
import { fillOf, stepFor } from './drawLanes';
import { type Pen, SvgPen } from './svgPen';
import type { Shown, TimelineHead } from './tiles';

type Item = NonNullable<Schemas['LaneTile']['items']>[number];
type Cell = NonNullable<Schemas['LaneTile']['cells']>[number];
type Lane = TimelineHead['lanes'][number];

export interface Hit {
  lane: string;
  row: number;
  x0: number;
  y0: number;
  x1: number;
  y1: number;
}

export interface Drawn {
  hits: Hit[];
  /** Number of rectangles, lines and marks of this frame. */
  shapes: number;
}

/** What is drawn beside the tiles. */
export interface Marks {
  /** Rows that stay at full ink, by lane. All rows if undefined. */
  rows: Record<string, number[]> | undefined;
  /** Time of the open link. */
  span: { from: number; to: number } | undefined;
  timeouts: number[];
  /** Instant of the pointer. */
  cursor: number | undefined;
}

/** Areas from top to bottom: the lanes drawn in each, and its height in CSS pixels. */
const AREAS: readonly { name: string; lanes: readonly string[]; tall: number }[] = [
  { name: 'causes', lanes: ['causes'], tall: 28 },
  { name: 'segments', lanes: ['segments', 'acks'], tall: 124 },
  { name: 'ladder', lanes: ['segments', 'acks'], tall: 132 },
  { name: 'sdus', lanes: ['sdus'], tall: 76 },
  { name: 'pdus', lanes: ['pdus'], tall: 132 },
  { name: 'blocks', lanes: ['blocks'], tall: 40 },
  { name: 'status', lanes: ['status'], tall: 32 },
  { name: 'rrc', lanes: ['rrc'], tall: 28 },
  { name: 'dch', lanes: ['dch'], tall: 28 },
  { name: 'buffer', lanes: ['buffer'], tall: 48 },
];

export const RULER = 20;
const FAINT = 0.3;
const SDU_ROW = 8;

export interface Area {
  name: string;
  lanes: Lane[];
  y: number;
  tall: number;
}

/** The longest view with a ladder of arrows between server, RNC and UE. */
const LADDER_S = 0.5;

/** The areas of the lanes that a time line has, for a view of this length. */
export function areasOf(head: TimelineHead, span: number): Area[] {
  let y = RULER;
  const areas: Area[] = [];
  for (const { name, lanes, tall } of AREAS) {
    const found = head.lanes.filter((lane) => lanes.includes(lane.name));
    if (!found.length || (name === 'ladder' && span > LADDER_S)) continue;
    areas.push({ name, lanes: found, y, tall });
    y += tall;
  }
  return areas;
}

/** Name and remark of an area. */
export function labelOf(area: Area): { label: string; note: string } {
  if (area.name === 'ladder') return { label: 'Ladder', note: 'server, RNC, UE' };
  return { label: area.lanes[0]?.label ?? '', note: area.lanes[0]?.note ?? '' };
}

export function heightOf(areas: Area[]): number {
  const last = areas[areas.length - 1];
  return last ? last.y + last.tall : RULER;
}

export interface Frame {
  width: number;
  head: TimelineHead;
  shown: Shown;
  looks: Map<string, CauseLook>;
  from: number;
  to: number;
  marks: Marks;
  hasLabels: boolean;
}

/** Draws on the canvas, which gets its size in device pixels. */
export function drawTimeline(canvas: HTMLCanvasElement, frame: Frame): Drawn {
  const tall = heightOf(areasOf(frame.head, frame.to - frame.from));
  const ratio = Math.max(1, devicePixelRatio);
  canvas.width = Math.round(frame.width * ratio);
  canvas.height = Math.round(tall * ratio);
  canvas.style.height = `${tall}px`;
  const pen = canvas.getContext('2d');
  if (!pen) throw new Error('no canvas');
  pen.scale(ratio, ratio);
  pen.font = fontOf();
  return new Drawing(pen, frame).draw();
}

/** The view as an SVG file. */
export function timelineSvg(frame: Frame): string {
  const ruler = document.createElement('canvas').getContext('2d');
  if (!ruler) throw new Error('no canvas');
  ruler.font = fontOf();
  const pen = new SvgPen(ruler);
  new Drawing(pen, { ...frame, hasLabels: true }).draw();
  const background = getComputedStyle(document.documentElement).getPropertyValue('--bg').trim();
  return pen.file(frame.width, heightOf(areasOf(frame.head, frame.to - frame.from)), background);
}

const fontOf = () => `11px ${getComputedStyle(document.documentElement).fontFamily}`;

const INK: Record<string, string> = {
  'segments.new': 'serial',
  'segments.again': 'rto',
  'segments.lost': 'ink',
  'acks.ack': 'prop-e',
  'acks.lost': 'ink',
  'sdus.delivered': 'serial',
  'sdus.lost': 'ink',
  'sdus.open': 'ghost',
  'pdus.new': 'serial',
  'pdus.again': 'rlc-e',
  'pdus.lost': 'ink',
  'blocks.whole': 'serial',
  'blocks.lost': 'ink',
  'status.complete': 'bg',
  'status.missing': 'rlc',
  'status.lost': 'ink',
  'rrc.CELL_FACH': 'fach',
  'rrc.CELL_DCH': 'dch',
  'rrc.switch': 'switch',
  'rrc.other': 'line',
  'dch.granted': 'ink',
  'dch.refused': 'ghost',
  'buffer.octets': 'pale',
};

/** Colour of a category of a lane, as the name of a custom property. */
export function inkOf(lane: string, category: string): string {
  return INK[`${lane}.${category}`] ?? 'ghost';
}

class Drawing {
  private readonly areas: Area[];
  private readonly tall: number;
  private readonly style = getComputedStyle(document.documentElement);
  private readonly kept: Map<string, Set<number>> | undefined;
  private readonly fills = new Map<string, string | CanvasPattern>();
  private readonly colours = new Map<string, string>();
  private readonly hits: Hit[] = [];
  private readonly texts: { text: string; x: number; y: number; align: CanvasTextAlign }[] = [];
  private shapes = 0;

  constructor(
    private readonly pen: Pen,
    private readonly frame: Frame,
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
      const label = labelOf(area).label;
      if (frame.hasLabels) this.text(label, isStrip ? frame.width - 4 : 2, area.y + 11, isStrip ? 'right' : 'left');
    }
    this.drawTimeouts();
    if (frame.marks.cursor !== undefined) this.rectangle(this.at(frame.marks.cursor), RULER, 1, this.tall, 'line2');
    this.drawTexts();
    return { hits: this.hits, shapes: this.shapes };
  }

  private at(time: number): number {
    const { from, to, width } = this.frame;
    return ((time - from) / (to - from)) * width;
  }

  private colour(name: string): string {
    let found = this.colours.get(name);
    if (found === undefined) {
      found = this.style.getPropertyValue(`--${name}`).trim();
      this.colours.set(name, found);
    }
    return found;
  }

  private rectangle(x: number, y: number, wide: number, tall: number, fill: string): void {
    this.pen.fillStyle = this.colour(fill);
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
      pen.fillStyle = this.colour('ink');
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

  private drawRuler(): void {
    const { pen, frame } = this;
    const step = stepFor({ from_s: frame.from, to_s: frame.to }, frame.width);
    pen.textAlign = 'center';
    for (let n = Math.ceil(frame.from / step); n * step <= frame.to; n++) {
      const x = this.at(n * step);
      this.rectangle(x, RULER - 4, 1, this.tall, 'grid');
      pen.fillStyle = this.colour('mute');
      const label = `${Number((n * step).toPrecision(9))} s`;
      if (x > 20 && x < frame.width - 20) pen.fillText(label, x, 12);
      this.shapes++;
    }
  }

  /** The items of a lane in all tiles, each once. */
  private items(lane: string): Item[] | undefined {
    const found = new Map<number, Item>();
    let has = false;
    for (const tile of this.frame.shown.tiles) {
      const { items } = tile.lanes.find((one) => one.name === lane) ?? {};
      if (!items) continue;
      has = true;
      for (const item of items) if (item[2] >= this.frame.from && item[1] <= this.frame.to) found.set(item[0], item);
    }
    return has ? [...found.values()] : undefined;
  }

  /** The cells of a lane in view, with the place of each. */
  private cells(lane: string): { x: number; wide: number; cells: Cell[] }[] {
    const { shown, head } = this.frame;
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
    const items = this.items(first.name);
    if (!items) {
      if (area.name === 'ladder') this.text('Zoom in for single segments.', this.frame.width - 4, area.y + 24, 'right');
      else if (first.kind === 'share') this.drawShares(area, first);
      else this.drawCounts(area);
      return;
    }
    switch (area.name) {
      case 'causes':
      case 'rrc':
        return this.drawStrip(area, first, items);
      case 'segments':
        return this.drawSegments(area, items, this.items('acks') ?? []);
      case 'ladder':
        return this.drawLadder(area, items, this.items('acks') ?? [], this.items('pdus') ?? []);
      case 'sdus':
        return this.drawSdus(area, first, items);
      case 'pdus':
        return this.drawPdus(area, first, items);
      case 'blocks':
        return this.drawBlocks(area, first, items);
      case 'status':
        return this.drawStatus(area, first, items);
      case 'dch':
        return this.drawRequests(area, first, items);
      default:
        return this.drawBuffer(area, items);
    }
  }

  private category(lane: Lane, index: number): string {
    return lane.categories[index]?.name ?? '';
  }

  private fill(lane: Lane, index: number): string | CanvasPattern {
    const name = this.category(lane, index);
    if (lane.name !== 'causes') return this.colour(inkOf(lane.name, name));
    let fill = this.fills.get(name);
    if (!fill) {
      const look = this.frame.looks.get(name);
      fill = look ? fillOf(this.pen, look, (one) => this.colour(one)) : this.colour('idle');
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

  /** Columns of counts, stacked by category, or of the largest value. */
  private drawCounts(area: Area): void {
    const all = area.lanes.map((lane) => ({ lane, columns: this.cells(lane.name) }));
    const sums = new Map<number, number>();
    for (const { columns } of all) {
      for (const { x, cells } of columns) sums.set(x, (sums.get(x) ?? 0) + cells.reduce((sum, cell) => sum + cell[2], 0));
    }
    const most = Math.max(1, ...sums.values());
    const base = area.y + area.tall - 2;
    const tops = new Map<number, number>();
    for (const { lane, columns } of all) {
      for (const { x, wide, cells } of columns) {
        for (const [, category, count] of [...cells].sort((a, b) => a[1] - b[1])) {
          const tall = (count / most) * (area.tall - 16);
          const y = (tops.get(x) ?? base) - tall;
          this.pen.fillStyle = lane.name === 'buffer' ? this.colour('line2') : this.fill(lane, category);
          this.pen.fillRect(x, y, wide, tall);
          this.shapes++;
          tops.set(x, y);
        }
      }
    }
    if (sums.size) {
      const what = area.name === 'buffer' ? 'largest value' : `in ${this.frame.shown.level.cell}`;
      this.text(`${what}: at most ${most}`, this.frame.width - 4, area.y + 11, 'right');
    }
  }

  /** Scale of a lane with a vertical axis, from the items in view. */
  private scale(area: Area, items: Item[], unit: string): (value: number) => number {
    const low = Math.min(...items.map((item) => item[3]));
    const high = Math.max(...items.map((item) => item[4]), low + 1);
    if (items.length) {
      this.text(`${unit}${high}`, this.frame.width - 4, area.y + 11, 'right');
      this.text(`${unit}${low}`, this.frame.width - 4, area.y + area.tall - 3, 'right');
    }
    return (value) => area.y + area.tall - 8 - ((value - low) / (high - low)) * (area.tall - 16);
  }

  private line(x0: number, y0: number, x1: number, y1: number, colour: string, thick: number): void {
    const { pen } = this;
    pen.strokeStyle = this.colour(colour);
    pen.lineWidth = thick;
    pen.beginPath();
    pen.moveTo(x0, y0);
    pen.lineTo(x1, y1);
    pen.stroke();
    this.shapes++;
  }

  private cross(x: number, y: number): void {
    const { pen } = this;
    pen.strokeStyle = this.colour('ink');
    pen.lineWidth = 1.5;
    pen.beginPath();
    pen.moveTo(x - 3, y - 3);
    pen.lineTo(x + 3, y + 3);
    pen.moveTo(x - 3, y + 3);
    pen.lineTo(x + 3, y - 3);
    pen.stroke();
    this.shapes++;
  }

  private drawSegments(area: Area, segments: Item[], acks: Item[]): void {
    const scale = this.scale(area, [...segments, ...acks], 'byte ');
    const draw = (lane: string, item: Item, colour: string, thick: number, isLost: boolean) => {
      const [row, start, end, low, high] = item;
      const belongs = this.ink(lane, row);
      const [x0, x1] = [this.at(start), this.at(end)];
      const [y0, y1] = [scale(low), scale(high)];
      this.line(x0, y0, x1, y1, colour, belongs ? thick + 1 : thick);
      if (lane === 'segments') this.line(x0, y0 + 2, x0, y1 - 2, colour, 1);
      if (isLost) this.cross(x1, y1);
      this.hit(lane, row, x0, y0, x1, y1);
    };
    for (const item of acks) draw('acks', item, 'prop-e', 1, item[6] === 1);
    for (const item of segments) if (item[6] !== 1) draw('segments', item, 'serial', 1.5, item[6] === 2);
    for (const item of segments) if (item[6] === 1) draw('segments', item, 'rto', 2.5, false);
    this.pen.globalAlpha = 1;
  }

  /** Arrows between server, RNC and UE: segments and ACKs in the fixed network, PDUs and ACKs on the radio. */
  private drawLadder(area: Area, segments: Item[], acks: Item[], pdus: Item[]): void {
    const rails = { server: area.y + 16, rnc: area.y + area.tall / 2, ue: area.y + area.tall - 10 };
    for (const [name, y] of [['server', rails.server], ['RNC', rails.rnc], ['UE', rails.ue]] as const) {
      this.rectangle(0, y, this.frame.width, 1, 'line2');
      this.text(name, this.frame.width - 4, y - 2, 'right');
    }
    const isDown = this.frame.head.direction === 'downlink';
    const [sender, receiver] = isDown ? [rails.server, rails.ue] : [rails.ue, rails.server];
    const isData = (lane: string) => lane === 'segments';
    for (const [lane, items] of [['segments', segments], ['acks', acks]] as const) {
      const [from, to] = isData(lane) ? [sender, receiver] : [receiver, sender];
      for (const [row, start, end, , , middle, category] of items) {
        this.ink(lane, row);
        const colour = isData(lane) ? (category === 1 ? 'rto' : 'serial') : 'prop-e';
        const isLost = isData(lane) ? category === 2 : category === 1;
        if (middle !== null) this.arrow(lane, row, [start, from], [middle, rails.rnc], colour);
        else if (isLost) this.cross(this.at(end), (from + rails.rnc) / 2);
        // The PDUs are the way of data over the radio. An ACK is drawn as one arrow.
        const isOnRadio = to === rails.ue;
        if (middle !== null && !isLost && !(isData(lane) && isOnRadio)) this.arrow(lane, row, [middle, rails.rnc], [end, to], colour);
      }
    }
    const [pduFrom, pduTo] = isDown ? [rails.rnc, rails.ue] : [rails.ue, rails.rnc];
    for (const [row, start, end, , , , category] of pdus) {
      this.ink('pdus', row);
      if (category !== 2) {
        this.arrow('pdus', row, [start, pduFrom], [end, pduTo], category === 1 ? 'rlc-e' : 'serial');
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

  /** SDUs below each other: hollow while they wait, filled from the first PDU on. */
  private drawSdus(area: Area, lane: Lane, items: Item[]): void {
    const ends: number[] = [];
    const rows = Math.floor((area.tall - 4) / SDU_ROW);
    for (const [row, start, end, , , firstSent, category] of [...items].sort((a, b) => a[1] - b[1])) {
      const place = placeIn(ends, start, end);
      const belongs = this.ink(lane.name, row);
      const y = area.y + 4 + (place % rows) * SDU_ROW;
      const [x0, x1] = [this.at(start), this.at(end)];
      const sent = firstSent === null ? x1 : this.at(firstSent);
      this.pen.strokeStyle = this.colour(belongs ? 'ink' : 'line2');
      this.pen.lineWidth = 1;
      this.pen.strokeRect(x0 + 0.5, y + 0.5, Math.max(1, x1 - x0), 5);
      this.rectangle(sent, y, Math.max(1, x1 - sent), 6, inkOf('sdus', this.category(lane, category)));
      if (category === 1) this.cross(x1, y + 3);
      this.hit(lane.name, row, x0, y + 3, x1, y + 3);
    }
    this.pen.globalAlpha = 1;
  }

  private drawPdus(area: Area, lane: Lane, items: Item[]): void {
    const scale = this.scale(area, items, 'PDU ');
    for (const [row, start, end, low, high, , category] of items) {
      const belongs = this.ink(lane.name, row);
      const isLost = this.category(lane, category) === 'lost';
      const [x0, x1, y0, y1] = [this.at(start), this.at(end), scale(low), scale(high)];
      this.line(x0, y0, x1, y1, isLost ? 'line2' : inkOf(lane.name, this.category(lane, category)), belongs ? 3 : 2);
      if (isLost) this.cross(x1, y1);
      this.hit(lane.name, row, x0, y0, x1, y1);
    }
    this.pen.globalAlpha = 1;
  }

  /** Sets that overlap below each other. */
  private drawBlocks(area: Area, lane: Lane, items: Item[]): void {
    const ends: number[] = [];
    const rows = Math.floor((area.tall - 4) / SDU_ROW);
    for (const [row, start, end, , , , category] of [...items].sort((a, b) => a[1] - b[1])) {
      const place = placeIn(ends, start, end) % rows;
      this.ink(lane.name, row);
      const [x, y] = [this.at(start), area.y + 4 + place * SDU_ROW];
      const wide = Math.max(1, this.at(end) - x - 1);
      this.rectangle(x, y, wide, 6, category === 1 ? 'line2' : 'serial');
      if (category === 1) this.cross(x + wide, y + 3);
      this.hit(lane.name, row, x, y + 3, x + wide, y + 3);
    }
    this.pen.globalAlpha = 1;
  }

  private drawStatus(area: Area, lane: Lane, items: Item[]): void {
    const { pen } = this;
    for (const [row, start, , , , , category] of items) {
      this.ink(lane.name, row);
      const [x, y] = [this.at(start), area.y + 10];
      pen.beginPath();
      pen.moveTo(x - 5, y);
      pen.lineTo(x + 5, y);
      pen.lineTo(x, y + 10);
      pen.closePath();
      pen.fillStyle = this.colour(inkOf(lane.name, this.category(lane, category)));
      pen.strokeStyle = this.colour('rlc-e');
      pen.lineWidth = 1;
      pen.fill();
      pen.stroke();
      this.shapes++;
      this.hit(lane.name, row, x, y + 4, x, y + 4);
    }
    pen.globalAlpha = 1;
  }

  private drawRequests(area: Area, lane: Lane, items: Item[]): void {
    for (const [row, start, , , , , category] of items) {
      const isGranted = category === 0;
      const [x, y, tall] = [this.at(start), area.y + 12, isGranted ? 13 : 8];
      this.rectangle(x - (isGranted ? 1 : 0), y, isGranted ? 3 : 1, tall, isGranted ? 'ink' : 'line2');
      this.hit(lane.name, row, x, y + 4, x, y + 4);
    }
  }

  private drawBuffer(area: Area, items: Item[]): void {
    const most = Math.max(1, ...items.map((item) => item[4]));
    this.text(`at most ${most}`, this.frame.width - 4, area.y + 11, 'right');
    for (const [row, start, end, , octets] of items) {
      const tall = (octets / most) * (area.tall - 16);
      const [x, y] = [this.at(start), area.y + area.tall - 2 - tall];
      const wide = Math.max(1, this.at(end) - x);
      this.rectangle(x, y, wide, tall, 'pale');
      this.rectangle(x, y, wide, 1, 'line2');
      if (octets) this.hit('buffer', row, x, y, x + wide, y);
    }
  }

  private drawTimeouts(): void {
    const area = this.areas.find((one) => one.name === 'segments');
    if (!area) return;
    const { pen } = this;
    for (const time of this.frame.marks.timeouts) {
      const x = this.at(time);
      if (x < 0 || x > this.frame.width) continue;
      pen.setLineDash([3, 3]);
      this.line(x, area.y + 10, x, area.y + area.tall, 'rto', 1);
      pen.setLineDash([]);
      pen.beginPath();
      pen.moveTo(x, area.y + 2);
      pen.lineTo(x + 5, area.y + 11);
      pen.lineTo(x - 5, area.y + 11);
      pen.closePath();
      pen.fillStyle = this.colour('ink');
      pen.fill();
      this.shapes++;
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

/** The item closest to a point, within a distance in pixels. */
export function nearest(hits: Hit[], x: number, y: number, within: number): Hit | undefined {
  let best: Hit | undefined;
  let least = within;
  for (const hit of hits) {
    const distance = away(hit, x, y);
    if (distance <= least) {
      best = hit;
      least = distance;
    }
  }
  return best;
}

function away({ x0, y0, x1, y1 }: Hit, x: number, y: number): number {
  const length = (x1 - x0) ** 2 + (y1 - y0) ** 2;
  const along = length ? Math.max(0, Math.min(1, ((x - x0) * (x1 - x0) + (y - y0) * (y1 - y0)) / length)) : 0;
  return Math.hypot(x - x0 - along * (x1 - x0), y - y0 - along * (y1 - y0));
}
