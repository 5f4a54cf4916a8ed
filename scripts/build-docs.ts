/**
 * Builds the documentation as a site: `npm run docs` writes docs/.vitepress/dist.
 * `assize serve` shows it at /docs, and any web server can show it. Pages of reference that have a
 * source elsewhere are written first, to docs/reference/generated.
 */
import { execFileSync } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { OPERATIONS } from '#server';
import { commandsPage } from './docs/commands-page.ts';
import { configPage } from './docs/config-page.ts';
import { httpPages } from './docs/http-pages.ts';
import { messagePages } from './docs/message-pages.ts';
import { recordApi } from './docs/recording.ts';

const root = join(import.meta.dirname, '..');
const generated = join(root, 'docs/reference/generated');
/** The highest quality takes ten times as long, for files that are a tenth smaller. */
const QUALITY = { [constants.BROTLI_PARAM_QUALITY]: 9 };
const dist = join(root, 'docs/.vitepress/dist');

rmSync(generated, { recursive: true, force: true });
mkdirSync(generated, { recursive: true });
const recording = await recordApi();
for (const [name, page] of Object.entries({
  commands: await commandsPage(),
  configuration: configPage(root),
  ...httpPages(recording.examples),
  ...messagePages(recording),
}))
  writeFileSync(join(generated, `${name}.md`), page);

const shown = new Set(recording.examples.map(({ id }) => id));
console.log(`${shown.size} of ${OPERATIONS.length} operations have a recorded example.`);

const vitepress = join(root, 'node_modules/vitepress/bin/vitepress.js');
execFileSync(process.execPath, [vitepress, 'build', join(root, 'docs')], {
  stdio: ['ignore', 'ignore', 'inherit'],
});

for (const name of globSync('**/*.{html,js,css,json}', { cwd: dist })) {
  const body = readFileSync(join(dist, name));
  const small = brotliCompressSync(body, { params: QUALITY });
  if (small.length < body.length) writeFileSync(join(dist, `${name}.br`), small);
}
