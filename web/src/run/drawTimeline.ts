import { areasOf, heightOf } from './areas';
import { fillOf } from './drawLanes';
import { drawFrame } from './drawing';
import type { Drawn, Frame, Palette } from './drawing/frame';
import { type Pen, SvgPen } from './svgPen';

/** Device pixels per CSS pixel of an image file. */
const IMAGE_RATIO = 2;

/** Draws on the canvas, which gets its size in device pixels. A new size makes the browser paint the whole page. */
export function drawTimeline(canvas: HTMLCanvasElement, frame: Frame, ratio = Math.max(1, devicePixelRatio)): Drawn {
  const cssHeight = heightOfFrame(frame);
  const [width, height] = [Math.round(frame.width * ratio), Math.round(cssHeight * ratio)];
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width;
    canvas.height = height;
    canvas.style.height = `${cssHeight}px`;
  }
  const pen = penOf(canvas);
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, frame.width, cssHeight);
  return drawFrame(pen, frame, paletteOf(pen));
}

/** The view as an SVG file. */
export function timelineSvg(frame: Frame): string {
  const ruler = penOf(document.createElement('canvas'));
  const pen = new SvgPen(ruler);
  const palette = paletteOf(pen);
  drawFrame(pen, { ...frame, hasLabels: true }, palette);
  return pen.file(frame.width, heightOfFrame(frame), palette.colour('bg'));
}

/** The view as a PNG file, on the background of the page. */
export function timelinePng(frame: Frame): Promise<Blob> {
  const drawing = document.createElement('canvas');
  drawTimeline(drawing, { ...frame, hasLabels: true }, IMAGE_RATIO);
  const image = document.createElement('canvas');
  image.width = drawing.width;
  image.height = drawing.height;
  const pen = penOf(image);
  pen.fillStyle = paletteOf(pen).colour('bg');
  pen.fillRect(0, 0, image.width, image.height);
  pen.drawImage(drawing, 0, 0);
  return new Promise((done, failed) => {
    image.toBlob((blob) => (blob ? done(blob) : failed(new Error('the browser made no image'))), 'image/png');
  });
}

/** Height of a frame in CSS pixels. */
const heightOfFrame = (frame: Frame) => heightOf(areasOf(frame.head, frame.to - frame.from));

/** The drawing context of a canvas, with the font of the page. */
function penOf(canvas: HTMLCanvasElement): CanvasRenderingContext2D {
  const pen = canvas.getContext('2d');
  if (!pen) throw new Error('no canvas');
  pen.font = `11px ${getComputedStyle(document.documentElement).fontFamily}`;
  return pen;
}

/** The colours of the theme. */
function paletteOf(pen: Pen): Palette {
  const style = getComputedStyle(document.documentElement);
  const colours = new Map<string, string>();
  const colour = (name: string) => {
    let value = colours.get(name);
    if (value === undefined) {
      value = style.getPropertyValue(`--${name}`).trim();
      colours.set(name, value);
    }
    return value;
  };
  return { colour, fill: (look) => fillOf(pen, look, colour) };
}
