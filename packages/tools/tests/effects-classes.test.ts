/**
 * The table of classes in docs/design/effects.md. Each cell is compared with the sink, the log and
 * the budget of a run.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MemoryStore } from '@assize/testing/memory';
import { writId } from 'assize/internal/authority';
import {
  type Delivery,
  declareTool,
  type Reversibility,
  readTransaction,
  type Sink,
  type Tool,
} from 'assize/internal/effects';
import { defineDomain } from 'assize/internal/kernel';
import { listWrits, type Ruling, type Trajectory, type Transaction } from 'assize/internal/runtime';
import { describe, expect, test } from 'vitest';
import { runtimeOver, writFor } from '../../../tests/support/ledger/runtime.ts';
import { OutsideSink, Steps, toolFor } from '../../../tests/support/tools/effect-sink.ts';
import { attended } from '../../../tests/support/tools/ledger-with-effects.ts';

const page = readFileSync(join(import.meta.dirname, '../../../docs/design/effects.md'), 'utf8');
const SINKS: readonly Sink[] = ['keyed', 'queryable', 'blind'];
const COLUMNS = ['in the body', 'after the commit', 'after an abort'] as const;

interface Row {
  readonly reversibility: Reversibility;
  readonly delivery: Delivery;
  readonly cells: Readonly<Record<(typeof COLUMNS)[number], string>>;
}

function rowsOfPage(): Row[] {
  const split = (line: string): string[] =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim());
  const lines = page.slice(page.indexOf('## By class')).split('\n');
  const at = lines.findIndex((line) => line.startsWith('| reversibility |'));
  expect(split(lines[at]!).slice(2)).toEqual(COLUMNS);
  const end = lines.findIndex((line, i) => i > at && !line.startsWith('|'));
  return lines.slice(at + 2, end).map((line) => {
    const [reversibility, delivery, ...rest] = split(line).map((cell, i) =>
      i < 2 ? cell.replaceAll('`', '') : cell,
    );
    return {
      reversibility,
      delivery,
      cells: Object.fromEntries(rest.map((cell, i) => [COLUMNS[i], cell])),
    } as never;
  });
}

const ROWS = rowsOfPage();
const nameOf = ({ reversibility, delivery }: Pick<Row, 'reversibility' | 'delivery'>): string =>
  `${reversibility}.${delivery}`;
const PIVOT = 'irreversible.externalised';

/** The observed behaviour of a tool, by column. */
interface Seen {
  readonly 'in the body': {
    readonly answer: 'plan' | 'result';
    /** The phase in the log at the time of the call. */
    readonly called: string | undefined;
    readonly reserved: boolean;
    /** The outcome of a second call. */
    readonly second: string;
  };
  readonly 'after the commit': {
    /** The phase in the log at the time of the call after the commit. */
    readonly called: string | undefined;
    readonly by: 'counselor' | 'rules';
    /** The tools that ran before it, in a transaction with all classes. */
    readonly after: readonly string[];
    readonly phase: string;
    readonly reserved: boolean;
  };
  readonly 'after an abort': {
    readonly done: number;
    readonly undone: number;
    readonly charged: number;
    readonly residue: boolean;
    /**
     * If the compensation fails: the number of attempts, and the phases of the unresolved effects.
     */
    readonly attempts: number;
    readonly unresolved: readonly string[];
  };
}

const planned = { answer: 'plan', called: undefined, reserved: false, second: 'done' } as const;
const acts = { answer: 'result', called: 'intended', reserved: false, second: 'done' } as const;
const due = { called: 'due', by: 'rules', phase: 'applied', reserved: false } as const;
const nothing = {
  done: 0,
  undone: 0,
  charged: 0,
  residue: false,
  attempts: 0,
  unresolved: [],
} as const;
const undone = {
  done: 1,
  undone: 1,
  charged: 0,
  residue: false,
  attempts: 3,
  unresolved: ['unresolved'],
} as const;
const BUFFERED = ['reversible.buffered', 'with_cost.buffered', 'irreversible.buffered'];

/** The behaviour that each cell of the page describes. */
const EXPECTED: { readonly [Column in keyof Seen]: Readonly<Record<string, Seen[Column]>> } = {
  'in the body': {
    'planned; `plan` answers the body': planned,
    planned,
    'durable intent, then the call; the body gets the result': acts,
    'as reversible; the intent also reserves the cost of the compensation': {
      ...acts,
      reserved: true,
    },
    'planned: the *pivot*, one per transaction': { ...planned, second: 'second_pivot' },
  },
  'after the commit': {
    'due, runs first': { ...due, after: [] },
    'due, after reversible effects': { ...due, after: BUFFERED.slice(0, 1) },
    'due, after all that can be compensated': { ...due, after: BUFFERED.slice(0, 2) },
    'due, last of all; a counselor commits': { ...due, by: 'counselor', after: BUFFERED },
    'applied, nothing to do': { ...due, called: undefined, after: [] },
    'applied, and the reservation is released': { ...due, called: undefined, after: [] },
  },
  'after an abort': {
    'nothing to revert': nothing,
    '`compensate`, at most three `maxAttempts`, then `unresolved`': undone,
    'as reversible; the cost is charged, the residue is stored': {
      ...undone,
      charged: 4,
      residue: true,
    },
  },
};

/** An attended tally. The action `pay` takes most of the budget. */
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

class Stage {
  readonly store = new MemoryStore();
  readonly sink: OutsideSink;
  /** For each called tool: the phase of its effect and of its transaction at that time. */
  readonly called = new Map<string, { readonly effect: string; readonly transaction: string }>();
  /** Whether each compensation fails. */
  refuses = false;
  attempts = 0;
  readonly assize;
  #trajectory: Trajectory | undefined;

  constructor(sort: Sink) {
    this.sink = new OutsideSink(sort);
    this.assize = runtimeOver(this.store, [paying], {
      tools: ROWS.map((row) => this.#toolOf(row)),
    });
  }

  /** The compensation costs 4. For `with_cost` the compensation leaves a fee. */
  #toolOf({ reversibility, delivery }: Row): Tool {
    const fault = (of: string) => {
      if (of === 'undo') this.attempts++;
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
        this.called.set(spec.name, {
          effect: known?.state.effects[n]?.phase ?? 'missing',
          transaction: known!.state.phase,
        });
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

  /** Whether a payment of 7 from a budget of 10 is rejected, because 4 are reserved. */
  async isReserved(): Promise<boolean> {
    const trajectory = await this.trajectory();
    const { ruling } = await trajectory.propose({
      action: 'pay',
      role: 'counter',
      args: 'pay',
      writ,
    });
    return ruling === 'rejected';
  }

  /**
   * The phase of the effect when the tool ran in that phase of the transaction. `applying` counts
   * as `due`.
   */
  calledFor(name: string, phase: string): string | undefined {
    const called = this.called.get(name);
    return called?.transaction === phase ? called.effect.replace('applying', 'due') : undefined;
  }
}

async function committed(stage: Stage, body: (tx: Transaction) => Promise<unknown>) {
  const { ruling: first } = await stage.transact(body);
  let ruling: Ruling = first;
  const by = ruling.ruling === 'escalated' ? 'counselor' : 'rules';
  if (ruling.ruling === 'escalated')
    ruling = await (await stage.trajectory()).approvals.approve(ruling.pending, doctor);
  expect(ruling.ruling).toBe('committed');
  return by;
}

const codeOf = (made: Promise<unknown>): Promise<string> =>
  made.then(
    () => 'done',
    (error: { reason: string }) => error.reason,
  );

async function inTheBody(name: string, sort: Sink): Promise<Seen['in the body']> {
  const stage = new Stage(sort);
  let seen: Seen['in the body'] | undefined;
  await stage.transact(async (tx) => {
    const answer = await tx.call(name, { what: 'it' });
    const called = stage.calledFor(name, 'open');
    const reserved = await stage.isReserved();
    const second = await codeOf(tx.call(name, { what: 'another' }));
    seen = { answer: answer === 'planned' ? 'plan' : 'result', called, reserved, second };
    if (called === undefined) expect(stage.sink.log).toEqual([]);
    else expect(stage.sink.times('do', 'it')).toBe(1);
  });
  return seen!;
}

async function afterTheCommit(name: string, sort: Sink): Promise<Seen['after the commit']> {
  const stage = new Stage(sort);
  const by = await committed(stage, (tx) => tx.call(name, { what: 'it' }));
  const called = stage.calledFor(name, 'committed');
  expect(await stage.assize.recoverEffects()).toEqual([]);
  const [logged] = await stage.assize.effects({ epoch: by === 'rules' ? 1 : 2 });
  const { phase } = logged!.effects[0]!;
  const reserved = await stage.isReserved();
  expect(stage.sink.times('do', 'it')).toBe(1);
  return {
    called,
    by,
    after: called === undefined ? [] : await before(name, sort),
    phase,
    reserved,
  };
}

/**
 * The tools that run before it, in a transaction that calls the buffered tools from the last row to
 * the first.
 */
async function before(name: string, sort: Sink): Promise<string[]> {
  const stage = new Stage(sort);
  const names = ROWS.map(nameOf).filter((each) => each !== PIVOT || name === PIVOT);
  const held = names.filter((each) => each === PIVOT || each.endsWith('.buffered'));
  await committed(stage, async (tx) => {
    for (const each of held.toReversed()) await tx.call(each, { what: each });
  });
  const order = stage.sink.log.map(({ what }) => what);
  expect(order.toSorted()).toEqual(held.toSorted());
  return order.slice(0, order.indexOf(name));
}

async function afterAnAbort(name: string, sort: Sink): Promise<Seen['after an abort']> {
  const abort = async (stage: Stage): Promise<void> => {
    const thrown = stage.transact(async (tx) => {
      await tx.call(name, { what: 'it' });
      throw new Error('the body fails');
    });
    await expect(thrown).rejects.toThrow('the body fails');
  };
  const stage = new Stage(sort);
  await abort(stage);
  const logged = await stage.assize.effects({ epoch: 1 }).catch(() => []);
  expect(await stage.assize.recoverEffects()).toEqual([]);
  const listed = await listWrits(stage.store, 't');
  const budget = listed.find(({ id }) => id === writId(writ))!.left['usd'] as number;
  const failing = new Stage(sort);
  failing.refuses = true;
  await abort(failing);
  const unresolved = (await failing.assize.recoverEffects()).map(({ phase }) => phase);
  return {
    done: stage.sink.times('do', 'it'),
    undone: stage.sink.times('undo', 'it'),
    charged: 10 - budget,
    residue: logged[0]?.effects[0]?.residue !== undefined,
    attempts: failing.attempts,
    unresolved,
  };
}

const OBSERVED = {
  'in the body': inTheBody,
  'after the commit': afterTheCommit,
  'after an abort': afterAnAbort,
} as const;

test('has a row for each of the six classes', () => {
  const six = ['reversible', 'with_cost', 'irreversible'].flatMap((reversibility) =>
    ['buffered', 'externalised'].map((delivery) => `${reversibility}.${delivery}`),
  );
  expect(ROWS.map(nameOf)).toEqual(six);
});

describe.each(ROWS.map((row) => [nameOf(row), row] as const))('%s', (name, { cells }) => {
  test.each(COLUMNS.flatMap((column) => SINKS.map((sort) => [column, sort] as const)))(
    'behaves as the cell "%s" describes, at a %s sink',
    async (column, sort) => {
      const expected = EXPECTED[column][cells[column]];
      if (expected === undefined)
        throw new Error(`EXPECTED has no entry for "${cells[column]}". Add one.`);
      expect(await OBSERVED[column](name, sort)).toEqual(expected);
    },
  );
});
