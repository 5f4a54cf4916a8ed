/** The table of classes in docs/design/effects.md, each row done on the runtime: what a cell says is what sink, log and budget have. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { writId } from '#authority';
import { type Delivery, declareTool, type Reversibility, readTransaction, type Sink, type Tool } from '#effects';
import { defineDomain } from '#kernel';
import { listWrits, type Ruling, type Trajectory, type Transaction } from '#runtime';
import { MemoryStore } from '#stores';
import { attended } from '../support/effects-ledger.ts';
import { OutsideSink, Steps, toolFor } from '../support/effects-stage.ts';
import { runtimeOver, writFor } from '../support/runtime.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/design/effects.md'), 'utf8');
const SINKS: readonly Sink[] = ['keyed', 'queryable', 'blind'];
const COLUMNS = ['in the body', 'with the commit', 'where it comes to nothing'] as const;

interface Row {
  readonly reversibility: Reversibility;
  readonly delivery: Delivery;
  readonly says: Readonly<Record<(typeof COLUMNS)[number], string>>;
}

function rowsOfPage(): Row[] {
  const cells = (line: string): string[] =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
  const lines = page.slice(page.indexOf('## By class')).split('\n');
  const at = lines.findIndex((line) => line.startsWith('| reversibility |'));
  expect(cells(lines[at]!).slice(2)).toEqual(COLUMNS);
  const end = lines.findIndex((line, i) => i > at && !line.startsWith('|'));
  return lines.slice(at + 2, end).map((line) => {
    const [reversibility, delivery, ...says] = cells(line).map((cell, i) => (i < 2 ? cell.replaceAll('`', '') : cell));
    return { reversibility, delivery, says: Object.fromEntries(says.map((each, i) => [COLUMNS[i], each])) } as never;
  });
}

const ROWS = rowsOfPage();
const nameOf = ({ reversibility, delivery }: Pick<Row, 'reversibility' | 'delivery'>): string =>
  `${reversibility}.${delivery}`;
const PIVOT = 'irreversible.externalised';

/** What was seen of a tool, by column. */
interface Seen {
  readonly 'in the body': {
    readonly answer: 'of its plan' | 'its result';
    /** What the log had of it when it was called there. */
    readonly called: string | undefined;
    readonly reserved: boolean;
    /** What became of another call of it. */
    readonly second: string;
  };
  readonly 'with the commit': {
    /** What the log had of it when it was called for the commit. */
    readonly called: string | undefined;
    readonly by: 'counselor' | 'rules';
    /** What was called for the commit before it, where all classes are in one transaction. */
    readonly after: readonly string[];
    readonly phase: string;
    readonly reserved: boolean;
  };
  readonly 'where it comes to nothing': {
    readonly done: number;
    readonly undone: number;
    readonly booked: number;
    readonly residue: boolean;
    /** Where it can't be undone: how often that was tried, and how it is left. */
    readonly tries: number;
    readonly left: readonly string[];
  };
}

const planned = { answer: 'of its plan', called: undefined, reserved: false, second: 'done' } as const;
const acts = { answer: 'its result', called: 'intended', reserved: false, second: 'done' } as const;
const due = { called: 'due', by: 'rules', phase: 'applied', reserved: false } as const;
const nothing = { done: 0, undone: 0, booked: 0, residue: false, tries: 0, left: [] } as const;
const undone = { done: 1, undone: 1, booked: 0, residue: false, tries: 3, left: ['unresolved'] } as const;
const HELD = ['reversible.buffered', 'with_cost.buffered', 'irreversible.buffered'];

/** What the words of the page mean. */
const MEANS: { readonly [Column in keyof Seen]: Readonly<Record<string, Seen[Column]>> } = {
  'in the body': {
    'planned; the caller is answered by `plan`': planned,
    planned,
    'intent durable, then called; the caller gets the result': acts,
    'as reversible; the intent also reserves what undoing costs': { ...acts, reserved: true },
    'planned: the *pivot*, of which there is one': { ...planned, second: 'second_pivot' },
  },
  'with the commit': {
    'due, called first': { ...due, after: [] },
    'due, after what is reversible': { ...due, after: HELD.slice(0, 1) },
    'due, after all that can be undone': { ...due, after: HELD.slice(0, 2) },
    "due, last of all; a counselor's commit": { ...due, by: 'counselor', after: HELD },
    'applied, nothing to do': { ...due, called: undefined, after: [] },
    'applied, and what was reserved is free': { ...due, called: undefined, after: [] },
  },
  'where it comes to nothing': {
    'nothing was done': nothing,
    '`compensate`, up to three `tries`, then `unresolved`': undone,
    'as reversible; what it costs is booked, the residue is kept': { ...undone, booked: 4, residue: true },
  },
};

/** An attended tally, where paying takes most of the budget. */
const paying = defineDomain<any, any>({
  ...(attended.declared as any),
  name: 'paying',
  actions: {
    ...(attended.declared as any).actions,
    pay: { ...(attended.declared as any).actions.count, cost: () => ({ usd: 7 }) },
  },
});
const writ = writFor('alice', { trajectory: 't', budget: { usd: 10 } });
const doctor = { principal: 'doc', method: 'test' };

class World {
  readonly store = new MemoryStore();
  readonly sink: OutsideSink;
  /** Of a tool that was called: what the log had of it then, by the phase of its transaction. */
  readonly called = new Map<string, { readonly at: string; readonly of: string }>();
  refuses = false;
  tries = 0;
  readonly assize;
  #trajectory: Trajectory | undefined;

  constructor(sort: Sink) {
    this.sink = new OutsideSink(sort);
    this.assize = runtimeOver(this.store, [paying], { tools: ROWS.map((row) => this.#toolOf(row)) });
  }

  /** Undoing costs 4 and leaves a fee, of what says so. */
  #toolOf({ reversibility, delivery }: Row): Tool {
    const fault = (of: string) => {
      if (of === 'undo') this.tries++;
      return of === 'undo' && this.refuses ? 'fail' : 'none';
    };
    const outside = { sink: this.sink, steps: new Steps(), fault, undoCost: { usd: 4 } } as const;
    const { spec } = toolFor(outside, reversibility, delivery);
    return declareTool({
      ...spec,
      plan: () => 'planned',
      execute: async (input, call, plans) => {
        const logged = await this.store.effectsOf(call.epoch!);
        const known = logged && readTransaction(logged);
        const n = known?.effects.findIndex(({ key }) => key === call.key) ?? -1;
        this.called.set(spec.name, { at: known?.state.effects[n]?.phase ?? 'nothing', of: known!.state.phase });
        return spec.execute(input, call, plans);
      },
      ...(reversibility === 'with_cost' && {
        compensate: async (...given) => {
          await spec.compensate!(...given);
          return { undone: 'partly' as const, residue: { fee: 1 } };
        },
      }),
    });
  }

  async transact(body: (tx: Transaction) => Promise<unknown>) {
    const trajectory = await this.trajectory();
    return trajectory.transaction({ writ, writes: ['test:**'], retries: 0 }, async (tx) => {
      await body(tx);
      tx.propose({ action: 'count', role: 'counter', args: 'order' });
    });
  }

  async trajectory(): Promise<Trajectory> {
    this.#trajectory ??= await this.assize.create(paying, { trajectoryId: 't', writs: [writ] });
    return this.#trajectory;
  }

  /** Whether 7 of 10 are not there, as 4 are kept. */
  async isReserved(): Promise<boolean> {
    const trajectory = await this.trajectory();
    const { ruling } = await trajectory.propose({ action: 'pay', role: 'counter', args: 'pay', writ });
    return ruling === 'rejected';
  }

  /** What the commit had called of it, in which the log has it as due; of a blind sink, or for good, as said to be called. */
  calledFor(name: string, phase: string): string | undefined {
    const called = this.called.get(name);
    return called?.of === phase ? called.at.replace('applying', 'due') : undefined;
  }
}

async function committed(world: World, body: (tx: Transaction) => Promise<unknown>) {
  const { ruling: first } = await world.transact(body);
  let ruling: Ruling = first;
  const by = ruling.ruling === 'escalated' ? 'counselor' : 'rules';
  if (ruling.ruling === 'escalated') ruling = await (await world.trajectory()).approve(ruling.pending, doctor);
  expect(ruling.ruling).toBe('committed');
  return by;
}

const codeOf = (made: Promise<unknown>): Promise<string> =>
  made.then(
    () => 'done',
    (error: { code: string }) => error.code,
  );

async function inTheBody(name: string, sort: Sink): Promise<Seen['in the body']> {
  const world = new World(sort);
  let seen: Seen['in the body'] | undefined;
  await world.transact(async (tx) => {
    const answer = await tx.call(name, { what: 'it' });
    const called = world.calledFor(name, 'open');
    const reserved = await world.isReserved();
    const second = await codeOf(tx.call(name, { what: 'another' }));
    seen = { answer: answer === 'planned' ? 'of its plan' : 'its result', called, reserved, second };
    if (called === undefined) expect(world.sink.log).toEqual([]);
    else expect(world.sink.times('do', 'it')).toBe(1);
  });
  return seen!;
}

async function withTheCommit(name: string, sort: Sink): Promise<Seen['with the commit']> {
  const world = new World(sort);
  const by = await committed(world, (tx) => tx.call(name, { what: 'it' }));
  const called = world.calledFor(name, 'committed');
  expect(await world.assize.recoverEffects()).toEqual([]);
  const [logged] = await world.assize.effects({ epoch: by === 'rules' ? 1 : 2 });
  const { phase } = logged!.effects[0]!;
  const reserved = await world.isReserved();
  expect(world.sink.times('do', 'it')).toBe(1);
  return { called, by, after: called === undefined ? [] : await before(name, sort), phase, reserved };
}

/** What is called for the commit before it, in a transaction of all that is held, called from the last row of the page to the first. */
async function before(name: string, sort: Sink): Promise<string[]> {
  const world = new World(sort);
  const names = ROWS.map(nameOf).filter((each) => each !== PIVOT || name === PIVOT);
  const held = names.filter((each) => each === PIVOT || each.endsWith('.buffered'));
  await committed(world, async (tx) => {
    for (const each of held.toReversed()) await tx.call(each, { what: each });
  });
  const order = world.sink.log.map(({ what }) => what);
  expect(order.toSorted()).toEqual(held.toSorted());
  return order.slice(0, order.indexOf(name));
}

async function whereItComesToNothing(name: string, sort: Sink): Promise<Seen['where it comes to nothing']> {
  const inVain = async (world: World): Promise<void> => {
    const thrown = world.transact(async (tx) => {
      await tx.call(name, { what: 'it' });
      throw new Error('it is not to be');
    });
    await expect(thrown).rejects.toThrow('it is not to be');
  };
  const world = new World(sort);
  await inVain(world);
  const logged = await world.assize.effects({ epoch: 1 }).catch(() => []);
  expect(await world.assize.recoverEffects()).toEqual([]);
  const listed = await listWrits(world.store, 't');
  const budget = listed.find(({ id }) => id === writId(writ))!.left['usd'] as number;
  const poor = new World(sort);
  poor.refuses = true;
  await inVain(poor);
  const left = (await poor.assize.recoverEffects()).map(({ phase }) => phase);
  return {
    done: world.sink.times('do', 'it'),
    undone: world.sink.times('undo', 'it'),
    booked: 10 - budget,
    residue: logged[0]?.effects[0]?.residue !== undefined,
    tries: poor.tries,
    left,
  };
}

const SEEN = {
  'in the body': inTheBody,
  'with the commit': withTheCommit,
  'where it comes to nothing': whereItComesToNothing,
} as const;

test('the page has each of the six, once', () => {
  const six = ['reversible', 'with_cost', 'irreversible'].flatMap((reversibility) =>
    ['buffered', 'externalised'].map((delivery) => `${reversibility}.${delivery}`),
  );
  expect(ROWS.map(nameOf)).toEqual(six);
});

describe.each(ROWS.map((row) => [nameOf(row), row] as const))('%s', (name, { says }) => {
  test.each(COLUMNS.flatMap((column) => SINKS.map((sort) => [column, sort] as const)))(
    '%s, with a %s sink',
    async (column, sort) => {
      const meant = MEANS[column][says[column]];
      if (meant === undefined) throw new Error(`the page says ${says[column]}, and nothing looks whether that is so`);
      expect(await SEEN[column](name, sort)).toEqual(meant);
    },
  );
});
