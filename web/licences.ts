import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Plugin } from 'vite';

/** Writes the licences of all packages in the bundle to licences.txt. Fails if a package has none. */
export function licences(): Plugin {
  return {
    name: 'licences',
    generateBundle(_, bundle) {
      const folders = new Set<string>();
      for (const chunk of Object.values(bundle)) {
        if (chunk.type !== 'chunk') continue;
        for (const id of chunk.moduleIds) {
          const folder = packageOf(id);
          if (folder) folders.add(folder);
        }
      }
      // Style sheets are no modules of a chunk.
      folders.add(join(import.meta.dirname, 'node_modules/uplot'));
      const source = [...folders].sort().map(licence).join('\n');
      this.emitFile({ type: 'asset', fileName: 'licences.txt', source });
    },
  };
}

/** The folder of the package that a module belongs to, or undefined for modules of this page. */
function packageOf(id: string): string | undefined {
  const path = id.replace(/^\0/, '').split('?')[0] ?? '';
  if (!path.includes('/node_modules/')) return undefined;
  let folder = dirname(path);
  while (folder !== dirname(folder)) {
    const file = join(folder, 'package.json');
    if (existsSync(file) && JSON.parse(readFileSync(file, 'utf8')).version) return folder;
    folder = dirname(folder);
  }
  return undefined;
}

function licence(folder: string): string {
  const described = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((name) => /^(licen[cs]e|copying)/i.test(name));
  if (!file) throw new Error(`${described.name} has no licence file`);
  const text = readFileSync(join(folder, file), 'utf8').trim();
  return `${described.name} ${described.version} (${described.license})\n\n${text}\n\n${'-'.repeat(80)}\n`;
}
