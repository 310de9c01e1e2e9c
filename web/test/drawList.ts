import { drawFrame } from '../src/run/drawing';
import type { Frame } from '../src/run/drawing/frame';
import { ListPen } from './listPen';

type Given = Omit<Frame, 'looks'> & { looks: { name: string; label: string; hue: string; hatch: string }[] };

/** The drawing of a frame as lines of text: colours by name, lengths in CSS pixels. */
export function drawList({ looks, ...frame }: Given): string[] {
  const pen = new ListPen();
  const palette = { colour: (name: string) => name, fill: (look: { hue: string; hatch: string }) => `${look.hue}/${look.hatch}` };
  drawFrame(pen, { ...frame, looks: new Map(looks.map((look) => [look.name, look])) }, palette);
  return pen.lines;
}
