import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { keysOf } from '../../../../../tests/support/ledger/rows.ts';
import { type Ended, runCommand } from '../../../../../tests/support/process/command.ts';

const root = join(import.meta.dirname, '../../../../..');
export const assizeModule = pathToFileURL(join(root, 'packages/assize/src/public/index.ts'));
export const anchor = keysOf(41);

/** A contradiction between two diagnoses is escalated to a doctor. */
export const WARD = `
import { defineDomain } from '${assizeModule}';
import { z } from '${pathToFileURL(join(root, 'node_modules/zod/index.js'))}';
export const ward = defineDomain({
  name: 'ward', version: '1', state: z.object({}), initial: {}, processes: {}, roles: {}, actions: {}, invariants: [],
  counselors: { doctor: (principal) => principal.startsWith('dr.') },
  memory: {
    predicates: {
      takes: { cardinality: 'single-valued', strategy: 'lww' },
      allergy: { cardinality: 'multi-valued', strategy: 'lww' },
      weight: { cardinality: 'single-valued', strategy: 'evi' },
      diagnosis: { cardinality: 'single-valued', strategy: 'await', channel: 'doctor' },
    },
  },
});
export const bare = defineDomain({
  name: 'bare', version: '1', state: z.object({}), initial: {}, processes: {}, roles: {}, actions: {}, invariants: [],
});
`;

const MAKE = `
import { Assize, openStore } from '${assizeModule}';
import { bare, ward } from './ward.ts';
const store = await openStore('sqlite:./ward.db');
const assize = new Assize({ store, domains: [ward, bare], anchors: [process.argv[2]] });
await assize.create(ward, { trajectoryId: 'notes' });
await assize.create(bare, { trajectoryId: 'bare' });
await store.close();
`;

export const AUTHORITY = ['--domain', 'ward.ts', '--key', 'anchor.key'];
export const say = (verb: string, predicate: string, ...args: string[]): string[] => [
  ...[
    'memory',
    verb,
    'notes',
    '--space',
    'ward-3',
    '--subject',
    'patient 7',
    '--predicate',
    predicate,
  ],
  ...AUTHORITY,
  ...args,
];
export const read = (verb: string, ...args: string[]): string[] => [
  'memory',
  verb,
  '--space',
  'ward-3',
  ...args,
];
export const objects = (facts: readonly { object: string }[]): string[] =>
  facts.map(({ object }) => object);

/**
 * The command in a separate folder for each test of a file, over the ledger of a ward. Call this
 * once in the file.
 */
export function inWardFolder() {
  const made = mkdtempSync(join(tmpdir(), 'assize-cli-memory-'));
  let folder: string;

  beforeAll(async () => {
    writeFileSync(join(made, 'ward.ts'), WARD);
    writeFileSync(join(made, 'make.ts'), MAKE);
    writeFileSync(join(made, 'ward.db.anchors.json'), JSON.stringify([anchor.publicKey]));
    writeFileSync(join(made, 'anchor.key'), `${anchor.privateKey}\n`);
    writeFileSync(join(made, 'other.key'), `${keysOf(42).privateKey}\n`);
    const child = spawn(process.execPath, ['make.ts', anchor.publicKey], {
      cwd: made,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    expect(await once(child, 'exit')).toEqual([0, null]);
  });
  afterAll(() => rmSync(made, { recursive: true, force: true }));
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'assize-cli-memory-'));
    cpSync(made, folder, { recursive: true });
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const assize = (...args: string[]): Promise<Ended> =>
    runCommand(folder, 'sqlite:./ward.db', ...args);

  async function json(code: number, ...args: string[]): Promise<any> {
    const ended = await assize(...args, '--json');
    expect(ended.code, ended.err + ended.out).toBe(code);
    return JSON.parse(ended.out);
  }

  const file = (name: string, ...lines: unknown[]): string => {
    const texts = lines.map((each) => (typeof each === 'string' ? each : JSON.stringify(each)));
    writeFileSync(join(folder, name), texts.map((text) => `${text}\n`).join(''));
    return name;
  };

  return {
    /** Of the test that is running. */
    get folder(): string {
      return folder;
    },
    assize,
    json,
    file,
  };
}
