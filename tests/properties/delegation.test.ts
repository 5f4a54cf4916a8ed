/**
 * Budgets that are carved up over a tree of trajectories, each with its own tree of writs. Agents
 * spend, delegate and conclude in any order, and an amount granted once is spent once. The test
 * compares with a model that keeps lists and adds them up each time.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { attenuate, delegateWrit, type Writ, writId } from '#authority';
import { isAssizeError } from '#base';
import type { LedgerStore, Payload } from '#ledger';
import { seededRandom } from '#oracle';
import { type Assize, type Ruling, type Trajectory, verifyStore } from '#runtime';
import { cases, hasUsualCases } from '../support/cases.ts';
import { allEntries, deskOf, type Fault, FaultyStore, payloads } from '../support/ledger/desk.ts';
import { keysOf } from '../support/ledger/rows.ts';
import { runtimeOver, writFor } from '../support/ledger/runtime.ts';

const desk = deskOf();
const GRANT = 100;

/** No key may come twice in one chain: each level has its own. */
const KEYS = Array.from({ length: 10 }, (_, level) => keysOf(60 + level));

/** A writ with its ancestors, and how far below the root it stands. */
interface Held {
  readonly writ: Writ;
  readonly chain: readonly Writ[];
  readonly level: number;
}

const top: Held = {
  writ: writFor(KEYS[0]!.publicKey, { trajectory: 't', budget: { usd: GRANT }, max_depth: 8 }),
  chain: [],
  level: 0,
};

function below({ writ, chain, level }: Held, made: Writ): Held {
  return { writ: made, chain: [writ, ...chain], level: level + 1 };
}

function subjectBelow({ level }: Held): string {
  return KEYS[level + 1]!.publicKey;
}

/**
 * The writs of one trajectory: its first writ, two children of it, and a child of the first child.
 */
function writsUnder(first: Held): readonly Held[] {
  const narrowed = (from: Held, nonce: string, part: number): Held[] => {
    if (from.writ.max_depth === 0) return [];
    const budget = { usd: Math.floor(from.writ.budget!['usd']! * part) };
    const made = attenuate(
      from.writ,
      { subject: subjectBelow(from), nonce, budget },
      KEYS[from.level]!.privateKey,
    );
    return [below(from, made)];
  };
  const kids = [...narrowed(first, 'a', 0.7), ...narrowed(first, 'b', 0.6)];
  return [first, ...kids, ...(kids[0] === undefined ? [] : narrowed(kids[0], 'c', 0.5))];
}

function delegatedOf(from: Held, child: string, usd: number): Held {
  const terms = { subject: subjectBelow(from), nonce: child, trajectory: child, budget: { usd } };
  return below(from, delegateWrit(from.writ, terms, KEYS[from.level]!.privateKey));
}

/**
 * An item that counts against a writ: a commit or a delegation. A delegation counts the reserved
 * amount until it is concluded.
 */
interface Item {
  readonly writ: Writ;
  amount: number;
  readonly start?: string;
}

/** One trajectory in the model: only a list of the items that count. */
class Book {
  readonly writs: readonly Held[];
  readonly items: Item[] = [];
  ended = false;

  constructor(first: Held) {
    this.writs = writsUnder(first);
  }

  /** By adding everything up, for the writ and each above it. */
  left({ writ, chain }: Held): number {
    const rests = [writ, ...chain].map((payer) => {
      const counted = this.items.filter((item) => this.#stands(item.writ, payer));
      return payer.budget!['usd']! - counted.reduce((sum, { amount }) => sum + amount, 0);
    });
    return Math.min(...rests);
  }

  get spent(): number {
    return this.items.reduce((sum, { amount }) => sum + amount, 0);
  }

  get open(): string[] {
    return this.items.flatMap(({ start }) => (start === undefined ? [] : [start]));
  }

  #stands(writ: Writ, above: Writ): boolean {
    const held = this.writs.find((mine) => writId(mine.writ) === writId(writ)) as Held;
    return [held.writ, ...held.chain].some((link) => writId(link) === writId(above));
  }
}

const pay = (usd: number, { writ, chain }: Held) => ({
  action: 'pay',
  role: 'worker',
  args: { usd },
  writ: { writ, chain },
});

const step = fc.record({
  where: fc.nat(5),
  writ: fc.nat(3),
  process: fc.nat(1),
  wait: fc.boolean(),
  act: fc.oneof(
    { weight: 5, arbitrary: fc.record({ spend: fc.integer({ min: 1, max: 60 }) }) },
    { weight: 4, arbitrary: fc.record({ delegate: fc.integer({ min: 0, max: 80 }) }) },
    { weight: 3, arbitrary: fc.record({ conclude: fc.nat(3) }) },
  ),
});

async function codeOf(attempt: Promise<unknown>): Promise<string> {
  return attempt.then(
    () => 'done',
    (error: unknown) => {
      if (isAssizeError(error)) return error.code;
      if ((error as Error).message === 'the store threw') return 'thrown';
      throw error;
    },
  );
}

function nameOf(ruling: Ruling): string {
  return ruling.ruling === 'rejected' ? ruling.reason : ruling.ruling;
}

async function begin(): Promise<{ store: FaultyStore; make: (name: string) => Assize }> {
  const store = new FaultyStore();
  const make = (name: string): Assize =>
    runtimeOver(store, [desk], { ports: { random: seededRandom(name) } });
  await make('first').create(desk, { trajectoryId: 't', writs: [top.writ] });
  return { store, make };
}

test('serially: each step matches the model in any process, within the grant', async () => {
  let [delegated, concluded, refused, deepest] = [0, 0, 0, 0];
  const run = fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 24 }), async (steps) => {
    const { store, make } = await begin();
    const processes = [make('p0'), make('p1')];
    const books = new Map([['t', new Book(top)]]);
    const started = new Map<string, { parent: string; child: string; entry: string }>();
    for (const { where, writ, process, act } of steps) {
      const names = [...books.keys()];
      const name = names[where % names.length] as string;
      const book = books.get(name) as Book;
      const held = book.writs[writ % book.writs.length] as Held;
      const trajectory = await (processes[process] as Assize).open(name);
      if ('spend' in act) {
        const fits = act.spend <= book.left(held);
        const ruling = trajectory.propose(pay(act.spend, held));
        if (book.ended) expect(await codeOf(ruling)).toBe('concluded');
        else expect(nameOf(await ruling)).toBe(fits ? 'committed' : 'budget_exhausted');
        if (fits && !book.ended) book.items.push({ writ: held.writ, amount: act.spend });
      } else if ('delegate' in act) {
        if (held.writ.max_depth === 0 || act.delegate > held.writ.budget!['usd']!) continue;
        const child = `c${books.size}`;
        const made = delegatedOf(held, child, act.delegate);
        const fits = act.delegate <= book.left(held);
        const code = await codeOf(
          trajectory.delegations.delegate({ task: child, writ: held, signed: made.writ }),
        );
        expect(code).toBe(book.ended ? 'concluded' : fits ? 'done' : 'budget_exhausted');
        if (!fits) refused++;
        if (code !== 'done') continue;
        const entry = (await allEntries(store, name)).at(-1)?.id as string;
        started.set(entry, { parent: name, child, entry });
        book.items.push({ writ: held.writ, amount: act.delegate, start: entry });
        books.set(child, new Book(made));
        delegated++;
        deepest = Math.max(deepest, made.level);
      } else {
        const { open } = book;
        const entry = open[act.conclude % Math.max(1, open.length)];
        if (entry === undefined) continue;
        const ending = books.get((started.get(entry) as { child: string }).child) as Book;
        const code = await codeOf(trajectory.delegations.conclude(entry, { finalAnswer: entry }));
        expect(code).toBe(ending.open.length > 0 ? 'wrong_state' : 'done');
        if (code !== 'done') continue;
        const index = book.items.findIndex(({ start }) => start === entry);
        const { writ: from } = book.items[index] as Item;
        book.items.splice(index, 1, { writ: from, amount: ending.spent });
        ending.ended = true;
        concluded++;
      }
      expect((await spentOf(store)).total).toBeLessThanOrEqual(GRANT);
    }
    await expectVerified(store);
    // To the last unit, for each writ of each trajectory, in a runtime that has just opened the
    // trajectory.
    for (const [name, book] of books) {
      if (book.ended) continue;
      for (const held of book.writs) {
        const left = book.left(held);
        const trajectory = await make(`last ${name}`).open(name);
        expect(nameOf(await trajectory.propose(pay(left + 1, held)))).toBe('budget_exhausted');
        expect(nameOf(await trajectory.propose(pay(left, held)))).toBe('committed');
        book.items.push({ writ: held.writ, amount: left });
      }
    }
    await expectVerified(store);
    expect((await spentOf(store)).total).toBeLessThanOrEqual(GRANT);
  });
  await fc.assert(run, { numRuns: cases(150) });
  if (hasUsualCases()) expect(Math.min(delegated, concluded, refused)).toBeGreaterThan(cases(30));
  if (hasUsualCases()) expect(deepest).toBeGreaterThan(3);
});

const fault = fc.tuple(
  fc.integer({ min: 1, max: 30 }),
  fc.constantFrom<Fault[]>(
    'conflict',
    'unknown, lost',
    'unknown, written',
    'thrown, lost',
    'thrown, written',
  ),
);

test('concurrently, in two processes, on a failing store: all budgets add up', async () => {
  const seen = new Map<string, number>();
  const run = fc.asyncProperty(
    fc.array(step, { minLength: 8, maxLength: 32 }),
    fc.array(fault, { maxLength: 4 }),
    async (steps, faults) => {
      const { store, make } = await begin();
      const processes = [make('p0'), make('p1')];
      for (const process of processes) await process.open('t');
      const held = new Map<string, Held>([['t', top]]);
      store.plan = new Map(faults.map(([n, what]) => [store.commits + n, what]));
      const answered: Promise<string>[] = [];
      for (const { where, writ, process, wait, act } of steps) {
        const names = [...held.keys()];
        const name = names[where % names.length] as string;
        const writs = writsUnder(held.get(name) as Held);
        const by = writs[writ % writs.length] as Held;
        const child = `c${held.size}`;
        const isPossible =
          'delegate' in act && by.writ.max_depth > 0 && act.delegate <= by.writ.budget!['usd']!;
        const made = isPossible ? delegatedOf(by, child, act.delegate) : undefined;
        if (made !== undefined) held.set(child, made);
        const doing = (processes[process] as Assize)
          .open(name)
          .then(async (trajectory: Trajectory) => {
            if ('spend' in act) return trajectory.propose(pay(act.spend, by));
            if (made !== undefined)
              return trajectory.delegations.delegate({ task: child, writ: by, signed: made.writ });
            const open = trajectory.delegations.open();
            const entry =
              'conclude' in act ? open[act.conclude % Math.max(1, open.length)] : undefined;
            return entry && trajectory.delegations.conclude(entry.id, { finalAnswer: entry.id });
          });
        answered.push(codeOf(doing));
        if (wait) await answered.at(-1);
      }
      for (const code of await Promise.all(answered)) seen.set(code, (seen.get(code) ?? 0) + 1);
      await expectVerified(store);
      await expectAddsUp(store, held);

      // All processes have ended. A new one starts, and concludes from the deepest trajectory up.
      store.plan = new Map();
      const last = make('last');
      for (const name of [...held.keys()].reverse()) {
        if ((await store.head(name)) === undefined) continue;
        const trajectory = await last.open(name);
        for (const { id } of trajectory.delegations.open())
          await trajectory.delegations.conclude(id);
        expect(trajectory.delegations.open()).toEqual([]);
      }
      await expectVerified(store);
      await expectAddsUp(store, held);
      const { total } = await spentOf(store);
      expect(total).toBeLessThanOrEqual(GRANT);
      const parent = await last.open('t');
      expect(nameOf(await parent.propose(pay(GRANT - total + 1, top)))).toBe('budget_exhausted');
      expect(nameOf(await parent.propose(pay(GRANT - total, top)))).toBe('committed');
    },
  );
  await fc.assert(run, { numRuns: cases(200) });
  if (hasUsualCases())
    for (const code of ['done', 'budget_exhausted', 'concluded', 'wrong_state', 'thrown']) {
      expect([code, seen.has(code)]).toEqual([code, true]);
    }
});

async function expectVerified(store: LedgerStore): Promise<void> {
  for (const { fault } of await verifyStore(store)) expect(fault).toBeUndefined();
}

/** The total cost of all commits of all trajectories. */
async function spentOf(store: LedgerStore): Promise<{ total: number }> {
  let total = 0;
  for (const { trajectory_id } of await store.trajectories()) {
    for (const payload of await payloads(store, trajectory_id)) {
      if (payload.kind === 'commit') total += payload.budget_cost['usd'] ?? 0;
    }
  }
  return { total };
}

/**
 * Checks each chain against the model: every accepted item fits, and every refused item does not.
 */
async function expectAddsUp(store: LedgerStore, held: ReadonlyMap<string, Held>): Promise<void> {
  for (const { trajectory_id } of await store.trajectories()) {
    const book = new Book(held.get(trajectory_id) as Held);
    for (const payload of await payloads(store, trajectory_id)) await note(store, book, payload);
  }
}

async function note(store: LedgerStore, book: Book, payload: Payload): Promise<void> {
  const byId = (id: string | undefined): Held =>
    book.writs.find(({ writ }) => writId(writ) === id) as Held;
  if (payload.kind === 'commit') {
    const [by, amount] = [byId(payload.writ_id), payload.budget_cost['usd'] ?? 0];
    expect(amount).toBeLessThanOrEqual(book.left(by));
    book.items.push({ writ: by.writ, amount });
  } else if (payload.kind === 'rejection') {
    expect(payload.reason).toBe('budget_exhausted');
    expect((payload.intent.args as { usd: number }).usd).toBeGreaterThan(
      book.left(byId(payload.writ_id)),
    );
  } else if (payload.kind === 'delegation' && payload.concludes === undefined) {
    const { parent, budget } = payload.writ as unknown as Writ;
    const [by, amount] = [byId(parent as string), budget!['usd']!];
    expect(amount).toBeLessThanOrEqual(book.left(by));
    const rows = await allEntries(store, payload.trajectory_id);
    book.items.push({ writ: by.writ, amount, start: rows[payload.seq]?.id as string });
  } else if (payload.kind === 'delegation' && payload.child_head !== undefined) {
    const index = book.items.findIndex(({ start }) => start === payload.concludes);
    const { writ, amount: aside } = book.items[index] as Item;
    const amount = await spentIn(store, payload.child_trajectory_id);
    expect(payload.budget_cost?.['usd'] ?? 0).toBe(amount);
    expect(amount).toBeLessThanOrEqual(aside);
    book.items.splice(index, 1, { writ, amount });
  }
}

/** The spending in an ended trajectory, and in the trajectories that it delegates to. */
async function spentIn(store: LedgerStore, trajectoryId: string): Promise<number> {
  let spent = 0;
  for (const payload of await payloads(store, trajectoryId)) {
    if (payload.kind === 'commit') spent += payload.budget_cost['usd'] ?? 0;
    if (payload.kind === 'delegation' && payload.child_head !== undefined) {
      spent += await spentIn(store, payload.child_trajectory_id);
    }
  }
  return spent;
}
