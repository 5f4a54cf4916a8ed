/** The driver of docs/reference/conformance.md as a program, whole or with a fault. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { linkPackages } from '../../../../../tests/support/process/link-packages.ts';

const root = join(import.meta.dirname, '../../../../..');
const page = readFileSync(join(root, 'docs/reference/conformance.md'), 'utf8');
const driver = /^```ts driver\.ts\n([\s\S]*?)^```$/m.exec(page)?.[1] ?? '';

/** A text of the driver, and the text in its place. */
export type Fault = readonly [from: string, to: string];

/** A folder with `driver.ts`, until the test ends. */
export function guideDriver(...faults: readonly Fault[]): {
  readonly folder: string;
  readonly file: string;
} {
  const folder = mkdtempSync(join(tmpdir(), 'assize-driver-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  mkdirSync(join(folder, 'node_modules'));
  linkPackages(join(folder, 'node_modules'));
  const file = join(folder, 'driver.ts');
  writeFileSync(file, faults.reduce(replaced, driver));
  return { folder, file };
}

/** A fault that does not fit the page any more would test nothing. */
function replaced(text: string, [from, to]: Fault): string {
  if (text.split(from).length !== 2)
    throw new Error(`the driver of the guide has not one '${from}'`);
  return text.replace(from, () => to);
}
