/** `assize-experiments effects`: experiments as a command. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { endOf, runCommand, startCommand } from '../../../tests/support/process/command.ts';
import { blocksOf } from '../../../tests/support/process/guide-files.ts';
import { possible } from '../cli/experiments.ts';
import { EXPERIMENTS } from '../effects/index.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'assize-faults-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const assize = (...args: string[]) =>
  runCommand(folder, undefined, 'assize-experiments', 'effects', ...args);

test('without a name it says which there are', async () => {
  const { code, out, err } = await assize();
  expect({ code, err }).toEqual({ code: 0, err: '' });
  for (const { name, about } of EXPERIMENTS)
    expect(out).toMatch(new RegExp(`^${name} +${about.slice(0, 20)}`, 'm'));
  const listed = JSON.parse((await assize('--json')).out);
  expect(listed.experiments).toEqual(EXPERIMENTS.map(({ name, about }) => ({ name, about })));
});

test('named experiments run once, in their own order, and are printed', async () => {
  const { code, out } = await assize('retries', 'sanity', 'sanity', '--quick');
  expect(code).toBe(0);
  const headings = [...out.matchAll(/^(Table \d+):/gm)].map(([, source]) => source);
  expect(headings).toEqual(['Table 8', 'Table 8', ...Array(4).fill('Table 12')]);
  expect(out).toMatch(/^Tx-Full +100 \[100\]/m);
  expect(out).toMatch(/^1 task of/m);
  // Nothing is left behind, a store neither.
  expect(readdirSync(folder)).toEqual([]);
});

test('the same seed gives the same document; it records the options', async () => {
  const run = async (...args: string[]): Promise<any> =>
    JSON.parse((await assize('sanity', '--json', ...args)).out);
  const first = await run('--seed', '7');
  expect(first).toMatchObject({
    seed: 7,
    scale: 1,
    experiments: [{ name: 'sanity', tables: [{ source: 'Table 8' }, { source: 'Table 8' }] }],
    skipped: [],
  });
  expect(await run('--seed', '7')).toEqual(first);
  expect(await run('--seed', '7', '--scale', '0.5')).toMatchObject({ scale: 0.5 });
  expect(await run('--quick')).toMatchObject({ seed: 1, scale: 0.1 });
});

test('several together give the results of each alone, in their own order', async () => {
  const run = async (...names: string[]): Promise<any[]> =>
    JSON.parse((await assize(...names, '--json', '--quick')).out).experiments;
  const together = await run('retries', 'sanity', 'ablation', 'correlated');
  const alone = [];
  for (const name of ['ablation', 'sanity', 'retries', 'correlated'])
    alone.push(...(await run(name)));
  expect(together).toEqual(alone);
});

test('of several, one that fails says why, and the others keep their tables', async () => {
  for (const name of ['tau-airline', 'tau-retail']) {
    mkdirSync(join(folder, 'broken', name), { recursive: true });
    for (const file of ['tasks.json', 'runs.jsonl', 'expected-runs.jsonl'])
      writeFileSync(join(folder, 'broken', name, file), '{');
  }
  const { code, out, err } = await assize(
    'tasks',
    'model-runs',
    'correlated',
    '--quick',
    '--data',
    'broken',
    '--json',
  );
  expect(code).toBe(2);
  const { experiments, failed } = JSON.parse(out);
  expect(experiments.map(({ name }: { name: string }) => name)).toEqual(['correlated']);
  const names = ['tasks', 'model-runs'];
  expect(failed).toEqual(
    names.map((name) => ({ name, code: 'bad_data', message: expect.stringContaining('broken') })),
  );
  for (const name of names)
    expect(err).toMatch(new RegExp(`^assize: ${name} failed: .*broken.* is not as`, 'm'));
  const alone = await assize('tasks', '--data', 'broken', '--json');
  expect(alone.code).toBe(2);
  expect(JSON.parse(alone.out)).toEqual({
    error: failed.map(({ code, message }: any) => ({ code, message }))[0],
  });
});

test('an experiment that cannot run is refused if named, left out of all', async () => {
  const absent =
    /the tasks of τ-bench, and \/nowhere has no tau-airline\/tasks\.json and no tau-retail\/tasks\.json; say with --data/;
  const named = await assize('tasks', '--data', '/nowhere', '--json');
  expect(named.code).toBe(2);
  expect(JSON.parse(named.out)).toEqual({
    error: { code: 'usage', message: expect.stringMatching(absent) },
  });
  const found = possible(EXPERIMENTS, ['all'], { data: '/nowhere' });
  expect(found.skipped).toEqual([
    { name: 'tasks', because: expect.stringMatching(absent) },
    {
      name: 'model-runs',
      because: expect.stringContaining('/nowhere has no tau-airline/tasks.json; say with --data'),
    },
    { name: 'crash-windows-postgres', because: expect.stringMatching(/PostgreSQL/) },
  ]);
  expect(found.runnable).toEqual(
    EXPERIMENTS.filter(
      ({ name }) => !['tasks', 'model-runs', 'crash-windows-postgres'].includes(name),
    ),
  );
});

test('Ctrl-C ends several between two runs', async () => {
  const child = startCommand(
    folder,
    undefined,
    'assize-experiments',
    'effects',
    'recovery',
    'mock',
    '--scale',
    '1000',
  );
  const over = endOf(child);
  child.stderr?.on('data', (said: string) => {
    if (/mock.*: /.test(said) && !child.killed) child.kill('SIGINT');
  });
  const { code, out, err } = await over;
  expect({ code, out }).toEqual({ code: 130, out: '' });
  expect(err).toMatch(/^assize: Stopped by SIGINT\.$/m);
});

test('plots are drawn into a new folder', async () => {
  const { code } = await assize('retries', 'sanity', '--quick', '--svg', 'plots/here');
  expect(code).toBe(0);
  expect(readdirSync(join(folder, 'plots/here')).sort()).toEqual([
    'retries-1.svg',
    'retries-2.svg',
    'sanity.svg',
  ]);
  expect(readFileSync(join(folder, 'plots/here/retries-1.svg'), 'utf8')).toMatch(
    /^<svg [\s\S]*Table 12[\s\S]*<\/svg>\s*$/,
  );
});

test('a seed of what is left to no chance: a remark, and the run', async () => {
  const { code, err } = await assize('aliasing', '--seed', '7');
  expect(code).toBe(0);
  expect(err).toContain('--seed changes nothing here: chance has no part in aliasing.');
});

test.each([
  [
    'an unknown name',
    ['recoverey'],
    /There is no experiment recoverey\. Choose from speculation, /,
  ],
  ['a seed that is not a number', ['sanity', '--seed', 'x'], /whole number/],
  ['a scale of nothing', ['sanity', '--scale', '0'], /number above 0/],
  ['a scale that nobody waits for', ['sanity', '--scale', '1e300'], /--scale <n>.*at most 1000/],
  [
    'images where no folder can be made',
    ['sanity', '--svg', '/proc/x'],
    /--svg \/proc\/x cannot be written: /,
  ],
  [
    'images where nothing can be written',
    ['sanity', '--svg', '/proc'],
    /--svg \/proc cannot be written: /,
  ],
  [
    'images below a file',
    ['sanity', '--svg', '/dev/null/x'],
    /--svg \/dev\/null\/x cannot be written: /,
  ],
  ['a scale that is not a number', ['sanity', '--scale', 'many'], /number above 0/],
  [
    'a scale beside a tenth',
    ['sanity', '--quick', '--scale', '2'],
    /--quick.* cannot be used with .*--scale/,
  ],
  [
    'data that nothing is done with',
    ['sanity', '--data', 'x'],
    /--data is for the experiments tasks and model-runs. Name some of them, or/,
  ],
  [
    'fewer runs of what has none',
    ['aliasing', '--quick'],
    /--quick is for the experiments speculation, /,
  ],
  ['an option and no experiment', ['--quick'], /--quick is for the experiments speculation, /],
  ['a store, as none is opened', ['sanity', '--store', 'memory:'], /unknown option '--store'/],
])('%s is refused', async (_, args, saying) => {
  const { code, out, err } = await assize(...args);
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toMatch(saying);
});

test('where no folder can be made, nothing is run', async () => {
  writeFileSync(join(folder, 'plots'), 'a file');
  const { code, out, err } = await assize('sanity', '--svg', 'plots');
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toMatch(/^assize: --svg plots cannot be written: a file is in the way/);
});

test('Ctrl-C ends it between two runs', async () => {
  const child = startCommand(
    folder,
    undefined,
    'assize-experiments',
    'effects',
    'recovery',
    '--scale',
    '1000',
    '--svg',
    'plots',
  );
  const over = endOf(child);
  child.stderr?.on('data', (said: string) => {
    if (/recovery: /.test(said) && !child.killed) child.kill('SIGINT');
  });
  const { code, out, err } = await over;
  expect({ code, out }).toEqual({ code: 130, out: '' });
  expect(err).toMatch(/^assize: Stopped by SIGINT\.$/m);
  expect(existsSync(join(folder, 'plots'))).toBe(true);
  expect(readdirSync(join(folder, 'plots'))).toEqual([]);
});

test('the guide shows the printed output', async () => {
  const shown = ['faults', 'faults-declarations']
    .flatMap((page) => blocksOf(`labs/experiments/docs/${page}.md`))
    .filter(({ says }) => says === 'console');
  expect(shown.length).toBeGreaterThanOrEqual(2);
  for (const { code } of shown) {
    const [typed = '', ...below] = code.split('\n');
    const { out } = await assize(...typed.replace('$ assize-experiments effects ', '').split(' '));
    expect(out.trimEnd()).toBe(below.join('\n').trimEnd());
  }
});
