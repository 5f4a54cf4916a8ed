import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { apiPage } from '../../scripts/api-report.ts';
import { builtPackages } from '../support/built.ts';

test('docs/reference/api.md matches the declarations (npm run api)', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/reference/api.md'), 'utf8');
  expect(page).toBe(apiPage(builtPackages()));
});
