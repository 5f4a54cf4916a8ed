/** Searches of entries, compared with a walk over what the entries were made of. */
import { MemoryStore } from '@assize/testing/memory';
import { issueWrit, writId } from 'assize/internal/authority';
import { canonicalize, hashText } from 'assize/internal/canon';
import { type BlobRow, type EntryRow, integrateLog } from 'assize/internal/ledger';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import {
  ChainWriter,
  commitMembers,
  keysOf,
  type Members,
  pendingMembers,
  rejectionMembers,
  rootMembers,
  salted,
  second,
} from '../../../../tests/support/ledger/rows.ts';
import { BLOCK, Blocks } from './blocks.ts';
import { type EntrySearch, findEntries } from './find-entries.ts';
import { walkEntries } from './walk-entries.ts';

const SECRET = new Uint8Array(32).fill(1);
const KEYS = keysOf(3);
const HOLDERS = ['agent:scout', 'agent:clerk'] as const;
const WRITS = HOLDERS.map((subject) =>
  issueWrit(
    {
      ...{ issuer: KEYS.publicKey, subject, actions: ['**'], scopes: ['**'], max_depth: 0 },
      ...{ not_before: second(-1), expires: second(1_000_000), nonce: subject },
    },
    KEYS.privateKey,
  ),
);
const TRAJECTORIES = ['office', 'shop', 'agent:x'];
const RULES = ['LARGE', 'LATE'];
const TOOLS = ['bank.pay', 'shell/git', 'mail.send'];
const WORDS = ['carla', 'Émile "x"', 'o\\slash'];
const ENTRIES = 3 * BLOCK + 70;

/** The parts that an entry was made from. */
interface Made {
  readonly at: string;
  readonly names: readonly string[];
  readonly word: string;
}

/** A number below a limit: the same ones in each run. */
let seed = 5;
const below = (limit: number): number => {
  seed = (seed * 48_271) % 2_147_483_647;
  return seed % limit;
};
const oneOf = <T>(values: readonly T[]): T => values[below(values.length)] as T;

/** The members of an entry, and what a search has to find it by. */
function anEntry(blobs: BlobRow[]): [EntryRow['kind'], Members, string[], string] {
  const by = below(2);
  const writ_id = writId(WRITS[by]!);
  const role = { name: 'clerk', params: { word: oneOf(WORDS) } };
  const tool = oneOf(TOOLS);
  const rule = oneOf(RULES);
  const names = [`by:${HOLDERS[by]}`];
  const word = role.params.word;
  const [server = '', called] = tool.split('/');
  const asks = called !== undefined;
  const parts = asks && below(2) === 0 ? [{ server: 'files', tool: 'read', args: {} }] : [];
  const args = { server, tool: called ?? '', args: {}, parts };
  const tools = [...(parts.length > 0 ? ['tool:files/read'] : []), `tool:${tool}`];
  const isApart = asks && below(2) === 0;
  const action = {
    ...(asks
      ? { name: 'call', args: isApart ? salted(args, blobs) : args }
      : { name: 'act', args: {} }),
    role,
  };
  const effect = salted({ tool, claims: [], input: {} }, blobs);
  const effects = asks ? [] : [{ id: hashText(tool), effect }];
  const delta = { state: [], effects, beliefs: [] };
  switch (below(3)) {
    case 0: {
      const isDecided = below(2) === 0;
      const counselor = { principal: 'boss:ada', as: 'md', method: 'test' };
      const decided = isDecided ? { counselor, resolves: hashText('r') } : {};
      const more = isDecided ? ['by:boss:ada'] : [];
      const members = commitMembers([], { writ_id, action, delta, ...decided });
      return ['commit', members, [...names, ...more, 'ruling:committed', ...tools], word];
    }
    case 1: {
      const intent = { action: action.name, role, args: action.args, observations: [] };
      const more = { writ_id, intent, invariant_id: rule, detail: `[of-${rule}] no` };
      const rules = [`rule:${rule}`, `rule:of-${rule}`];
      return [
        'rejection',
        rejectionMembers(more),
        [...names, 'ruling:rejected', ...rules, ...(asks ? tools : [])],
        word,
      ];
    }
    default: {
      const members = pendingMembers({ invariant_id: rule }, { writ_id, action, delta });
      const more = ['ruling:escalated', `rule:${rule}`, ...tools];
      return ['pending_approval', members, [...names, ...more], word];
    }
  }
}

let store: MemoryStore;
/** In the order of the log. */
let made: (Made & { readonly id: string })[];

beforeAll(async () => {
  store = new MemoryStore();
  const writers = TRAJECTORIES.map((id) => [id, new ChainWriter(id)] as const);
  made = [];
  const append = async (
    [id, writer]: readonly [string, ChainWriter],
    [kind, members, names, word]: ReturnType<typeof anEntry>,
    blobs: BlobRow[],
  ): Promise<void> => {
    const at = second(made.length);
    const row = writer.add(kind, { ...members, at });
    expect(await store.commit({ entries: [row], blobs })).toEqual({ status: 'committed' });
    made.push({ id: row.id, at, names: [`in:${id}`, ...names], word });
  };
  for (const one of writers)
    await append(one, ['root', { ...rootMembers(), writs: WRITS }, ['ruling:begun'], 'made'], []);
  while (made.length < ENTRIES) {
    const blobs: BlobRow[] = [];
    await append(oneOf(writers), anEntry(blobs), blobs);
  }
});

const anyName = fc.constantFrom(
  ...HOLDERS.map((name) => `by:${name}`),
  ...['by:boss:ada', 'by:agent:nobody', 'ruling:committed', 'ruling:rejected', 'ruling:begun'],
  ...TRAJECTORIES.map((id) => `in:${id}`),
  ...RULES.flatMap((rule) => [`rule:${rule}`, `rule:of-${rule}`]),
  ...[...TOOLS, 'files/read'].map((tool) => `tool:${tool}`),
);
const anyTime = fc.option(
  fc
    .oneof(
      fc.nat(ENTRIES),
      fc.constantFrom(...[1, 2, 3].flatMap((n) => [n * BLOCK - 1, n * BLOCK])),
    )
    .map(second),
  { nil: undefined },
);
const anySearch = fc.record({
  since: anyTime,
  until: anyTime,
  names: fc.uniqueArray(anyName, { maxLength: 3 }),
  text: fc.option(fc.constantFrom('carla', 'émile', 'o\\s', 'nowhere', 'made@1'), {
    nil: undefined,
  }),
  isMeant: fc.option(
    fc.constant(async ({ id }: EntryRow) => MEANT.test(id)),
    { nil: undefined },
  ),
  limit: fc.integer({ min: 1, max: 200 }),
});
const MEANT = /^[0-7]/;

function walked({ since, until, names, text, isMeant }: EntrySearch): string[] {
  return made
    .filter(({ at }) => (since === undefined || at >= since) && (until === undefined || at < until))
    .filter((one) => names.every((name) => one.names.includes(name)))
    .filter(({ word }) => text === undefined || word.toLowerCase().includes(text.replace('@1', '')))
    .map(({ id }) => id)
    .filter((id) => isMeant === undefined || MEANT.test(id))
    .reverse();
}

async function foundBy(blocks: Blocks, search: EntrySearch): Promise<string[]> {
  const ids: string[] = [];
  for (let before: number | undefined; ; ) {
    const log = { size: await integrateLog(store), logged: store.logged.bind(store) };
    const { entries, next } = await findEntries(log, blocks, { ...search, before });
    expect(entries.length).toBeLessThanOrEqual(search.limit);
    ids.push(...entries.map(({ row }) => row.id));
    if (next === undefined) return ids;
    before = next;
  }
}

async function searched(blocks: Blocks, runs: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(anySearch, async (search) => {
      expect(await foundBy(blocks, search)).toEqual(walked(search));
    }),
    { numRuns: runs },
  );
}

const stored = async (): Promise<number> =>
  (await store.sideList('activity-heads.2', { limit: 100 })).length;

test('a walk without a position in the log writes nothing, and finds the same', async () => {
  const search = { names: ['ruling:rejected'], limit: 300 };
  const ids: string[] = [];
  for await (const page of walkEntries(store, search)) ids.push(...page.map(({ row }) => row.id));
  expect(ids).toEqual(walked(search).slice(0, 300));
  expect(await store.logSize()).toBe(0);
});

test('a search without stored blocks finds what a walk finds', async () => {
  await searched(new Blocks(store, SECRET), 60);
  expect(await stored()).toBe(0);
});

test('a search in stored blocks finds what a walk finds', async () => {
  const blocks = new Blocks(store, SECRET);
  await blocks.store(await store.logSize(), new AbortController().signal);
  expect(await stored()).toBe(3);
  await searched(blocks, 100);
  await searched(new Blocks(store, SECRET), 30);
});

test('stored blocks are read in place of entries', async () => {
  const reads: number[] = [];
  const counting = {
    size: await store.logSize(),
    logged: (from: number, limit: number) => {
      reads.push(limit);
      return store.logged(from, limit);
    },
  };
  const blocks = new Blocks(store, SECRET);
  const before = 3 * BLOCK;
  const search = { names: ['by:boss:ada'], limit: 5, before };
  expect((await findEntries(counting, blocks, search)).entries).toHaveLength(5);
  expect(reads).toEqual([1, 1, 1, 1, 1]);
});

test('rows that were deleted or changed are not used, and are stored again', async () => {
  const rowOf = async (kind: string, block: number) =>
    (await store.sideList(kind, { limit: 9 }))[block]!;
  const [gone, changed, other] = [
    await rowOf('activity.2', 0),
    await rowOf('activity-heads.2', 1),
    await rowOf('activity-heads.2', 2),
  ];
  const forged = { mac: '0'.repeat(64), value: { from: second(0), to: second(1), names: [] } };
  await store.sidePut([
    { ...gone, expected: gone.version, body: null },
    { ...changed, expected: changed.version, body: canonicalize(forged) },
    { ...other, expected: other.version, body: null },
  ]);
  const blocks = new Blocks(store, SECRET);
  await searched(blocks, 30);
  await blocks.store(await store.logSize(), new AbortController().signal);
  expect((await rowOf('activity.2', 0)).key).toBe(gone.key);
  expect((await rowOf('activity-heads.2', 1)).body).toBe(changed.body);
  expect((await rowOf('activity-heads.2', 2)).body).toBe(other.body);
  await searched(blocks, 30);
});
