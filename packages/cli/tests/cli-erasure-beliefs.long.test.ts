/**
 * How the command erases facts. Afterwards no other command, no verifier and no byte shows any of
 * them.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { segment, writId } from 'assize/internal/authority';
import { openStore } from 'assize/internal/stores';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clinic } from '../../../tests/support/clinic/clinic.ts';
import {
  committed,
  SECRETS,
  told,
  WHO,
} from '../../../tests/support/clinic/mentions-of-patient.ts';
import { scales } from '../../../tests/support/clinic/scales.ts';
import {
  HandClock,
  operator,
  runtimeOver,
  writFor,
} from '../../../tests/support/ledger/runtime.ts';
import { type Ended, runCommand } from '../../../tests/support/process/command.ts';

const root = join(import.meta.dirname, '../../..');
const folder = mkdtempSync(join(tmpdir(), 'assize-cli-erasure-beliefs-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

beforeAll(async () => {
  const url = `sqlite:${join(folder, 'ward.db')}`;
  const store = await openStore(url);
  const clock = new HandClock();
  const writ = writFor('nurse');
  const assize = runtimeOver(store, [clinic], { ports: { clock } });
  const [trajectory, other] = await Promise.all(
    ['notes', 'other'].map((trajectoryId) =>
      assize.create(clinic, { trajectoryId, writs: [writ] }),
    ),
  );
  await told({
    clock,
    trajectory: trajectory! as never,
    memory: trajectory!.memory({ space: 'ward', writ }),
  });
  const said = { subject: WHO, predicate: 'allergy', object: 'nuts of hers' };
  await committed(other!.memory({ space: 'ward', writ }).assert(said));
  await committed(other!.memory({ space: 'a/b', writ }).assert({ ...said, subject: '~' }));
  await store.close();
  writeFileSync(
    join(folder, 'clinic.ts'),
    `export { clinic } from '${join(root, 'tests/support/clinic/clinic.ts')}';\n`,
  );
  writeFileSync(join(folder, 'operator.key'), operator.privateKey);
  writeFileSync(join(folder, 'ward.db.anchors.json'), JSON.stringify([operator.publicKey]));
});

const assize = (...args: string[]): Promise<Ended> =>
  runCommand(folder, 'sqlite:./ward.db', ...args);
const erase = (trajectory: string, ...args: string[]): Promise<Ended> =>
  assize(
    ...[
      'erase',
      trajectory,
      '--yes',
      '--reason',
      'request 19',
      '--key',
      'operator.key',
      '--domain',
      'clinic.ts',
    ],
    ...args,
  );

/** The secrets that are in any file. */
function found(): string[] {
  const files = readdirSync(folder).map((name) => readFileSync(join(folder, name)));
  return [...SECRETS, 'nuts of hers'].filter((secret) =>
    files.some((bytes) => bytes.includes(secret)),
  );
}

test('a subject is erased where it was asserted, until no file contains it', async () => {
  expect(found()).toEqual([...SECRETS, 'nuts of hers']);
  const [here, there] = [
    await erase('notes', '--facts', `ward/${WHO}`),
    await erase('other', '--facts', 'a~1b/~0'),
  ];
  expect(here.out).toMatch(
    /^erased \d+ values of \d+ entries, by [0-9a-f]{12}, notes seq \d+\nremaining: facts asserted in other;/,
  );
  expect(there.out).toMatch(/^erased 3 values of 1 entry, by [0-9a-f]{12}, other seq 3\n$/);
  expect(found()).toEqual([WHO, 'nuts of hers']);
  const { code, out } = await erase('other', '--facts', `ward/${WHO}/allergy`, '--json');
  expect([code, JSON.parse(out)]).toMatchObject([
    0,
    { ruling: 'committed', erased: 3, entries: 1, remaining: [] },
  ]);
  expect(found()).toEqual([]);
  for (const command of [
    ['verify', '--deep', '--domain', 'clinic.ts'],
    ['verify', '--database'],
    ['log', 'notes'],
  ]) {
    const ended = await assize(...command);
    expect(ended.code, ended.err).toBe(0);
    expect(SECRETS.filter((secret) => (ended.out + ended.err).includes(secret))).toEqual([]);
  }
  const exported = await assize('export');
  writeFileSync(join(folder, 'ward.jsonl'), exported.out);
  expect(found()).toEqual([]);
  if (spawnSync('python3', ['--version']).status !== 0) return;
  const verifier = join(root, 'verifiers/python/verify.py');
  const verified = spawnSync('python3', [verifier, join(folder, 'ward.jsonl'), '--json'], {
    encoding: 'utf8',
  });
  const erased = Number(/^erased (\d+)/.exec(here.out)![1]) + 6;
  expect(JSON.parse(verified.stdout)).toMatchObject({ valid: true, findings: [], erased });
});

test('an erasure by several entries is reported as one total', async () => {
  const store = await openStore(`sqlite:${join(folder, 'ward.db')}`);
  const writ = writFor('nurse');
  const assizeOver = runtimeOver(store, [clinic]);
  const trajectory = await assizeOver.create(clinic, { trajectoryId: 'much', writs: [writ] });
  const memory = trajectory.memory({ space: 'ward', writ });
  // Each proposal adds its request to the erased values, and the last one the names: more values
  // than one entry erases.
  for (let part = 0; part < 9; part++) {
    const claims = Array.from({ length: 250 }, (_, i) => ({
      predicate: 'allergy',
      object: `${part} ${i}`,
    }));
    await committed(memory.assertMany(claims.map((claim) => ({ subject: 'p10', ...claim }))));
  }
  await store.close();
  const { out } = await erase('much', '--facts', 'ward/p10');
  expect(out).toMatch(
    /^erased 2,260 values of 9 entries, by [0-9a-f]{12}, [0-9a-f]{12}, much seq 11\n$/,
  );
});

test('writs that name the subject are reported, because they stay', async () => {
  const store = await openStore(`sqlite:${join(folder, 'ward.db')}`);
  const [plain, naming] = [['memory:ward:*:drug'], [`memory:ward:${segment('p*9')}:**`]].map(
    (scopes, i) => writFor(`nurse ${i}`, { actions: ['assize.believe'], scopes }),
  );
  const trajectory = await runtimeOver(store, [clinic]).create(clinic, {
    trajectoryId: 'w',
    writs: [plain!, naming!],
  });
  for (const subject of ['p*9', 'p8'])
    await committed(
      trajectory
        .memory({ space: 'ward', writ: plain! })
        .assert({ subject, predicate: 'drug', object: 'x' }),
    );
  await store.close();
  const none = await erase('w', '--facts', 'ward/p8', '--json');
  expect(JSON.parse(none.out)).toMatchObject({ ruling: 'committed', writs: [] });
  const { code, out } = await erase('w', '--facts', 'ward/p*9');
  expect(code).toBe(0);
  expect(out).toMatch(
    /^named in a scope of 1 writ that stays in the ledger: \S+; use \* or a pseudonym for subjects/m,
  );
  expect(out).toContain(writId(naming!).slice(0, 8));
});

test('a memory has a command of its own for it', async () => {
  const store = await openStore(`sqlite:${join(folder, 'ward.db')}`);
  const writ = writFor('nurse');
  const trajectory = await runtimeOver(store, [clinic]).create(clinic, {
    trajectoryId: 'm',
    writs: [writ],
  });
  const memory = trajectory.memory({ space: 'a/b', writ });
  for (const predicate of ['drug', 'allergy', 'weight'])
    await committed(memory.assert({ subject: 'p/1', predicate, object: `${predicate} of p1` }));
  const [weight] = (await memory.recall({ predicate: 'weight' })).facts;
  await store.close();
  const forget = (...args: string[]): Promise<Ended> =>
    assize(
      ...[
        'memory',
        'erase',
        'm',
        '--yes',
        '--space',
        'a/b',
        '--key',
        'operator.key',
        '--domain',
        'clinic.ts',
      ],
      ...['--subject', 'p/1', '--reason', 'request 21', ...args],
    );
  const left = () => {
    const bytes = readFileSync(join(folder, 'ward.db'));
    return ['drug', 'allergy', 'weight'].filter((predicate) =>
      bytes.includes(`${predicate} of p1`),
    );
  };
  expect(left()).toEqual(['drug', 'allergy', 'weight']);
  const shown = await assize(
    'memory',
    'explain',
    '--space',
    'a/b',
    '--subject',
    'p/1',
    '--predicate',
    'weight',
  );
  expect(shown.out).toContain(weight!.lineage.slice(0, 12));
  for (const [typed, saying] of [
    [
      'weight',
      /'weight' is not a claim id\. Pass its first 8 to 64 hex digits, as listed by assize memory explain/,
    ],
    [
      '00000000',
      /The subject p\/1 has no claim 00000000 in this space\. List its claims with assize memory explain/,
    ],
  ] as const)
    expect(await forget('--claim', typed)).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringMatching(saying),
    });
  const claim = await forget('--predicate', 'weight', '--claim', weight!.lineage.slice(0, 12));
  expect(claim, claim.err).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^erased \d values? of 1 entry, by /),
  });
  expect(left()).toEqual(['drug', 'allergy']);
  expect((await forget('--predicate', 'drug')).code).toBe(0);
  expect(left()).toEqual(['allergy']);
  const { code, out } = await forget('--json');
  expect([code, JSON.parse(out)]).toMatchObject([
    0,
    { ruling: 'committed', trajectory_id: 'm', remaining: [], writs: [] },
  ]);
  expect(left()).toEqual([]);
  expect(await forget()).toMatchObject({
    code: 2,
    err: expect.stringMatching(
      /(no erasable value at the memory a\/b|at the memory a\/b .* erased earlier, by)/,
    ),
  });
  expect(await forget('--predicate', '')).toMatchObject({
    code: 2,
    err: expect.stringContaining('must not be empty'),
  });
});

test('values in the state not marked sensitive are reported by their entries', async () => {
  const store = await openStore(`sqlite:${join(folder, 'scales.db')}`);
  const writ = writFor('nurse');
  const trajectory = await runtimeOver(store, [scales]).create(scales, {
    trajectoryId: 's',
    writs: [writ],
  });
  const post = async (at: string, patient: string, weight: string, shown: string) => {
    const args = { at, patient, weight, shown };
    return (
      await committed(trajectory.propose({ action: 'post', role: 'nurse', args, writ }))
    ).entry.id.slice(0, 12);
  };
  const [first, second] = [
    await post('a', 'p1', 'zq81', 'it is zq81'),
    await post('b', 'p1', 'zq79', 'zq79 again'),
  ];
  for (const patient of ['p2', 'p3'])
    await post(patient === 'p2' ? 'd' : 'e', patient, 'zq77', 'weighed');
  await post('c', 'p4', 'zq75', 'of zq75');
  await store.close();
  writeFileSync(
    join(folder, 'scales.ts'),
    `export { scales } from '${join(root, 'tests/support/clinic/scales.ts')}';\n`,
  );
  writeFileSync(join(folder, 'scales.db.anchors.json'), JSON.stringify([operator.publicKey]));
  const forget = (subject: string, ...args: string[]): Promise<Ended> =>
    runCommand(
      ...([
        folder,
        'sqlite:./scales.db',
        'memory',
        'erase',
        's',
        '--yes',
        '--space',
        'ward',
        '--subject',
        subject,
      ] as const),
      ...['--key', 'operator.key', '--domain', 'scales.ts', '--reason', 'request 22', ...args],
    );
  const told = await forget('p1');
  expect(told.err).toBe('');
  expect(told.out).toMatch(
    new RegExp(
      `^erased \\d+ values of 2 entries, by .*\nremaining in paths of the state that are not marked sensitive, by 2 entries: ${first}, ${second}; assize show prints the changes\n$`,
    ),
  );
  const other = await forget('p4', '--predicate', 'weight', '--json');
  const { unmarked, remaining: left } = JSON.parse(other.out) as {
    unmarked: string[];
    remaining: string[];
  };
  expect([unmarked.length, left]).toEqual([1, ['s']]);
  const shown = await runCommand(folder, 'sqlite:./scales.db', 'show', unmarked[0]!);
  expect(shown.out).toContain('of zq75');
  const none = await forget('p2');
  expect([none.code, none.out]).toEqual([0, expect.not.stringContaining('left')]);
  expect(JSON.parse((await forget('p3', '--json')).out)).toMatchObject({
    remaining: [],
    unmarked: [],
  });
});

test('a wrong name is misuse, and its error names no subject', async () => {
  for (const [args, said] of [
    [['--facts', 'ward'], /space\/subject/],
    [['--facts', 'ward/x/y/z'], /space\/subject/],
    [['--facts', 'ward/'], /space\/subject/],
    [['--claim', 'ab'.repeat(32)], /one --facts/],
    [[], /--facts/],
    [['--facts', 'ward/x'], /no erasable value at the memory ward/],
    [['--facts', 'ward/p8', '--claim', 'ab'.repeat(32)], /The subject has no claim/],
  ] as const) {
    const ended = await erase('notes', ...args);
    expect([ended.code, ended.err]).toEqual([2, expect.stringMatching(said)]);
  }
});
