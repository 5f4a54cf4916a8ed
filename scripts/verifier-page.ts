import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * The page that verifies proof bundles, as one file: its script and its style stand in it, and its
 * content security policy allows these two by their hashes, and no request.
 *
 * @param vite the program that builds the script
 * @param folder the sources of the page
 */
export function verifierPage(vite: string, folder: string): string {
  const script = builtScript(vite, folder);
  if (/<\/script|<!--/i.test(script))
    throw new Error('The script of the verifier would end its own element.');
  const style = readFileSync(join(folder, 'page/page.css'), 'utf8').replaceAll(/\n\s*/g, '\n');
  const policy = `default-src 'none'; script-src '${hashOf(script)}'; style-src '${hashOf(style)}'; base-uri 'none'; form-action 'none'`;
  return readFileSync(join(folder, 'page.html'), 'utf8')
    .replace('content="policy"', () => `content="${policy}"`)
    .replace('<style></style>', () => `<style>${style}</style>`)
    .replace('<script></script>', () => `<script>${script}</script>`);
}

function builtScript(vite: string, folder: string): string {
  const out = mkdtempSync(join(tmpdir(), 'assize-verifier-'));
  try {
    execFileSync(process.execPath, [vite, 'build', '--outDir', out, '--logLevel', 'error'], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, NODE_ENV: 'production' },
    });
    return readFileSync(join(out, 'verify.js'), 'utf8').trim();
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
