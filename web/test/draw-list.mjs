// Reads frames of the time line as a JSON list, and prints the drawing of each as lines of text.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const bundle = await rolldown({ input: fileURLToPath(new URL('drawList.ts', import.meta.url)), platform: 'node' });
const { output } = await bundle.generate({ format: 'esm' });
const { drawList } = await import(`data:text/javascript;base64,${Buffer.from(output[0].code).toString('base64')}`);
process.stdout.write(JSON.stringify(JSON.parse(readFileSync(0, 'utf8')).map(drawList)));
