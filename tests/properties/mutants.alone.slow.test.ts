import { spawn } from 'node:child_process';
import {
  globSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { MUTANTS, type Mutant, PROPERTIES, planted, root, sourceOf } from '../support/mutants.ts';
import { someOf } from '../support/some-of.ts';

// Do the properties of this folder find the faults that they must find? Each mutant is a copy of
// the sources with one fault planted in it. The properties run against it, with a fixed seed and
// few cases, and must fail. One copy has no fault, and there they must pass.

/** The layers of the sources that the copies need. */
const FLOORS = [
  'base',
  'canon',
  'merkle',
  'traces',
  'authority',
  'kernel',
  'ledger',
  'oracle',
  'effects',
  'memory',
  'runtime',
  'stores',
];
/** The mutants of this run. */
const TRIED = someOf(MUTANTS);
const SOUND = 'sound';
/** The folder is not a copy. The tested copies are in folders next to it. */
const PARTS = 'parts/of/copies';
const SETUP = `import { readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import fc from 'fast-check';
import { beforeEach, expect } from 'vitest';
const file = expect.getState().testPath;
const { cases, property } = JSON.parse(readFileSync(dirname(file) + '/' + basename(file, '.test.js') + '.json', 'utf8'));
process.env.ASSIZE_CASES = String(cases);
fc.configureGlobal({ seed: 20260323, endOnFailure: true });
beforeEach((context) => context.skip(!property.some((begin) => context.task.name.startsWith(begin))));
`;
/**
 * Node loads the copies itself. Transforming each file of each copy would take longer than the
 * properties.
 */
const CONFIG = `export default {
  test: {
    include: ['*/tests/properties/*.test.js'],
    setupFiles: ['./setup.ts'],
    pool: 'forks',
    isolate: false,
    testTimeout: 60_000,
    experimental: { viteModuleRunner: false },
  },
};
`;

/** Properties run recorded work again, and keep it in the model of a store. */
const REPLAY = 'packages/audit/src/replay';
const MODEL = 'packages/testing/src/memory';
let folder: string;
/** Paths. */
const parts: string[] = [];
let outcomes: ReadonlyMap<
  string,
  { readonly passed: number; readonly failed: number; readonly words: string }
>;

/**
 * The program as Node would load it. Node would repeat the work in each copy. Imports carry the new
 * file names.
 */
const programOf = (source: string): string =>
  stripTypeScriptTypes(source)
    .replaceAll(/(?<='\.[^'\n]*)\.ts(?=')/g, '.js')
    .replaceAll("'@assize/testing/memory'", "'#model'")
    .replaceAll(/'assize\/internal\/([\w/-]+)\.ts'/g, "'#file/$1.js'")
    .replaceAll(/'assize\/(?:internal\/)?([\w/-]+)'/g, "'#$1'");

const built = (path: string): string => path.replace(/\.ts$/, '.js');

/** Writes the files that all copies need and share. */
function makeParts(): void {
  const properties = Object.keys(PROPERTIES).map((by) => `tests/properties/${by}.test.ts`);
  const shared = ['tests/support/**/*.ts', 'tests/properties/{mixed-schedules,payments}.ts'];
  const needed = globSync(
    [`packages/assize/src/{${FLOORS}}/**/*.ts`, `{${REPLAY},${MODEL}}/**/*.ts`, ...shared],
    {
      cwd: root,
    },
  );
  for (const path of [...needed.filter((each) => !each.endsWith('.test.ts')), ...properties]) {
    parts.push(built(path));
    mkdirSync(dirname(join(folder, PARTS, path)), { recursive: true });
    writeFileSync(join(folder, PARTS, built(path)), programOf(sourceOf(path)));
  }
}

/** Of files that are never changed: each is there once, and has a name in every copy. */
function copyTo(
  name: string,
  tried: readonly Pick<Mutant, 'by' | 'property'>[],
  mutant?: Mutant,
): void {
  const home = join(folder, name);
  const faults =
    mutant === undefined ? [] : [mutant, ...(mutant.also === undefined ? [] : [mutant.also])];
  const mutated = new Set(faults.map(({ file }) => built(`packages/assize/src/${file}`)));
  const properties = new Map(tried.map(({ by }) => [`tests/properties/${by}.test.js`, by]));
  for (const part of parts) {
    if (mutated.has(part) || (part.endsWith('.test.js') && !properties.has(part))) continue;
    mkdirSync(dirname(join(home, part)), { recursive: true });
    linkSync(join(folder, PARTS, part), join(home, part));
  }
  for (const [path, by] of properties) {
    const property = tried.filter((one) => one.by === by).map((one) => one.property);
    writeFileSync(
      join(home, path.replace('.test.js', '.json')),
      JSON.stringify({ cases: PROPERTIES[by], property }),
    );
  }
  const { imports } = JSON.parse(sourceOf('package.json')) as { imports: Record<string, string> };
  const named = Object.fromEntries(
    Object.entries({
      ...imports,
      '#model': `./${MODEL}/index.ts`,
      '#file/*': './packages/assize/src/*',
    }).map(([each, path]) => [each, built(path)]),
  );
  writeFileSync(
    join(home, 'package.json'),
    JSON.stringify({ name, type: 'module', imports: named }),
  );
  for (const fault of faults) {
    const source = planted(mutant?.fault as string, fault);
    writeFileSync(join(home, built(`packages/assize/src/${fault.file}`)), programOf(source));
  }
}

/**
 * Far more time than the copies take. A run past the deadline has a mutant that does not end, and
 * its report is missing.
 */
const DEADLINE_MS = 480_000;

/**
 * Runs every copy's properties in one child, with an environment separate from this one. No other
 * process reads its compiled code.
 */
function run(): Promise<string> {
  const env = Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(VITEST|TEST$|NODE_ENV$|NODE_OPTIONS$|NODE_COMPILE_CACHE$)/.test(name),
    ),
  );
  const child = spawn(
    process.execPath,
    [
      join(root, 'node_modules/vitest/vitest.mjs'),
      'run',
      '--root',
      folder,
      '--config',
      join(folder, 'vitest.config.mjs'),
      '--reporter=json',
      '--outputFile',
      join(folder, 'report.json'),
    ],
    // In a group of its own, so that a mutant that never ends can be ended with its workers.
    { env, stdio: ['ignore', 'pipe', 'pipe'], detached: true },
  );
  const end = (): void => {
    if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  };
  const deadline = setTimeout(end, DEADLINE_MS);
  process.once('exit', end);
  let words = '';
  child.stdout.on('data', (chunk) => (words += chunk));
  child.stderr.on('data', (chunk) => (words += chunk));
  return new Promise((done, fail) => {
    child.on('error', fail);
    child.on('close', () => {
      clearTimeout(deadline);
      process.off('exit', end);
      done(words);
    });
  });
}

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'assize-mutants-')));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'dir');
  writeFileSync(join(folder, 'setup.ts'), SETUP);
  writeFileSync(join(folder, 'vitest.config.mjs'), CONFIG);
  makeParts();
  copyTo(SOUND, TRIED);
  TRIED.forEach((mutant, i) => {
    copyTo(`mutant-${i}`, [mutant], mutant);
  });
  const words = await run();
  let report: Report;
  try {
    report = JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8')) as Report;
  } catch (cause) {
    throw new Error(`The properties could not be run: ${words}`, { cause });
  }
  const found = new Map<string, { passed: number; failed: number; words: string }>();
  for (const { name, message, assertionResults } of report.testResults) {
    const home = name.slice(folder.length + 1).split('/')[0] as string;
    const so = found.get(home) ?? { passed: 0, failed: 0, words: '' };
    for (const { status, failureMessages } of assertionResults) {
      if (status === 'passed') so.passed++;
      if (status === 'failed') so.failed++;
      so.words += failureMessages.join('\n');
    }
    so.words += message;
    found.set(home, so);
  }
  outcomes = found;
});

afterAll(() => {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});

test('without a fault the properties pass', () => {
  const sound = outcomes.get(SOUND);
  expect(sound?.words).toBe('');
  expect(sound?.failed).toBe(0);
  expect(sound?.passed).toBe(new Set(TRIED.map(({ by, property }) => `${by} ${property}`)).size);
});

test.each(TRIED.map((mutant, i) => [mutant.fault, mutant.by, i] as const))(
  'a program that %s is found by %s',
  (_fault, _by, i) => {
    const outcome = outcomes.get(`mutant-${i}`);
    expect(outcome?.failed).toBe(1);
    // The property finds the mutant by its behavior, and not because the planted fault breaks the
    // program.
    expect(outcome?.words).toContain('Property failed after');
    expect(outcome?.words).not.toMatch(/ReferenceError|SyntaxError|is not a function/);
  },
);
