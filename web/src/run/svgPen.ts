/** The part of a canvas that the time line is drawn with. */
export type Pen = Pick<
  CanvasRenderingContext2D,
  | 'fillStyle'
  | 'strokeStyle'
  | 'lineWidth'
  | 'globalAlpha'
  | 'textAlign'
  | 'fillRect'
  | 'strokeRect'
  | 'beginPath'
  | 'moveTo'
  | 'lineTo'
  | 'closePath'
  | 'rect'
  | 'clip'
  | 'fill'
  | 'stroke'
  | 'save'
  | 'restore'
  | 'setLineDash'
  | 'fillText'
  | 'measureText'
  | 'createPattern'
>;

const ANCHORS: Partial<Record<CanvasTextAlign, string>> = { center: 'middle', right: 'end', end: 'end' };

/** Writes as SVG what is drawn. Text is measured by a canvas. */
export class SvgPen implements Pen {
  fillStyle: string | CanvasGradient | CanvasPattern = '#000';
  strokeStyle: string | CanvasGradient | CanvasPattern = '#000';
  lineWidth = 1;
  globalAlpha = 1;
  textAlign: CanvasTextAlign = 'left';
  private readonly defs: string[] = [];
  private readonly body: string[] = [];
  /** References to the patterns in `defs`. */
  private readonly patterns = new Map<CanvasPattern, string>();
  /** Whether each saved state has a clip. */
  private readonly saved: boolean[] = [];
  private path = '';
  private dash: number[] = [];
  /** The last rectangle of `rect`, which becomes the clip. */
  private box: [number, number, number, number] = [0, 0, 0, 0];

  constructor(private readonly ruler: CanvasRenderingContext2D) {}

  /** The drawing as a file. */
  file(width: number, height: number, background: string): string {
    const font = escaped(this.ruler.font.replace(/^.*?px\s*/, ''));
    return [
      `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="${font}" font-size="11">`,
      `<defs>${this.defs.join('')}</defs>`,
      `<rect width="${width}" height="${height}" fill="${background}"/>`,
      ...this.body,
      '</svg>\n',
    ].join('\n');
  }

  fillRect(x: number, y: number, width: number, height: number): void {
    this.body.push(`<rect ${this.place(x, y, width, height)} fill="${this.paint(this.fillStyle)}"${this.alpha()}/>`);
  }

  strokeRect(x: number, y: number, width: number, height: number): void {
    this.body.push(`<rect ${this.place(x, y, width, height)} fill="none" ${this.line()}/>`);
  }

  beginPath(): void {
    this.path = '';
  }

  moveTo(x: number, y: number): void {
    this.path += `M${short(x)} ${short(y)}`;
  }

  lineTo(x: number, y: number): void {
    this.path += `L${short(x)} ${short(y)}`;
  }

  closePath(): void {
    this.path += 'Z';
  }

  rect(x: number, y: number, width: number, height: number): void {
    this.box = [x, y, width, height];
  }

  clip(): void {
    const id = `c${this.defs.length}`;
    this.defs.push(`<clipPath id="${id}"><rect ${this.place(...this.box)}/></clipPath>`);
    this.body.push(`<g clip-path="url(#${id})">`);
    this.saved[this.saved.length - 1] = true;
  }

  fill(): void {
    this.body.push(`<path d="${this.path}" fill="${this.paint(this.fillStyle)}"${this.alpha()}/>`);
  }

  stroke(): void {
    this.body.push(`<path d="${this.path}" fill="none" ${this.line()}/>`);
  }

  save(): void {
    this.saved.push(false);
  }

  restore(): void {
    if (this.saved.pop()) this.body.push('</g>');
  }

  setLineDash(dash: number[]): void {
    this.dash = dash;
  }

  fillText(text: string, x: number, y: number): void {
    const anchor = ANCHORS[this.textAlign];
    const place = `x="${short(x)}" y="${short(y)}"${anchor ? ` text-anchor="${anchor}"` : ''}`;
    this.body.push(`<text ${place} fill="${this.paint(this.fillStyle)}"${this.alpha()}>${escaped(text)}</text>`);
  }

  measureText(text: string): TextMetrics {
    return this.ruler.measureText(text);
  }

  createPattern(image: CanvasImageSource, repetition: string | null): CanvasPattern | null {
    const pattern = this.ruler.createPattern(image, repetition);
    if (!pattern || !(image instanceof HTMLCanvasElement)) return null;
    const id = `p${this.defs.length}`;
    const size = `width="${image.width}" height="${image.height}"`;
    this.defs.push(
      `<pattern id="${id}" ${size} patternUnits="userSpaceOnUse"><image ${size} href="${image.toDataURL()}"/></pattern>`,
    );
    this.patterns.set(pattern, `url(#${id})`);
    return pattern;
  }

  /** The attributes of a rectangle's position and size. */
  private place(x: number, y: number, width: number, height: number): string {
    return `x="${short(x)}" y="${short(y)}" width="${short(Math.max(0, width))}" height="${short(Math.max(0, height))}"`;
  }

  /** The colour of a style, or the reference to its pattern. */
  private paint(style: string | CanvasGradient | CanvasPattern): string {
    return typeof style === 'string' ? style : (this.patterns.get(style as CanvasPattern) ?? '#888');
  }

  /** The attribute of the opacity. Empty for opaque shapes. */
  private alpha(): string {
    return this.globalAlpha === 1 ? '' : ` opacity="${this.globalAlpha}"`;
  }

  /** The attributes of a line. */
  private line(): string {
    const dash = this.dash.length ? ` stroke-dasharray="${this.dash.join(' ')}"` : '';
    return `stroke="${this.paint(this.strokeStyle)}" stroke-width="${this.lineWidth}"${dash}${this.alpha()}`;
  }
}

/** A number with at most two decimal places. */
const short = (value: number) => String(Number(value.toFixed(2)));

function escaped(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;');
}
