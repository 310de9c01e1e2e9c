import { Drawing, type Frame } from '../src/run/drawing';
import { ListPen } from './listPen';

type Given = Omit<Frame, 'looks'> & { looks: { name: string; label: string; hue: string; hatch: string }[] };

/** The drawing of a frame as lines of text: colours by name, lengths in CSS pixels. */
export function drawList({ looks, ...frame }: Given): string[] {
  const pen = new ListPen();
  const palette = { colour: (name: string) => name, fill: (look: { hue: string; hatch: string }) => `${look.hue}/${look.hatch}` };
  new Drawing(pen, { ...frame, looks: new Map(looks.map((look) => [look.name, look])) }, palette).draw();
  return pen.lines;
}
