import { defineConfig } from 'vite';
import { licences } from './licences.ts';

export default defineConfig({
  base: '/',
  // JSX is compiled by Vite itself, as tsconfig.json says.
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../python/umtslab/serve/page',
    emptyOutDir: true,
    target: 'es2022',
    // Inlined files would be data: addresses, which the content security policy refuses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: { checks: { pluginTimings: false } },
  },
  plugins: [licences()],
});
