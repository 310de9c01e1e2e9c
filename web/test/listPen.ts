import type { Pen } from '../src/run/svgPen';

/** Width of a letter in CSS pixels. */
const LETTER = 6;

/** Writes what is drawn as lines of text, so that drawings can be compared without pixels and fonts. */
export class ListPen implements Pen {
  fillStyle: string | CanvasGradient | CanvasPattern = '';
  strokeStyle: string | CanvasGradient | CanvasPattern = '';
  lineWidth = 1;
  globalAlpha = 1;
  textAlign: CanvasTextAlign = 'left';
  readonly lines: string[] = [];
  private path = '';
  private dash = '';
  private box = '';

  fillRect(x: number, y: number, width: number, height: number): void {
    this.add('rect', this.fillStyle, place(x, y, width, height));
  }

  strokeRect(x: number, y: number, width: number, height: number): void {
    this.add('frame', this.strokeStyle, place(x, y, width, height));
  }

  beginPath(): void {
    this.path = '';
  }

  moveTo(x: number, y: number): void {
    this.path += ` M${short(x)},${short(y)}`;
  }

  lineTo(x: number, y: number): void {
    this.path += ` L${short(x)},${short(y)}`;
  }

  closePath(): void {
    this.path += ' Z';
  }

  rect(x: number, y: number, width: number, height: number): void {
    this.box = place(x, y, width, height);
  }

  clip(): void {
    this.lines.push(`area ${this.box}`);
  }

  fill(): void {
    this.add('fill', this.fillStyle, this.path.trim());
  }

  stroke(): void {
    this.add(`line ${short(this.lineWidth)}${this.dash}`, this.strokeStyle, this.path.trim());
  }

  save(): void {}

  restore(): void {}

  setLineDash(dash: number[]): void {
    this.dash = dash.length ? ' dashed' : '';
  }

  fillText(text: string, x: number, y: number): void {
    this.add(`text ${this.textAlign}`, this.fillStyle, `${short(x)} ${short(y)} ${text}`);
  }

  measureText(text: string): TextMetrics {
    return { width: LETTER * text.length } as TextMetrics;
  }

  createPattern(): CanvasPattern | null {
    return null;
  }

  private add(kind: string, style: string | CanvasGradient | CanvasPattern, rest: string): void {
    const alpha = this.globalAlpha === 1 ? '' : ` ${short(this.globalAlpha)}`;
    this.lines.push(`${kind} ${String(style)}${alpha} ${rest}`);
  }
}

const short = (value: number) => String(Number(value.toFixed(1)));
const place = (...values: number[]) => values.map(short).join(' ');
