// Reads frames of the time line as a JSON list, and prints the drawing of each as lines of text.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';

const folder = mkdtempSync(join(tmpdir(), 'draw-list-'));
const file = join(folder, 'drawList.mjs');
try {
  const bundle = await rolldown({ input: fileURLToPath(new URL('drawList.ts', import.meta.url)), platform: 'node' });
  await bundle.write({ format: 'esm', file });
  const { drawList } = await import(pathToFileURL(file).href);
  const frames = JSON.parse(readFileSync(0, 'utf8'));
  process.stdout.write(JSON.stringify(frames.map((frame) => drawList(frame))));
} finally {
  rmSync(folder, { recursive: true });
}
