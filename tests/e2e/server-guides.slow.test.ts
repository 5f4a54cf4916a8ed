/** The guides of the server, followed as they stand. */
import { spawnSync } from 'node:child_process';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ServedGuide } from '../support/process/served-guide.ts';

const python = spawnSync('python3', ['--version']).status === 0;
let guide: ServedGuide;

beforeEach(async () => {
  guide = await ServedGuide.begin();
});
afterEach(async () => {
  await guide.end();
});

/** Each command printed the text that its page shows. */
function expectShown(count: number): void {
  for (const { command, shown, printed } of guide.steps) expect(printed, command).toBe(shown);
  expect(guide.steps).toHaveLength(count);
}

test('server.md', async () => {
  await guide.follow('server.md');
  expectShown(5);
  expect(await guide.end()).toBe(0);
});

test('http-api.md', async () => {
  await guide.beginWith('server.md');
  await guide.follow('http-api.md');
  expectShown(9);
});

test.skipIf(!python)('python.md, which also needs python3', async () => {
  await guide.beginWith('server.md');
  await guide.follow('python.md');
  expectShown(2);
});
