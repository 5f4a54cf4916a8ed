/** Writes the types of the API for the console and the client: `openapi.d.ts` in their sources. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { OPERATIONS, openApiDocument } from '#server';

const root = join(import.meta.dirname, '..');
const generator = createRequire(join(root, 'tests/openapi-client/package.json')).resolve(
  'openapi-typescript',
);
const folder = mkdtempSync(join(tmpdir(), 'assize-types-'));
try {
  const document = join(folder, 'openapi.json');
  writeFileSync(document, JSON.stringify(openApiDocument(OPERATIONS, 'http://localhost')));
  const program = join(dirname(generator), '../bin/cli.js');
  const types = join(root, 'console/src/api/openapi.d.ts');
  execFileSync(process.execPath, [program, document, '-o', types], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  copyFileSync(types, join(root, 'packages/client/src/openapi.d.ts'));
} finally {
  rmSync(folder, { recursive: true });
}
