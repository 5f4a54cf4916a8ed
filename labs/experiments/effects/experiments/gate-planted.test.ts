import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { planted, root, sourceOf } from '../../../../tests/support/mutants.ts';
import type { Posted } from './gate-matrix.ts';

// Does `gate` see a runtime without an approval of calls that can be neither undone nor held?

const FILE = 'runtime/records/tool-authority.ts';

/** The outcome with this text in place of the file. */
function postedWith(source: string): Posted {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [
      ...['--import', join(import.meta.dirname, 'testing/plant.ts')],
      join(import.meta.dirname, 'testing/pivot-messages.ts'),
      pathToFileURL(join(root, 'packages/assize/src', FILE)).href,
    ],
    { input: source, encoding: 'utf8' },
  );
  expect([status, stderr]).toEqual([0, '']);
  return JSON.parse(stdout);
}

test('an approved message leaks nothing, and each is delivered once', () => {
  expect(postedWith(sourceOf(`packages/assize/src/${FILE}`))).toMatchObject({
    leaked: 0,
    valid: 2,
    once: 2,
    twice: 0,
  });
});

test('a runtime that asks no approver leaks each message', () => {
  const fault = 'asks nobody about a pivot';
  const source = planted(fault, {
    file: FILE,
    changes: [['if (pivot === undefined) return asked;', 'return asked;']],
  });
  expect(postedWith(source)).toMatchObject({ leaked: 2, valid: 2, once: 2, twice: 0 });
});
