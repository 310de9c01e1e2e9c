// The shapes of which the time line consists: rectangles, lines, marks, texts, and scales of vertical axes. Each shape is
// counted, and the place of an item can be recorded.
import type { Area, Lane } from '../areas';
import type { Hit } from '../hits';
import type { Pen } from '../svgPen';
import type { Item } from './content';
import { type Frame, type Palette, xOf } from './frame';

/** Opacity of items that do not belong to the selection. */
const FAINT = 0.3;
/** Words before the numbers of a scale, by unit. Other units follow the number. */
const PREFIXES: Record<string, string> = { B: 'byte ', PDU: 'PDU ' };

/** The pen with which a frame is drawn, and everything about the drawn shapes. */
export class Sketch {
  /** Places of the drawn items. */
  readonly hits: Hit[] = [];
  /** Number of drawn shapes. */
  shapes = 0;
  private readonly selectedRows: Map<string, Set<number>> | undefined;
  /** Fills of causes by name. */
  private readonly fills = new Map<string, string | CanvasPattern>();
  private readonly texts: { text: string; x: number; y: number; align: CanvasTextAlign }[] = [];

  constructor(
    readonly pen: Pen,
    readonly frame: Frame,
    readonly palette: Palette,
  ) {
    const { rows } = frame.marks;
    this.selectedRows = rows && new Map(Object.entries(rows).map(([lane, numbers]) => [lane, new Set(numbers)]));
  }

  /** The horizontal position of an instant. */
  xOf(time: number): number {
    return xOf(this.frame, time);
  }

  rectangle(x: number, y: number, width: number, height: number, fill: string): void {
    this.pen.fillStyle = this.palette.colour(fill);
    this.pen.fillRect(x, y, width, height);
    this.shapes++;
  }

  line(x0: number, y0: number, x1: number, y1: number, colour: string, thickness: number): void {
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
  cross(x: number, y: number): void {
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
  triangle(x: number, y: number, half: number, height: number, fill: string): void {
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

  /** An arrow between two instants at two heights. */
  arrow(lane: string, row: number, from: [number, number], to: [number, number], colour: string): void {
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

  /** Writes a text above all shapes. */
  text(text: string, x: number, y: number, align: CanvasTextAlign): void {
    this.texts.push({ text, x, y, align });
  }

  drawTexts(): void {
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

  /** A scale for values between two limits, which are written at the right edge. */
  scale(area: Area, low: number, high: number, unit: string): (value: number) => number {
    const prefix = PREFIXES[unit] ?? '';
    const suffix = prefix || !unit ? '' : ` ${unit}`;
    const label = (value: number) => `${prefix}${Number(value.toPrecision(6))}${suffix}`;
    this.text(label(high), this.frame.width - 4, area.y + 11, 'right');
    this.text(label(low), this.frame.width - 4, area.y + area.height - 3, 'right');
    return (value) => area.y + area.height - 8 - ((value - low) / (high - low)) * (area.height - 16);
  }

  category(lane: Lane, item: Item): string {
    return lane.categories[item.category]?.name ?? '';
  }

  /** Name of the colour of a category. */
  colourNameOf(lane: Lane, index: number): string {
    return lane.categories[index]?.colour || 'ghost';
  }

  fillOf(lane: Lane, index: number): string | CanvasPattern {
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
  emphasise(lane: string, row: number): boolean {
    const belongs = this.selectedRows?.get(lane)?.has(row) ?? false;
    this.pen.globalAlpha = this.selectedRows && !belongs ? FAINT : 1;
    return belongs;
  }

  /** Records the place of an item, so that a click finds it. */
  hit(lane: string, row: number, x0: number, y0: number, x1: number, y1: number): void {
    this.hits.push({ lane, row, x0, y0, x1, y1 });
  }
}
