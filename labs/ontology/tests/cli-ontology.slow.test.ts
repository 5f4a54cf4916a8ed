/** `ontology`: the output, exit code, written files and refusals of each command. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Ended, runCommand } from '../../../tests/support/process/command.ts';
import { LIBRARY } from '../../../tests/support/process/guide-files.ts';

let folder: string;
const at = (name: string): string => join(folder, name);
const assize = (...args: string[]): Promise<Ended> =>
  runCommand(folder, 'sqlite:./a.db', 'assize-experiments', 'ontology', ...args);

async function json(code: number, ...args: string[]): Promise<any> {
  const ended = await assize(...args, '--json');
  expect(ended.code, ended.err).toBe(code);
  return JSON.parse(ended.out);
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'assize-cli-ontology-'));
  writeFileSync(at('library.ttl'), LIBRARY);
  writeFileSync(at('wrong.ttl'), LIBRARY.replace('a:refersTo :Funds', 'a:refersTo :Fund'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('check: 0 if sound, 1 for a finding, 2 for a file that is not an ontology', async () => {
  expect(await json(0, 'check', 'library.ttl')).toMatchObject({
    domain: 'library',
    ok: true,
    rules: 6,
    findings: [],
  });
  const wrong = await assize('check', 'wrong.ttl');
  expect(wrong.code).toBe(1);
  expect(wrong.out).toMatch(
    /^error +126 +:WITHIN_FUNDS +unknown_reference +.*Did you mean :Funds\?$/m,
  );
  expect(wrong.out).toContain('library: 1 error, 0 warnings;');
  writeFileSync(at('misspelled.ttl'), LIBRARY.replace('a:refersTo :Funds', 'a:refers :Funds'));
  const misspelled = await assize('check', 'misspelled.ttl');
  expect(misspelled).toMatchObject({ code: 2, out: '' });
  expect(misspelled.err).toBe(
    'assize: misspelled.ttl: Line 128 has a:refers, which is not a term of <urn:assize:ontology#>. Did you mean a:refersTo?\n',
  );
});

test('check against a domain: a shipped one by its name, and each difference', async () => {
  expect(await json(0, 'check', 'udt', '--domain', 'udt')).toMatchObject({
    ok: true,
    differences: [],
  });
  const other = await assize('check', 'library.ttl', '--domain', 'budget');
  expect(other.code).toBe(1);
  expect(other.out).toContain('differs  name budget: the ontology describes library');
  expect(other.out).toContain('differs  invariant BUDGET_CAP: the ontology has no such rule');
});

test('a missing ontology, file or option value is reported', async () => {
  expect(await assize('check', 'nowhere')).toMatchObject({
    code: 2,
    err: expect.stringContaining('nowhere is neither a shipped ontology nor a file'),
  });
  expect(await assize('check', './nowhere.ttl')).toMatchObject({
    code: 2,
    err: expect.stringContaining('the file does not exist'),
  });
  expect(await assize('roles', 'wrong.ttl')).toMatchObject({
    code: 2,
    err: expect.stringContaining('Fix the findings of check'),
  });
  expect(await assize('roles', 'udt', '--threshold', 'half')).toMatchObject({
    code: 2,
    err: expect.stringContaining('number from 0 to 1'),
  });
  expect(await assize('draw', 'udt', '--threshold', '1.01')).toMatchObject({ code: 2, out: '' });
  expect((await assize('check', 'nowhere')).err).toContain(
    'Name a .ttl file, or one of budget, udt,',
  );
  expect((await assize('check', 'udt', '--domain', 'nowhere')).err).toContain(
    'as listed by assize domains',
  );
});

test('roles: 1 if the ontology names roles other than the derived ones', async () => {
  expect((await json(0, 'roles', 'udt')).roles.map(({ name }: any) => name)).toEqual([
    'LabOrder',
    'Billing',
    'Clinical',
  ]);
  const finer = await assize('roles', 'udt', '--threshold', '0.9');
  expect(finer.code).toBe(1);
  expect(finer.out).toContain('disagreement  no worker role is realized in the group');
});

test('invariants and fingerprint of each shipped domain and of an executed one', async () => {
  expect((await json(0, 'invariants', 'airline')).length).toBe(29);
  expect(await json(0, 'fingerprint', 'airline')).toMatchObject({ writeSkew: { holds: false } });
  const run = [
    'fingerprint',
    'budget',
    '--domain',
    'budget',
    '--depth',
    '1',
    '--tries',
    '10',
    '--width',
    '2',
  ];
  expect(await json(0, ...run)).toMatchObject({
    executed: {
      witnesses: [{ invariantId: 'BUDGET_CAP' }],
      bound: { depth: 1, tries: 10, width: 2 },
    },
  });
  const without = await assize('fingerprint', 'airline', '--domain', 'airline');
  expect(without).toMatchObject({ code: 2, err: expect.stringContaining('no initial state') });
  writeFileSync(at('state.json'), JSON.stringify({ cap: 10, spent: {} }));
  const spend = (agent: string) => ({
    action: 'spend',
    role: { name: 'spender', params: { agent } },
    args: { amount: 6 },
  });
  writeFileSync(at('proposals.json'), JSON.stringify([spend('ada'), spend('ben')]));
  const given = await json(
    0,
    ...run,
    '--state',
    'state.json',
    '--proposals',
    'proposals.json',
    '--seed',
    '2',
  );
  expect(given.executed.witnesses[0].state.cap).toBe(10);
});

test('fingerprint: run options need --domain, and it must match the ontology', async () => {
  for (const args of [
    ['--state', 'none.json'],
    ['--proposals', 'none.json'],
    ['--seed', '0'],
    ['--tries', '5'],
  ])
    expect(await assize('fingerprint', 'budget', ...args)).toMatchObject({
      code: 2,
      out: '',
      err: `assize: ${args[0]} needs a domain to run. Name one with --domain.\n`,
    });
  expect(await assize('fingerprint', 'budget', '--domain', 'udt')).toMatchObject({
    code: 2,
    out: '',
    err: expect.stringContaining('The ontology describes budget, but --domain names udt'),
  });
});

test('compare: paths, architectures and the exit code of the chosen level', async () => {
  const leave = ['Intake', 'Staffing', 'Registry'].flatMap((role) => ['--without', role]);
  const same = await json(0, 'compare', 'disclosure', 'verification', ...leave);
  expect(same).toMatchObject({
    ...{ isomorphic: true, level: 'diagram' },
    paths: [{ counselor: 'beside' }, { counselor: 'on the path' }],
    architectures: [
      { level: 'diagram', isomorphic: true },
      { level: 'wiring', isomorphic: false },
    ],
  });
  expect(same.aligned[0]).toEqual({ a: 'RegisterVulnerability', b: 'opening', differences: [] });
  expect(
    (await json(1, 'compare', 'disclosure', 'verification', '--level', 'wiring', ...leave)).level,
  ).toBe('wiring');
  const printed = await assize('compare', 'udt', 'disclosure', ...leave.slice(0, 4));
  expect(printed.code).toBe(1);
  expect(printed.out).toContain(
    'Architectures, diagram: not isomorphic: 3 proposing agents and 4\n',
  );
  expect(printed.out).toMatch(/^beside +relapse_response +Clinical +with md /m);
  // A file has no shipped walk, and no domain.
  const own = await json(0, 'compare', 'library.ttl', 'library.ttl', '--level', 'wiring');
  expect(own.paths[0].steps[0].passes).toBe('not run');
});

test('compare and draw --continuant write pictures, with --force over others', async () => {
  const drawn = await assize('compare', 'udt', 'udt', '--out', 'paths.svg');
  expect(drawn).toMatchObject({ code: 0, out: expect.stringMatching(/paths\.svg written\n$/) });
  expect(readFileSync(at('paths.svg'), 'utf8')).toMatch(
    /^<svg [\s\S]*>relapse_response<[\s\S]*<\/svg>\n$/,
  );
  expect(await assize('compare', 'udt', 'udt', '--out', 'paths.svg')).toMatchObject({
    code: 2,
    out: '',
  });
  expect((await assize('draw', 'udt', '--continuant')).out).toContain('>patient<');
  expect(await assize('draw', 'udt', '--continuant', '--threshold', '0.5')).toMatchObject({
    code: 2,
    out: '',
  });
});

test('compare refuses a walk, domain or role of neither ontology', async () => {
  const walk = { domain: 'library', at: '2026-06-01T12:00:00.000000Z', proposals: [] };
  writeFileSync(at('walk.json'), JSON.stringify(walk));
  writeFileSync(at('odd.json'), JSON.stringify({ ...walk, at: 'noon' }));
  for (const [args, message] of [
    [['udt', 'budget', '--walk', 'walk.json'], 'but a walk is of library'],
    [['udt', 'budget', '--walk', 'odd.json'], 'odd.json'],
    [
      ['library.ttl', 'budget', '--walk', 'walk.json'],
      'A walk of library needs the domain. Name it with --domain.',
    ],
    [['udt', 'budget', '--domain', 'disclosure'], '--domain disclosure is neither of them'],
    [['udt', 'budget', '--without', 'Registry'], 'no ontology has such a role'],
    [['udt', 'nowhere'], 'nowhere is neither a shipped ontology nor a file'],
  ] as const)
    expect(await assize('compare', ...args), args.join(' ')).toMatchObject({
      ...{ code: 2, out: '' },
      err: expect.stringContaining(message),
    });
});

test('one is called one, and where nothing was grouped no table is begun', async () => {
  expect((await assize('check', 'budget')).out).toBe(
    'budget: no error, 0 warnings; 1 continuant, 2 components, 1 process, 1 role, 1 rule\n',
  );
  expect((await assize('roles', 'budget')).out).not.toContain('overlap  this');
});

test('a blocked output path is reported with the obstacle', async () => {
  writeFileSync(at('file'), 'mine');
  mkdirSync(at('pictures'));
  for (const args of [
    ['scaffold', 'library.ttl', 'file'],
    ['scaffold', 'library.ttl', 'file/below'],
    ['draw', 'library.ttl', '--out', 'file/library.svg'],
  ])
    expect(await assize(...args)).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringMatching(
        /^assize: file\S* cannot be written: a file is in the way\. Name another path\.\n$/,
      ),
    });
  for (const force of [[], ['--force']])
    expect(await assize('draw', 'library.ttl', '--out', 'pictures', ...force)).toMatchObject({
      code: 2,
      err: 'assize: pictures is a folder. Name a file.\n',
    });
  expect(readFileSync(at('file'), 'utf8')).toBe('mine');
});

test('scaffold and draw write over nothing without --force', async () => {
  expect((await assize('scaffold', 'library.ttl', 'made')).out).toBe(
    'made/index.ts written\nmade/library.test.ts written\nmade/README.md written\n',
  );
  writeFileSync(at('made/index.ts'), 'mine');
  rmSync(at('made/README.md'));
  expect(await assize('scaffold', 'library.ttl', 'made')).toMatchObject({
    code: 2,
    err: expect.stringContaining('would overwrite made/index.ts, made/library.test.ts'),
  });
  expect([readFileSync(at('made/index.ts'), 'utf8'), existsSync(at('made/README.md'))]).toEqual([
    'mine',
    false,
  ]);
  expect(await json(0, 'scaffold', 'library.ttl', 'made', '--force')).toMatchObject({
    files: expect.arrayContaining(['made/README.md']),
  });
  expect(readFileSync(at('made/index.ts'), 'utf8')).toContain("name: 'library'");

  const printed = await assize('draw', 'library.ttl');
  expect(printed.out).toMatch(/^<svg xmlns="http:\/\/www.w3.org\/2000\/svg"[\s\S]*<\/svg>\n$/);
  expect((await assize('draw', 'library.ttl', '--out', 'library.svg')).out).toBe(
    'library.svg written\n',
  );
  expect(readFileSync(at('library.svg'), 'utf8')).toBe(printed.out);
  expect(await assize('draw', 'library.ttl', '--out', 'library.svg')).toMatchObject({ code: 2 });
});

test('draft: a program as the model, recorded, and not run again', async () => {
  writeFileSync(at('library.md'), 'A library lends books.');
  writeFileSync(at('model.sh'), 'cat > asked-$(ls | grep -c asked).txt; cat library.ttl\n');
  const first = await assize('draft', 'library.md', '--model-command', 'sh model.sh');
  expect(first).toMatchObject({ code: 0, out: LIBRARY });
  expect(readFileSync(at('asked-0.txt'), 'utf8')).toContain('A library lends books.');
  const again = await assize(
    'draft',
    'library.md',
    '--model-command',
    'sh model.sh',
    '--out',
    'drafted.ttl',
  );
  expect(again.out).toBe('drafted.ttl written after 1 round\n');
  expect(existsSync(at('asked-1.txt'))).toBe(false);
  expect(await assize('draft', 'library.md', '--model-command', 'exit 3')).toMatchObject({
    code: 2,
    err: expect.stringContaining('ended with 3'),
  });
});

test('draft: recorded answers in their order, and where they end', async () => {
  writeFileSync(at('library.md'), 'A library lends books.');
  writeFileSync(at('answers.json'), JSON.stringify(['no', LIBRARY]));
  expect(await json(0, 'draft', 'library.md', '--answers', 'answers.json')).toMatchObject({
    rounds: 2,
    text: LIBRARY,
  });
  writeFileSync(at('answers.json'), JSON.stringify(['no']));
  expect(await assize('draft', 'library.md', '--answers', 'answers.json')).toMatchObject({
    code: 2,
    err: expect.stringContaining('has no further answer'),
  });
  expect(await assize('draft', 'library.md')).toMatchObject({
    code: 2,
    err: expect.stringContaining('--model-command'),
  });
  expect(existsSync(at('a.db'))).toBe(false);
});
